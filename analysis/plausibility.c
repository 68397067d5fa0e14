#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/norm.h"
#include "analysis/summary.h"
#include "drive/drive.h"
#include "flex/body.h"
#include "flex/section.h"
#include "math/dense.h"
#include "math/eigen.h"
#include "math/vec.h"

static const double PI = 3.141592653589793;

/* ---- usual values ---------------------------------------------------------------------------------------------------------------- */

static const double MODULUS[2] = {1e8, 1e12}; /* E                                     [Pa]      */
static const double DENSITY[2] = {100, 3e4};  /* of a material                         [kg/m^3]  */
static const double DENSEST = 3e4;            /* of a rigid body                       [kg/m^3]  */
static const double LARGEST_ANGLE = 4 * 3.141592653589793;
static const double FREQUENCY[2] = {1e-2, 1e5};  /* first one of a link                   [Hz]      */
static const double WIDEST_RANGE = 1e4;          /* highest frequency of a link over its lowest     */
static const double DEFLECTION = 0.1;            /* over the length                                 */
static const double SHORTENED_DEFLECTION = 0.25; /* the same with foreshortening                    */
static const double LONGEST = 1000;              /*                                       [m]       */
static const double GRAVITY[2] = {0.1, 30};      /* where it is not 0                     [m/s^2]   */

static bool outside(double value, const double range[2])
{
    return !(value >= range[0] && value <= range[1]);
}

/* ---- materials and rigid bodies ------------------------------------------------------------------------------------------------- */

/* Density of the solid ellipsoid with mass m and principal inertias I: semi-axes a_k^2 = 5/(2m) (I_1 + I_2 + I_3 - 2 I_k). Negative if
   an inertia is zero, or if an a_k^2 is not positive (up to rounding). */
static double ellipsoid_density(const struct mass_properties *body)
{
    const double *J = body->inertia;
    double A[9] = {J[0], J[3], J[4], J[3], J[1], J[5], J[4], J[5], J[2]}, V[9], I[3], volume = 4 * PI / 3;
    if (!(body->mass > 0)) return -1;
    eigen_symmetric(3, A, V, I);
    const double sum = I[0] + I[1] + I[2], rounding = 1e-9 * sum;
    for (int k = 0; k < 3; k++) {
        const double rest = sum - 2 * I[k];
        if (!(I[k] > rounding && rest > rounding)) return -1;
        volume *= sqrt(2.5 * rest / body->mass);
    }
    return body->mass / volume;
}

static void check_density(int i, const char *part, const struct mass_properties *body, struct report *report)
{
    const double density = ellipsoid_density(body);
    if (!(density > DENSEST)) return;
    report_add(
        report, REPORT_WARNING,
        "links[%d].%s.inertia: with %g kg the solid ellipsoid of these principal inertias has %.3g kg/m^3; usual is at "
        "most %g (steel 7850): the inertias are too small for the mass, or in other units than kg.m^2",
        i, part, body->mass, density, DENSEST);
}

static void check_bodies(int i, const struct link *link, struct report *report)
{
    const struct material *material = &link->beam.material;
    const bool has_material = link->type == BODY_BEAM && link->beam.has_section;
    if (has_material && outside(material->E, MODULUS))
        report_add(report, REPORT_WARNING,
                   "links[%d].beam.material.E = %g: Young's modulus is usually between %g and %g Pa (steel 2.1e11); is "
                   "this in GPa or N/mm^2?",
                   i, material->E, MODULUS[0], MODULUS[1]);
    if (has_material && outside(material->density, DENSITY))
        report_add(
            report, REPORT_WARNING,
            "links[%d].beam.material.density = %g: the density is usually between %g and %g kg/m^3 (steel 7850); "
            "is this in g/cm^3 or kg/mm^3?",
            i, material->density, DENSITY[0], DENSITY[1]);
    if (link->type == BODY_RIGID) check_density(i, "rigid", &link->rigid, report);
    if (link->has_hub) check_density(i, "hub", &link->hub, report);
    if (link->has_payload) check_density(i, "payload", &link->payload, report);
}

/* ---- joints ----------------------------------------------------------------------------------------------------------------------- */

/* links[i].joint.WHAT, with the index k if the joint has several of them, and then the member */
static void check_angle(int i, const char *what, int k, int count, const char *member, double angle,
                        struct report *report)
{
    char index[16] = "";
    if (!isfinite(angle) || fabs(angle) <= LARGEST_ANGLE) return; /* infinite: no limit */
    if (count > 1) snprintf(index, sizeof index, "[%d]", k);
    report_add(report, REPORT_WARNING,
               "links[%d].joint.%s%s%s = %.9g: angles are in rad and usually within 4 pi = %.4g; is this in degrees?",
               i, what, index, member, angle, LARGEST_ANGLE);
}

