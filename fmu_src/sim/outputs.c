/* All computed values of a robot at a point, and their changes in a direction. */
#include "sim/robot_instance.h"

/* ---- the outputs ------------------------------------------------------------------------------------------------------------ */

void outputs_make(struct sim *sim, struct outputs *outputs)
{
    const struct model *model = sim->mechanism.model;
    struct arena *arena = &sim->instance.arena;
    outputs->model = model;
    outputs->constraint = sim->mechanism.constraints->constraint;
    outputs->position_rate = arena_allocate(arena, (size_t)model->nq, sizeof *outputs->position_rate);
    outputs->link = arena_allocate(arena, (size_t)model->n_links, sizeof *outputs->link);
    outputs->frame = arena_allocate(arena, 1 + (size_t)sim->robot->n_frames, sizeof *outputs->frame);
    outputs->element = arena_allocate(arena, (size_t)sim->mechanism.n_elements, sizeof *outputs->element);
}

static void compute_energy(struct sim *sim, struct outputs *outputs)
{
    const struct model *model = sim->mechanism.model;
    mechanism_energy(&sim->mechanism, &sim->in, &outputs->energy);
    outputs->joint_power = outputs->energy.power; /* prescribed joints are driven too */
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        for (int k = lm->v; lm->prescribed >= 0 && k < lm->v + lm->joint.nv; k++)
            outputs->joint_power += sim->force[k] * sim->at.qd[k];
    }
}

enum status outputs_compute(struct sim *sim)
{
    struct mechanism *m = &sim->mechanism;
    struct outputs *outputs = &sim->outputs;
    const struct variables *v = &sim->instance.variables;
    const enum status status = sim_forward(sim);
    if (status != STATUS_OK) return status;
    const struct input in = mechanism_loaded(m, &sim->in);
    dyn_inverse(m->model, m->work, &in, sim->qdd, sim->force); /* motion and reactions for these accelerations */
    dyn_velocity(m->model, m->work, &in);
    dyn_observe(m->model, m->work, &in, sim->qdd);
    outputs->q = sim->at.q, outputs->qd = sim->at.qd, outputs->qdd = sim->qdd;
    outputs->force = sim->force;
    outputs->lambda = m->constraints->lambda;
    outputs->drive = sim->at.drive;
    outputs->supply_demand = m->drives.demand, outputs->supply_share = m->drives.share;
    model_position_change(m->model, sim->at.q, sim->at.qd, outputs->position_rate);
    for (int i = 0; i < m->model->n_links; i++) {
        struct link_outputs *link = &outputs->link[i];
        dyn_reaction(m->work, i, link->wrench);
        dyn_deflection(m->model, m->work, i, link->deflection, link->rotation);
    }
    outputs_frames(sim);
    if (m->n_elements > 0) elements_measure(m, &in);
    for (int i = 0; i < m->n_elements; i++) element_numbers(&m->element[i], false, outputs->element[i]);
    outputs->line_power = 0;
    for (int i = 0; i < sim->robot->n_lines; i++) {
        const struct force_element *line = &m->element[i];
        outputs->line_power += line->F * line->rate;
    }
    compute_energy(sim, outputs);
    for (int r = 0; r < v->n_values; r++) {
        const enum causality causality = v->by_reference[r]->causality;
        if (causality == CAUSALITY_OUTPUT || causality == CAUSALITY_LOCAL)
            sim->instance.stepper.value[r] = variable_value(v->by_reference[r], outputs);
    }
    return STATUS_OK;
}

/* ---- their changes ---------------------------------------------------------------------------------------------------------- */

void outputs_change(struct sim *sim)
{
    struct mechanism *m = &sim->mechanism;
    struct outputs *changes = &sim->changes;
    changes->q = sim->seed.q, changes->qd = sim->seed.qd, changes->qdd = sim->dqdd;
    changes->force = m->tangent->force;
    changes->lambda = m->constraints->dlambda;
    changes->drive = sim->seed.drive;
    changes->supply_demand = m->drives.ddemand, changes->supply_share = m->drives.dshare;
    for (int i = 0; i < m->model->n_links; i++) {
        struct link_outputs *link = &changes->link[i];
        const struct link_model *lm = &m->model->link[i];
        joint_position_rate_change(&lm->joint, sim->at.q + lm->q, sim->at.qd + lm->v, sim->seed.q + lm->q,
                                   sim->seed.qd + lm->v, changes->position_rate + lm->q);
        dyn_tangent_reaction(m->work, m->tangent, i, link->wrench);
        dyn_tangent_deflection(m->model, m->work, m->tangent, i, link->deflection, link->rotation);
    }
    for (int i = 0; i < m->n_elements; i++) element_numbers(&m->element[i], true, changes->element[i]);
    outputs_change_frames(sim);
}
