/* Properties of a robot: coordinates, masses, frequencies of its links, its loops at the start, and doubtful numbers. */
#ifndef ANALYSIS_SUMMARY_H
#define ANALYSIS_SUMMARY_H

#include "analysis/state.h"
#include "mech/mechanism.h"

struct link_summary {
    double mass;       /* with hub and payload; may overflow                       [kg] */
    int n_coordinates; /* of joint and modes                                            */
    int n_frequencies; /* -1: the modal mass matrix is not positive definite            */
    double *frequency; /* n_frequencies, ascending: of the body alone, clamped     [Hz] */
};

struct summary {
    int n;       /* coordinates                                                         */
    double mass; /*                                                                [kg] */
    struct link_summary *link;
    struct mechanism mechanism; /* independent equations of loops are chosen            */
    int *independent;           /* n_loops: how many equations of each loop             */
    struct state start;         /* with closed loops                                    */
    struct arena arena;
};

/* For a robot that outlives it. Mode shapes that are not independent, loops that cannot be closed and redundant equations are
   reported, and as warnings implausible numbers (plausibility.h) and too few modes (convergence.h), each with the robot's `name`
   in front. STATUS_BAD_ROBOT, STATUS_BAD_INPUT. summary_free() in any case. */
enum status summary_make(const char *name, const struct robot *robot, struct report *report, struct summary *summary);
void summary_free(struct summary *summary);

#endif
