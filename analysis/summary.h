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
   reported, and as warnings implausible numbers and too few modes, each with the robot's `name`
   in front. STATUS_BAD_ROBOT, STATUS_BAD_INPUT. summary_free() in any case. */
enum status summary_make(const char *name, const struct robot *robot, struct report *report, struct summary *summary);
void summary_free(struct summary *summary);

/* ---- its checks -------------------------------------------------------------------------------------------------- */

/* Whether numbers are plausible (plausibility.c): valid ones that are probably an error, as a wrong unit, degrees, a factor of a thousand.
   Reports each of them as a warning with its path, its value and the usual values: moduli, densities, start positions and limits of
   joints, frequencies and lengths of links, static deflections, gravity. Changes nothing but the work of the summary's mechanism.
   STATUS_NO_MEMORY. */
enum status plausibility_check(const struct robot *robot, const struct summary *summary, struct report *report);

/* Whether there are enough mode shapes (convergence.c). Compares the first frequency with joints locked, at the start, with that of the same robot with every `count` of modes doubled,
   and reports a change of more than 1 % as a warning. Counts above 25, families whose count is fixed by the shape and nodal bodies
   stay as they are. A robot with more than 150 coordinates is skipped, which is reported too. STATUS_NO_MEMORY. */
enum status convergence_check(const struct robot *robot, const struct summary *summary, struct report *report);

#endif
