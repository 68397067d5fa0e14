/* Units and nominal values of the variables of a robot. */
#include <math.h>

#include "math/vec.h"
#include "sim/variables_row.h"

/* ---- dimensions ------------------------------------------------------------------------------------------------------------ */

static enum dimension velocity_dimension(const struct link_model *lm, int k)
{
    return lm->joint.part[k] == SLIDES ? DISTANCE : ANGLE;
}

/* Velocities of ordinary positions have the same numbers */
static enum dimension position_dimension(const struct model *model, int link, int k)
{
    const int quaternion = joint_quaternion(&model->robot->link[link].joint);
    return quaternion >= 0 && k >= quaternion ? PURE_NUMBER : velocity_dimension(&model->link[link], k);
}

/* An elastic coordinate: a distance, an angle for twist and for the slope coordinate of the Hermite shapes, or a pure number. */
static enum dimension mode_dimension(const struct link *link, int k)
{
    if (link->type != BODY_BEAM) return PURE_NUMBER;
    const enum family family = beam_family(&link->beam, &k);
    const enum shape shape = link->beam.family[family].shape;
    const bool slope = k == 1 && family <= FAMILY_Z && (shape == SHAPE_HERMITE || shape == SHAPE_CRAIG_BAMPTON);
    return family == FAMILY_TWIST || slope ? ANGLE : DISTANCE;
}

enum dimension variable_dimension(const struct model *model, const struct table_row *row, int owner, int k)
{
    switch (row->count) {
    case POSITIONS: return position_dimension(model, owner, k);
    case VELOCITIES:
    case NUMBERS: return velocity_dimension(&model->link[owner], k);
    case MODES: return mode_dimension(&model->robot->link[owner], k);
    case BY_GAP: return coupling_is_angle(model, owner) ? ANGLE : DISTANCE;
    case EQUATIONS: return k < 3 ? DISTANCE : ANGLE; /* equations of distances come before those of angles */
    default: return ANGLE;                           /* the row has one unit */
    }
}

/* ---- nominal values -------------------------------------------------------------------------------------------------------- */

/* The reach of the whole robot: the scale of joint displacements [m] */
static double reach(const struct robot *robot)
{
    double sum = 0;
    for (int i = 0; i < robot->n_links; i++) {
        const struct link *link = &robot->link[i];
        const double *tip = link->rigid_tip.p, *origin = link->joint.origin.p;
        sum += link->type == BODY_BEAM ? link->beam.length : sqrt(dot3(tip, tip));
        sum += sqrt(dot3(origin, origin));
    }
    return sum > 0 ? sum : 1;
}

/* The frequency of an elastic coordinate, estimated by its Rayleigh quotient [rad/s] */
static double mode_frequency(const struct body *body, int k)
{
    const int diagonal = (body->m + 1) * k;
    return sqrt(fmax(body->K[diagonal] / body->Mff0[diagonal], 0));
}

/* A radian, the reach, or 1 of a quaternion; of a velocity the same per second. */
double nominal_position(const struct model *model, int link, int k)
{
    return position_dimension(model, link, k) == DISTANCE ? reach(model->robot) : 1;
}

double nominal_velocity(const struct model *model, int link, int k)
{
    return velocity_dimension(&model->link[link], k) == DISTANCE ? reach(model->robot) : 1;
}

/* One percent of the link's length, or the deflection of a stiffer mode under 10 m/s^2 at its tip, but at least a hundredth of
   that one percent: less would make importers resolve vibrations of no interest. */
double nominal_eta(const struct model *model, int link, int k)
{
    const struct link *l = &model->robot->link[link];
    const double length = l->type == BODY_BEAM ? l->beam.length : 1, w = mode_frequency(model->link[link].body, k);
    const double size = mode_dimension(l, k) == DISTANCE ? length : 1;
    return fmax(fmin(0.01 * size, 10 * size / (length * w * w)), 1e-4 * size);
}

/* By the frequency of the mode, at least 1/s */
double nominal_etad(const struct model *model, int link, int k)
{
    return nominal_eta(model, link, k) * fmax(1, mode_frequency(model->link[link].body, k));
}
