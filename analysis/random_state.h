/* Seeded random states for measurements: any joint positions, modes small relative to their link. */
#ifndef ANALYSIS_RANDOM_STATE_H
#define ANALYSIS_RANDOM_STATE_H

#include <stdint.h>

#include "dyn/model.h"

/* uniform in [-1, 1), xorshift64* */
static inline double random_unit(uint64_t *seed)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return (double)((*seed * 2685821657736338717ULL) >> 11) * 0x1p-52 - 1;
}

static inline void random_state(const struct model *model, uint64_t *seed, double *q, double *qd, double *tau)
{
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        double dx[MOST_VELOCITIES];
        for (int k = 0; k < lm->joint.nv; k++) {
            dx[k] = (lm->joint.part[k] == TURNS ? 3.0 : 0.5) * random_unit(seed);
            qd[lm->v + k] = random_unit(seed);
            tau[lm->tau + k] = lm->passive || lm->prescribed >= 0 ? 0 : 10 * random_unit(seed);
        }
        joint_rest_position(&model->robot->link[i].joint, q + lm->q);
        joint_move(&lm->joint, q + lm->q, dx);
        for (int k = 0; k < lm->m; k++) {
            q[lm->eta_q + k] = 0.01 * random_unit(seed);
            qd[lm->eta_v + k] = 0.1 * random_unit(seed);
        }
    }
}

#endif
