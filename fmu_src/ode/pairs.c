#include "ode/pairs.h"

#include <math.h>

/* The step size of the pair that is not in use grows slowly, so that the pair is tried again */
static const double GROWTH = 1.1, MOST_GROWTH = 100;

/* The low order is tried after so many communication steps in a row that the step size of the high order exceeds by this factor */
static const double CUT_SHORT = 2;
enum { TIMES_CUT = 3 };

bool pairs_low(const struct one_step *s)
{
    return s->now->low != 0;
}

void pairs_accept(struct one_step *s)
{
    s->now->other_h = fmin(GROWTH * s->now->other_h, MOST_GROWTH * s->now->h);
}

void pairs_continue(struct one_step *s, const struct one_step *from)
{
    s->now->low = from->now->low;
    s->now->other_h = s->now->low != 0 ? s->now->h : 0;
    s->now->end = from->now->end;
    s->now->times_cut = from->now->times_cut;
    s->now->jumps = from->now->jumps;
}

/* Steps of at most h over a time, up to 5 % longer if that saves a step */
static double count_steps(double h, double time)
{
    return fmax(1, ceil(time / h - 0.05));
}

/* The low order is used while the last communication steps begin with jumps of the inputs and are shorter than the step size allows.
   Its accelerations are inaccurate, but at jumps they are discontinuous anyway. */
double pairs_plan(struct one_step *s, double h, double remains)
{
    const struct pair *present = &s->method->pair[pairs_low(s)], *other = &s->method->pair[!pairs_low(s)];
    const double end = s->t + remains;
    double other_h = fmin(s->now->other_h, s->longest);
    if (end != s->now->end) {
        s->now->jumps = s->now->jumped != 0 ? s->now->jumps + 1 : 0;
        s->now->times_cut = h > CUT_SHORT * remains ? s->now->times_cut + 1 : 0;
        s->now->jumped = 0;
        s->now->end = end;
    }
    const bool cut_short = s->now->jumps >= TIMES_CUT && s->now->times_cut >= TIMES_CUT;
    const bool smooth = pairs_low(s) && s->now->jumps == 0;
    if (other_h == 0 && cut_short) other_h = remains;
    const bool cheaper = count_steps(other_h, remains) * other->work < count_steps(h, remains) * present->work;
    if (s->base.fixed_step == 0 && other_h > 0 && (smooth || (cheaper && (cut_short || pairs_low(s))))) {
        s->now->low = s->now->low == 0;
        s->now->other_h = s->now->h;
        s->now->h = other_h;
        h = other_h;
        s->now->last_error = 0;
    }
    return remains / count_steps(h, remains);
}
