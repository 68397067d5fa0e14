/* The guard against motion beyond the validity of the model: beams and nodal bodies bend linearly, which holds for small deflections
   and rotations. */
#include <math.h>
#include <stdio.h>

#include "flex/section.h"
#include "math/vec.h"
#include "sim/robot_instance.h"

static const double MOST_DEFLECTION = 0.2; /* over the length of a beam */
static const double MOST_ROTATION = 0.5;   /* [rad]                     */

/* Whether it was reported; `when` begins the message, `again` ends it */
static bool guard_link(const struct link *link, const struct body *body, const char *when, const char *again,
                       const double *eta, struct report *report)
{
    double u[3], theta[3];
    body_deflection(body, eta, u, theta);
    const double deflection = sqrt(dot3(u, u)), rotation = sqrt(dot3(theta, theta));
    if (link->type == BODY_BEAM && deflection > MOST_DEFLECTION * link->beam.length) {
        report_add(report, REPORT_WARNING,
                   "%s: link '%s' bends by %.3g m, more than a fifth of its length of %.6g m: the model is valid "
                   "for small deflections only; check forces, torques and stiffness%s",
                   when, link->name, deflection, link->beam.length, again);
        return true;
    }
    if (rotation > MOST_ROTATION) {
        report_add(report, REPORT_WARNING,
                   "%s: the tip of link '%s' turns by %.3g rad against its hinge, more than %g rad: the model is "
                   "valid for small rotations only; check forces, torques and stiffness%s",
                   when, link->name, rotation, MOST_ROTATION, again);
        return true;
    }
    return false;
}

void guard_deflections(void *context, double t, const double *y)
{
    struct sim *sim = context;
    const struct model *model = sim->mechanism.model;
    const double *position = y; /* of the state vector: link by link those of the joint unless prescribed, then eta */
    char when[64];
    snprintf(when, sizeof when, "at t = %.9g s", sim->instance.stepper.start_time + t);
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        const double *eta = position + (lm->prescribed >= 0 ? 0 : lm->joint.nq);
        position = eta + lm->m;
        if (lm->m > 0 && !sim->bent_too_far[i])
            sim->bent_too_far[i] = guard_link(&sim->robot->link[i], lm->body, when,
                                              " (not reported again for this link)", eta, sim->instance.report);
    }
}

void guard_equilibrium(struct sim *sim, struct report *report)
{
    for (int i = 0; i < sim->mechanism.model->n_links; i++) {
        const struct link_model *lm = &sim->mechanism.model->link[i];
        if (lm->m > 0)
            sim->bent_too_far[i] = guard_link(&sim->robot->link[i], lm->body, "in the static equilibrium", "",
                                              sim->statics.q + lm->eta_q, report);
    }
}
