/* Dependencies of planar robots. All coordinates of a planar robot turn about one axis of the world, n, or move normal to it; so does
   every point of it, in any state and with any parameters. Vectors then split into two kinds: (even) displacements, velocities and
   forces normal to n, and rotations and moments about n; (odd) displacements and forces along n, and rotations and moments about the
   other axes.
   - No odd displacement, velocity, acceleration or rotation depends on anything: they are constant.
   - The virtual work of odd loads is zero: nothing even depends on them.
   - Odd reactions balance odd loads and gravity along n; the moments among them balance forces normal to n too, unless everything is
     in one plane (flat). */
#include "sim/variables_row.h"

/* ---- is it planar? ---------------------------------------------------------------------------------------------------------- */

/* Does a rotation keep e_n? */
static bool keeps_axis(const double R[9], int n)
{
    for (int i = 0; i < 3; i++)
        if (i != n && (R[3 * i + n] != 0 || R[3 * n + i] != 0)) return false;
    return R[4 * n] > 0;
}

/* A beam is along x: it bends along y if n is z, along z if n is y */
static bool link_is_planar(const struct link *link, const struct joint_model *joint, int n)
{
    if (!keeps_axis(link->mount.at.R, n) || !keeps_axis(link->joint.origin.R, n)) return false;
    if (joint->nv > 1 || joint->nq > 1) return false;
    if (joint->nv == 1 && (joint->part[0] == SLIDES ? joint->axis[n] != 0 : joint->axis_index != n)) return false;
    if (link->type == BODY_NODAL) return false;
    if (link->type == BODY_RIGID) return keeps_axis(link->rigid_tip.R, n);
    for (int k = 0; k < robot_link_modes(link); k++) {
        int mode = k;
        const enum family family = beam_family(&link->beam, &mode);
        if (n == 0 || (family != FAMILY_AXIAL && family != (n == 2 ? FAMILY_Y : FAMILY_Z))) return false;
    }
    return true;
}

static bool is_planar(const struct model *model, int n)
{
    const struct robot *robot = model->robot;
    for (int i = 0; i < model->n_links; i++)
        if (!link_is_planar(&robot->link[i], &model->link[i].joint, n)) return false;
    for (int i = 0; i < robot->n_loops; i++) {
        const struct loop *loop = &robot->loop[i];
        if (loop->type != LOOP_PLANAR_PIN || loop->plane[0][n] != 0 || loop->plane[1][n] != 0) return false;
    }
    return true;
}

/* ---- is it flat? -------------------------------------------------------------------------------------------------------------- */

static bool mass_is_flat(const struct mass_properties *body, int n)
{
    static const int product[3][2] = {{3, 4}, {3, 5}, {4, 5}}; /* of n: xx yy zz xy xz yz */
    return body->com[n] == 0 && body->inertia[product[n][0]] == 0 && body->inertia[product[n][1]] == 0;
}

/* The lines of lines are then normal to n too */
static bool is_flat(const struct robot *robot, int n)
{
    for (int i = 0; i < robot->n_links; i++) {
        const struct link *link = &robot->link[i];
        if (link->mount.at.p[n] != 0 || link->joint.origin.p[n] != 0) return false;
        if (link->has_payload || (link->has_hub && !mass_is_flat(&link->hub, n))) return false; /* its com may be set */
        if (link->type != BODY_RIGID) continue;
        if (link->rigid_tip.p[n] != 0 || !mass_is_flat(&link->rigid, n)) return false;
    }
    for (int i = 0; i < robot->n_sites; i++)
        if (robot->site[i].at.p[n] != 0) return false;
    for (int i = 0; i < robot->n_frames; i++)
        if (robot->frame[i].site.at.p[n] != 0) return false;
    return true;
}

void planar_find(struct structure *structure)
{
    structure->normal = -1;
    for (int n = 0; n < 3 && structure->normal < 0; n++)
        if (is_planar(structure->model, n)) structure->normal = n;
    structure->flat = structure->normal >= 0 && is_flat(structure->model->robot, structure->normal);
}

/* ---- dependencies --------------------------------------------------------------------------------------------------------------- */

static bool is_force(const struct variable *load)
{
    return load->row->place == place_frame_force;
}

static bool is_odd_load(const struct variable *known, int n)
{
    return known->row->owner == LOAD && is_force(known) == (known->k == n);
}

/* The force along n on a link depends on loads along n outward of it */
static bool odd_force_depends(const struct structure *s, const struct variable *unknown, const struct variable *known)
{
    if (!s->flat && s->model->robot->n_lines > 0) return true; /* lines that are not normal to n */
    return is_odd_load(known, s->normal) && is_force(known) &&
           structure_is_outward(s, structure_frame(s->model, known->owner).link, unknown->owner);
}

/* A moment normal to n on a link of a flat robot depends on odd loads outward of it, and on positions, which change lever arms and turn
   loads */
static bool odd_moment_depends(const struct structure *s, const struct variable *unknown, const struct variable *known)
{
    const int link = unknown->owner;
    if (!s->flat) return true;
    if (known->row->owner == LOAD)
        return is_odd_load(known, s->normal) &&
               structure_is_outward(s, structure_frame(s->model, known->owner).link, link);
    if (known->row->level != POSITION) return false;
    if (structure_is_outward(s, known->owner, link)) return true;
    if (!structure_is_outward(s, link, known->owner)) return false;
    const struct robot *robot = s->model->robot;
    bool loaded = structure_is_outward(s, s->model->tip, link);
    for (int i = 0; i < robot->n_frames; i++)
        loaded = loaded || ((robot->frame[i].load || robot->every_frame_loaded) &&
                            structure_is_outward(s, s->model->frame[i].link, link));
    return loaded;
}

/* Is the frame's own axis n that of the world? */
static bool is_aligned(const struct structure *s, int frame)
{
    return frame == 0 || keeps_axis(s->model->robot->frame[frame - 1].site.at.R, s->normal);
}

bool planar_excludes(const struct structure *s, const struct variable *unknown, const struct variable *known)
{
    depends_function *const depends = unknown->row->depends;
    const int n = s->normal, k = unknown->k;
    if (n < 0) return false;
    const bool odd = is_odd_load(known, n), position = known->row->level == POSITION;
    if (depends == depends_frame_origin || depends == depends_frame_acceleration) return k == n || odd;
    if (depends == depends_frame_orientation && unknown->row->level == VELOCITY) return k != n || position;
    if (depends == depends_frame_angular_rate) return is_aligned(s, unknown->owner) && (k != n || position);
    if (depends == depends_frame_orientation) return is_aligned(s, unknown->owner) && k > 0 && k - 1 != n;
    if (depends == depends_frame_specific_force) return odd || (k == n && is_aligned(s, unknown->owner));
    if (depends == depends_root_force) return k == n ? !odd_force_depends(s, unknown, known) : odd;
    if (depends == depends_root_moment) return k == n ? odd : !odd_moment_depends(s, unknown, known);
    return odd;
}
