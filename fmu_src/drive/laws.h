/* Functions with corners, smoothed, each with its continuous derivative; and contacts. */
#ifndef LAWS_H
#define LAWS_H

#include <math.h>

#define PI 3.14159265358979323846

struct law {
    double value, slope;
};

#define BEND 0.1 /* of saturate(): half the width of its bend, as a fraction of the limit */

/* x up to nine tenths of the limit, then a smooth bend that reaches the limit at eleven tenths and never exceeds it:
     m (a - (a - 1 + w)^2/(4 w)) sign x,  a = |x|/m,  1 - w < a < 1 + w */
static inline struct law saturate(double x, double limit)
{
    const double w = BEND, a = fabs(x) / limit, over = a - 1 + w;
    if (over <= 0) return (struct law){x, 1};
    if (over >= 2 * w) return (struct law){copysign(limit, x), 0};
    return (struct law){copysign(limit * (a - over * over / (4 * w)), x), 1 - over / (2 * w)};
}

/* |x| with its corner smoothed over a width: sqrt(x^2 + w^2) - w, zero at zero and at most |x| */
static inline struct law magnitude(double x, double width)
{
    const double h = sqrt(x * x + width * width);
    return (struct law){h - width, h > 0 ? x / h : 0};
}

/* max(x, 0) with its corner smoothed over a width: (x + sqrt(x^2 + w^2))/2, positive everywhere for w > 0 */
static inline struct law positive_part(double x, double width)
{
    const double h = sqrt(x * x + width * width),
                 y = x > 0 ? 0.5 * (x + h) : 0.5 * width * width / (h - x); /* the same with less rounding error */
    return h > 0 ? (struct law){y, y / h} : (struct law){0, 0.5};
}

/* x minus a play b around zero, with corners smoothed over w = b/20: [x - b/2] - [-x - b/2] with [] = positive_part(., w). Odd,
   increasing, smooth; exactly x for b = 0 */
struct dead_zone {
    double value, slope, curvature;
};

static inline struct dead_zone dead_zone(double x, double play)
{
    const double w = play / 20, up = x - 0.5 * play, down = -x - 0.5 * play;
    const struct law a = positive_part(up, w), b = positive_part(down, w);
    const double h = sqrt(up * up + w * w), g = sqrt(down * down + w * w);
    return (struct dead_zone){a.value - b.value, a.slope + b.slope,
                              play > 0 ? 0.5 * w * w * (1 / (h * h * h) - 1 / (g * g * g)) : 0};
}

/* Its integral from 0. That of positive_part() is (y (y + h) + w^2 asinh(y/w))/4 */
static inline double dead_zone_energy(double x, double play)
{
    const double w = play / 20, at[3] = {x - 0.5 * play, -x - 0.5 * play, -0.5 * play}, factor[3] = {1, 1, -2};
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum +=
            factor[i] * 0.25 * (at[i] * (at[i] + sqrt(at[i] * at[i] + w * w)) + (w > 0 ? w * w * asinh(at[i] / w) : 0));
    return sum;
}

/* The x at which dead_zone() has this value. It is convex where x > 0, so Newton's method descends from y + b/2 to the solution */
static inline double dead_zone_inverse(double y, double play)
{
    double x = fabs(y) + 0.5 * play;
    for (double before = HUGE_VAL; x < before;) {
        const struct dead_zone at = dead_zone(x, play);
        before = x;
        x = fmax(x - (at.value - fabs(y)) / at.slope, 0);
    }
    return copysign(x, y);
}

/* The factor on every flow from a supply with a limit: s = saturate(d, limit)/d, d the sum of the flows demanded from it. s = 1 up to
   nine tenths of the limit and limit/d from eleven tenths on; s d never exceeds the limit */
static inline struct law supply_share(double demand, double limit)
{
    if (demand <= 0) return (struct law){1, 0};
    const struct law flow = saturate(demand, limit);
    const double share = flow.value / demand;
    return (struct law){share, (flow.slope - share) / demand};
}

/* sign(x) sqrt|x|, its derivative at zero limited to 1/sqrt(w): x/(x^2 + w^2)^(1/4) */
static inline struct law signed_root(double x, double width)
{
    const double square = x * x + width * width, root = sqrt(sqrt(square));
    return (struct law){x / root, (0.5 * x * x + width * width) / (square * root)};
}

/* tanh(x/w) */
static inline struct law smooth_sign(double x, double width)
{
    const double t = tanh(x / width);
    return (struct law){t, (1 - t * t) / width};
}

/* 0 below 0, 1 above 1, x^2 (3 - 2 x) between */
static inline struct law ramp(double x)
{
    const double y = fmin(fmax(x, 0), 1);
    return (struct law){y * y * (3 - 2 * y), 6 * y * (1 - y)};
}

/* A force that resists a penetration p > 0 and never pulls: k p max(0, 1 + d dp/dt) (Hunt and Crossley). Continuous at p = 0. */
struct contact {
    double p, touching;        /* max(p, 0); its derivative: 1 or 0 */
    double force, by_p, by_pd; /* and derivatives by p and dp/dt */
};

static inline struct contact contact(double p, double pd, double k, double d)
{
    const double touching = p > 0, inside = fmax(p, 0), approach = fmax(1 + d * pd, 0);
    return (struct contact){.p = inside,
                            .touching = touching,
                            .force = k * inside * approach,
                            .by_p = touching * k * approach,
                            .by_pd = approach > 0 ? k * inside * d : 0};
}

#endif
