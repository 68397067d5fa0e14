/* Velocities and accelerations of tips and frames are the derivatives of their poses along the flow. */
#include "math/vec.h"
#include "oracle/derivative.h"
#include "oracle/laws.h"
#include "oracle/scatter.h"
#include "test.h"

enum { ROBOTS = 150 };

/* (p, R, v, omega) of an anchor */
static void pose_and_velocity(struct specimen *s, void *context, double *y)
{
    struct frame_motion motion;
    specimen_evaluate(s, s->qdd);
    dyn_frame(s->model, s->work, context, &motion);
    copy3(motion.p, y);
    copy9(motion.R, y + 3);
    copy3(motion.v, y + 12);
    copy3(motion.omega, y + 15);
}

/* p' = v,  R' = [omega]x R,  v' = a,  omega' = alpha */
static double frame_error(struct specimen *s, struct anchor anchor)
{
    struct frame_motion motion;
    double rate[18], spin[9], turned[9];
    specimen_evaluate(s, s->qdd);
    dyn_frame(s->model, s->work, &anchor, &motion);
    flow_derivative(s, s->qdd, flow_step(s->nv, s->qdd), pose_and_velocity, &anchor, 18, rate, NULL);
    skew3(motion.omega, spin);
    matmul3(spin, motion.R, turned);
    const double speed = 1 + norm(3, motion.v) + norm(3, motion.omega);
    const double size = speed * speed + norm(3, motion.a) + norm(3, motion.alpha);
    const double apart[] = {distance(3, rate, motion.v), distance(9, rate + 3, turned),
                            distance(3, rate + 12, motion.a), distance(3, rate + 15, motion.alpha)};
    return norm(4, apart) / size;
}

/* Tips; loads and sensors, on links whose parents carry them anywhere, at hinges, stations and nodes */
static double worst_frame(struct specimen *s)
{
    double worst = 0;
    for (int i = 0; i < s->model->n_links; i++) worst = larger(worst, frame_error(s, model_tip(s->model, i)));
    for (int i = 0; i < s->n_frames; i++) worst = larger(worst, frame_error(s, s->model->frame[i]));
    return worst;
}

/* Eighth-order differences leave 1e-12 or so */
TEST(frames_move_as_their_poses_do)
{
    CHECK(law_holds(test_sample(ROBOTS), specimen_mixed, worst_frame, 1e-11));
}

SUITE(dyn_frames_test)
