#include "analysis/evaluation.h"

#include <string.h>

#include "analysis/failure.h"

/* Gaps of the constraints, lengths of the lines, forces of the couplings, every frame of the robot. After dyn_velocity() */
static void measure(struct mechanism *m, const struct state *state, struct evaluation *e)
{
    const struct constraints *loops = m->constraints;
    const size_t bytes = (size_t)e->n_rows * sizeof(double);
    if (e->n_rows > 0) {
        constraints_gap(m, &state->input);
        memcpy(e->gap, loops->gap, bytes);
        memcpy(e->gap_rate, loops->rate, bytes);
        memcpy(e->lambda, loops->lambda, bytes);
    }
    if (m->n_elements > 0) elements_measure(m, &state->input);
    mechanism_couplings(m, loops->lambda, e->coupling_force, e->coupling_gap);
    for (int i = 0; i < m->robot->n_lines; i++) {
        e->line_length[i] = m->element[i].x;
        e->line_rate[i] = m->element[i].rate;
    }
    for (int i = 0; i < m->robot->n_frames; i++) {
        struct frame_evaluation *f = &e->frame[i];
        dyn_frame(m->model, m->work, &m->model->frame[i], &f->motion);
        double strain[STRAINS];
        model_strain(m->model, i, state->at.q + m->model->link[m->robot->frame[i].site.link].eta_q, strain);
        memcpy(f->curvature, strain, sizeof f->curvature);
        f->elongation = strain[3];
    }
}

/* Everything that follows from qdd */
static void describe(struct mechanism *m, const struct state *state, double *force, struct evaluation *e)
{
    const struct model *model = m->model;
    struct input alone = {.q = state->at.q, .qd = state->at.qd};
    const struct input in = mechanism_loaded(m, &state->input);
    dyn_mass_matrix(model, m->work);
    memcpy(e->M, m->work->M, (size_t)e->n * (size_t)e->n * sizeof(double));
    mechanism_add_laws(m, &alone);
    dyn_inverse(model, m->work, &alone, NULL, e->bias);

    dyn_inverse(model, m->work, &in, e->qdd, force);
    dyn_velocity(model, m->work, &in);
    dyn_observe(model, m->work, &in, e->qdd);
    mechanism_energy(m, &in, &e->energy);
    dyn_tip(model, m->work, model->tip, &e->tip);
    for (int i = 0; i < model->n_links; i++)
        for (int k = free_velocities(&model->link[i]); k < model->link[i].joint.nv; k++)
            e->prescribed_tau[model->link[i].prescribed + k] = force[model->link[i].v + k];
    measure(m, state, e);
    if (e->inverse == NULL) return;

    /* M qdd + h minus the parts of the wrenches and of the lines, for the qdd of the state. Forward dynamics has checked that
       the lines have a direction. */
    struct input loaded;
    mechanism_load_elements(m, &state->input, &loaded);
    dyn_inverse(model, m->work, &loaded, state->qdd, e->inverse);
}

enum status evaluation_drives(struct mechanism *m, struct state *state, struct report *report)
{
    struct input in = state->input;
    if (m->robot->n_drives == 0) return STATUS_OK;
    in.drive = state->at.drive;
    drives_take_parameters(m->robot, in.drive);
    enum status status = drives_start(m, &in, report);
    state_set_drives(state);
    if (status == STATUS_OK) status = mechanism_efforts(m, &in);
    if (status == STATUS_OK) drives_copy_efforts(m, in.drive, state->at.tau, state->at.line_force);
    return status == STATUS_BAD_DRIVE ? status : failure_report(report, m, status);
}

enum status evaluation_at(struct mechanism *m, const struct state *state, bool composite, struct report *report,
                          struct evaluation *e)
{
    *e = (struct evaluation){
        .n = m->model->nv, .n_prescribed = m->model->n_prescribed, .n_rows = m->constraints->n_rows};
    const size_t n = (size_t)e->n;
    double *force;
    arena_arrays(&e->arena, n, ARRAYS(&force, &e->qdd, &e->bias));
    arena_arrays(&e->arena, n * n, ARRAYS(&e->M));
    if (state->qdd != NULL) arena_arrays(&e->arena, n, ARRAYS(&e->inverse));
    arena_arrays(&e->arena, (size_t)e->n_prescribed, ARRAYS(&e->prescribed_tau));
    arena_arrays(&e->arena, (size_t)e->n_rows, ARRAYS(&e->gap, &e->gap_rate, &e->lambda));
    arena_arrays(&e->arena, (size_t)m->robot->n_lines, ARRAYS(&e->line_length, &e->line_rate));
    arena_arrays(&e->arena, (size_t)m->robot->n_couplings, ARRAYS(&e->coupling_force, &e->coupling_gap));
    e->frame = arena_allocate(&e->arena, (size_t)m->robot->n_frames, sizeof *e->frame);
    if (e->arena.failed) return failure_status(report, STATUS_NO_MEMORY);
    enum status status = constraints_choose(m, state->at.q, report);
    if (status == STATUS_OK)
        status = composite ? mechanism_forward_composite(m, &state->input, e->qdd)
                           : mechanism_forward(m, &state->input, e->qdd);
    if (status == STATUS_OK) describe(m, state, force, e);
    return failure_report(report, m, status);
}