static void check_joint(int i, const struct joint *joint, struct report *report)
{
    const int positions = joint_positions(joint), numbers = joint_number_count(joint);
    for (int k = 0; k < positions; k++) {
        if (strcmp(joint_position_unit(joint, k), "rad") != 0) continue;
        check_angle(i, "start.position", k, positions, "", joint->start_position[k], report);
        if (k >= numbers || !joint->number[k].has_limits) continue;
        check_angle(i, "limits", k, numbers, ".lower", joint->number[k].limits.lower, report);
        check_angle(i, "limits", k, numbers, ".upper", joint->number[k].limits.upper, report);
    }
}

/* ---- lengths and frequencies ---------------------------------------------------------------------------------------------------- */

static double link_length(const struct link *link)
{
    if (link->type == BODY_RIGID) return euclidean_norm(3, link->rigid_tip.p);
    if (link->type == BODY_BEAM) return link->beam.length;
    const struct node *node = link->nodal.node;
    double r[3];
    for (int a = 0; a < 3; a++)
        r[a] = node[link->nodal.tip_node].position[a] - node[link->nodal.hinge_node].position[a];
    return euclidean_norm(3, r);
}

static void check_link(int i, const struct link *link, const struct link_summary *summary, struct report *report)
{
    const double length = link_length(link);
    if (length > LONGEST)
        report_add(report, REPORT_WARNING,
                   "links[%d] (%s): %.6g m from hinge to tip; usual is at most %g m. Are lengths in mm?", i, link->name,
                   length, LONGEST);
    if (summary->n_frequencies < 1) return;
    const double first = summary->frequency[0], last = summary->frequency[summary->n_frequencies - 1];
    if (outside(first, FREQUENCY))
        report_add(report, REPORT_WARNING,
                   "links[%d] (%s): the first frequency of the link alone, clamped at its hinge, is %.3g Hz; usual is "
                   "between %g and %g Hz. Check the units of length, stiffness and mass",
                   i, link->name, first, FREQUENCY[0], FREQUENCY[1]);
    if (first > 0 && last > WIDEST_RANGE * first)
        report_add(report, REPORT_WARNING,
                   "links[%d] (%s): the frequencies of its modal coordinates reach from %.3g to %.3g Hz, a factor of "
                   "%.2g; usual is below %g. Check the units of stiffness, or leave out the stiffest modes",
                   i, link->name, first, last, last / first, WIDEST_RANGE);
}

/* ---- static deflection ------------------------------------------------------------------------------------------------------------ */

/* The largest |u - u_H - theta_H x (x - x_H)|, the displacement relative to the hinge H, over stations of a beam or nodes of a nodal
   body; negative: out of memory */
static double largest_deflection(const struct link *link, const struct body *body, const double *eta)
{
    enum { STATIONS = 16 };
    const bool beam = link->type == BODY_BEAM;
    const int count = beam ? STATIONS : link->nodal.n_nodes;
    double largest = 0, u_H[3], theta_H[3];
    section_sum(&body->hinge, body->m, eta, u_H, theta_H);
    for (int k = 0; k < count; k++) {
        struct arena scratch = {0};
        struct section section;
        const double x = beam ? link->beam.length * (k + 1) / STATIONS : 0;
        const bool built = body_section(link, x, k, &scratch, &section) == STATUS_OK;
        if (built) {
            double u[3], theta[3], arm[3], rotated[3];
            section_sum(&section, body->m, eta, u, theta);
            for (int a = 0; a < 3; a++) arm[a] = section.x[a] - body->hinge.x[a];
            cross3(theta_H, arm, rotated);
            for (int a = 0; a < 3; a++) u[a] -= u_H[a] + rotated[a];
            largest = fmax(largest, euclidean_norm(3, u));
        }
        arena_release(&scratch);
        if (!built) return -1;
    }
    return largest;
}

/* eta = K^-1 Q of a link, Q being the generalized forces that gravity exerts on its modes through its own mass and through all that is
   attached to it. `force` holds -Q. If K is singular, there is nothing to check. */
