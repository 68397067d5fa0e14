/* Seeded random states for measurements: joints anywhere, modes small against their link. */
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
        if (lm->q >= 0) {
            q[lm->q] = (joint_turns(&model->robot->link[i].joint) ? 3.0 : 0.5) * random_unit(seed);
            qd[lm->q] = random_unit(seed);
            tau[lm->tau] = lm->passive || lm->prescribed >= 0 ? 0 : 10 * random_unit(seed);
        }
        for (int k = 0; k < lm->m; k++) {
            q[lm->eta + k] = 0.01 * random_unit(seed);
            qd[lm->eta + k] = 0.1 * random_unit(seed);
        }
    }
}

#endif
