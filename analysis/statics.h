/* The static equilibrium of a robot: displacements, holding forces, deflections of its links, and stability. */
#ifndef ANALYSIS_STATICS_H
#define ANALYSIS_STATICS_H

#include "analysis/operating_point.h"
#include "mech/statics.h"

struct static_answer {
    const struct statics *found; /* of the instance                                                             */
    struct stability stability;
    double *coupling_force, *coupling_gap; /* n_couplings                                                       */
    double *moved; /* nv: from the start with closed loops to the equilibrium                                   */
    struct frame_motion tip;
    double (*deflection)[6]; /* n_links: displacement of the tip and its rotation, hinge axes                   */
};

/* "stable", "unstable", or "indifferent" if the potential is flat in some direction and has no maximum in any. */
const char *static_stability_text(const struct stability *stability);

/* Moves the point to the static equilibrium. The answer has memory of the point. Problems are reported. */
enum status static_answer_make(struct operating_point *point, bool given, struct report *report,
                               struct static_answer *answer);

#endif