static enum status check_deflection(int i, const struct link *link, const struct link_model *lm, const double *force,
                                    struct report *report)
{
    const size_t m = (size_t)lm->m;
    struct arena scratch = {0};
    double *K, *inverse_d, *eta, deflection = -1;
    arena_arrays(&scratch, m * m, ARRAYS(&K));
    arena_arrays(&scratch, m, ARRAYS(&inverse_d, &eta));
    if (!scratch.failed) {
        memcpy(K, lm->body->K, m * m * sizeof *K);
        for (size_t k = 0; k < m; k++) eta[k] = -force[(size_t)lm->eta_v + k];
        const bool regular = cholesky_factor(lm->m, K, inverse_d) == 0;
        if (regular) cholesky_solve(lm->m, K, inverse_d, eta);
        deflection = regular ? largest_deflection(link, lm->body, eta) : 0;
    }
    arena_release(&scratch);
    if (deflection < 0) return STATUS_NO_MEMORY;

    const bool shortened = link->type == BODY_BEAM && link->beam.foreshortening;
    const double length = link_length(link), usual = shortened ? SHORTENED_DEFLECTION : DEFLECTION;
    if (length > 0 && deflection > usual * length)
        report_add(
            report, REPORT_WARNING,
            "links[%d] (%s): gravity bends it by %.3g m at the start, %.3g of its length (linear, joints locked, with "
            "all that is attached to it); usual is below %g. Check stiffness, masses and gravity, or divide the link: "
            "the model is for small deflections",
            i, link->name, deflection, deflection / length, usual);
    return STATUS_OK;
}

/* The forces are those that hold the modes of the robot at the start against gravity: undeformed and at rest, with all joints locked and
   loops cut */
static enum status check_deflections(const struct robot *robot, const struct summary *summary, struct report *report)
{
    const struct model *model = summary->mechanism.model;
    struct arena scratch = {0};
    struct point rest;
    double *force;
    arena_arrays(&scratch, (size_t)model->nv, ARRAYS(&force));
    point_make(model, &scratch, &rest);
    enum status status = scratch.failed ? STATUS_NO_MEMORY : STATUS_OK;
    if (status == STATUS_OK) {
        const struct input in = point_input(&rest);
        memcpy(rest.q, summary->start.at.q, (size_t)model->nq * sizeof *rest.q);
        for (int i = 0; i < model->n_links; i++)
            for (int k = 0; k < model->link[i].m; k++) rest.q[model->link[i].eta_q + k] = 0;
        dyn_configuration(model, summary->mechanism.work, rest.q);
        dyn_inverse(model, summary->mechanism.work, &in, NULL, force);
    }
    for (int i = 0; i < robot->n_links && status == STATUS_OK; i++)
        if (model->link[i].m > 0) status = check_deflection(i, &robot->link[i], &model->link[i], force, report);
    arena_release(&scratch);
    return status;
}

/* ---- drives at the start ------------------------------------------------------------------------------------------------------------ */

/* A line may be too short or too long at the start for the drive on it */
static void check_drives(const struct robot *robot, const struct summary *summary, struct report *report)
{
    struct mechanism m = summary->mechanism;
    const struct point *start = &summary->start.at;
    const struct input at = {.q = start->q};
    mechanism_set(&m, &at);
    mechanism_place(&m, PLACED);
    elements_measure(&m, &at);
    for (int d = 0; d < robot->n_drives; d++) {
        const struct robot_drive *drive = &robot->drive[d];
        double v[MOST_VALUES];
        char name[MOST_NAME];
        if (drive->line < 0) continue;
        robot_drive_values(robot, drive, v);
        v[drive->drive->position] = m.element[drive->line].x;
        const char *error = drive_error(drive->drive, v);
        if (error != NULL)
            report_add(report, REPORT_WARNING, "%s: %.6g m long at the start: %s", robot_drive_name(robot, d, name),
                       v[drive->drive->position], error);
    }
}

/* ---- all together ------------------------------------------------------------------------------------------------------------------- */

enum status plausibility_check(const struct robot *robot, const struct summary *summary, struct report *report)
{
    const double g = euclidean_norm(3, robot->gravity);
    if (g != 0 && outside(g, GRAVITY))
        report_add(report, REPORT_WARNING,
                   "gravity: its size is %g; usual is 0, or between %g and %g m/s^2 (Earth 9.81)", g, GRAVITY[0],
                   GRAVITY[1]);
    for (int i = 0; i < robot->n_links; i++) {
        check_joint(i, &robot->link[i].joint, report);
        check_bodies(i, &robot->link[i], report);
        check_link(i, &robot->link[i], &summary->link[i], report);
    }
    if (robot->n_drives > 0) check_drives(robot, summary, report);
    return check_deflections(robot, summary, report);
}
