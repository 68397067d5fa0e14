/* Column of the variable table: which knowns (inputs and states) an unknown (output, state derivative) depends on. Importers take
   the sparsity of Jacobians from this, where a missing dependency is a silent zero: so a dependency is declared unless the
   structure of the robot excludes it for any values of states, inputs and parameters. Derivatives at random states do not show this:
   along a chain they decay below rounding errors, and terms that cancel leave such errors. */
#include "drive/drive.h"
#include "sim/variables_row.h"

/* ---- the tree ---------------------------------------------------------------------------------------------------------- */

bool structure_is_outward(const struct structure *s, int link, int base)
{
    if (base < 0) return true;
    return link >= 0 && s->place[link] >= s->place[base] && s->place[link] < s->place[base] + s->size[base];
}

/* Each child takes the next places of its parent, as many as it has links outward */
static void find_places(struct structure *s, int *next)
{
    const struct model *model = s->model;
    for (int i = model->n_links - 1; i >= 0; i--) { /* parents come first */
        const int parent = model->link[i].parent;
        s->size[i]++;
        if (parent >= 0) s->size[parent] += s->size[i];
    }
    int next_of_world = 0;
    for (int i = 0; i < model->n_links; i++) {
        const int parent = model->link[i].parent;
        int *from = parent >= 0 ? &next[parent] : &next_of_world;
        s->place[i] = *from;
        next[i] = s->place[i] + 1;
        *from += s->size[i];
    }
}

static int group_of(const int *group, int link)
{
    return link >= 0 ? group[link] : -1;
}

/* A loop, a line or a coupling merges the groups of two links */
static void join(struct structure *s, int a, int b)
{
    const int from = group_of(s->group, a), to = group_of(s->group, b);
    for (int i = 0; from >= 0 && to >= 0 && i < s->model->n_links; i++)
        if (s->group[i] == from) s->group[i] = to;
}

/* A link of a coupling that does not have a prescribed motion; if all have, the first */
static int free_link(const struct structure *s, const struct coupling *coupling)
{
    for (int i = 0; i < coupling->n_terms; i++)
        if (s->group[coupling->term[i].link] >= 0) return coupling->term[i].link;
    return coupling->term[0].link;
}

/* Everything outward of a root accelerates together, and nothing else does, but for loops, lines and couplings */
static void find_groups(struct structure *s)
{
    const struct model *model = s->model;
    const struct robot *robot = model->robot;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        const bool carried = lm->parent >= 0 && s->root[lm->parent] >= 0; /* parents come first */
        const bool moves = lm->m > 0 || free_velocities(lm) > 0;
        s->group[i] = s->root[i] = carried ? s->root[lm->parent] : moves ? i : -1;
    }
    for (int i = 0; i < robot->n_sites; i++)
        for (int k = robot->part[i]; k < i; k++) join(s, robot->site[k].link, robot->site[i].link);
    for (int i = 0; i < robot->n_couplings; i++)
        for (int k = 1; k < robot->coupling[i].n_terms; k++)
            join(s, free_link(s, &robot->coupling[i]), robot->coupling[i].term[k].link);
}

/* Which values of each drive depend on which: a NaN as the seed makes every dependent value NaN */
static bool **drive_structures(const struct robot *robot, struct arena *arena)
{
    bool **list = arena_allocate(arena, (size_t)robot->n_drives, sizeof *list);
    for (int d = 0; d < robot->n_drives && !arena->failed; d++) {
        const struct robot_drive *rd = &robot->drive[d];
        const int n = drive_values(rd->drive);
        double v[MOST_VALUES];
        robot_drive_values(robot, rd, v);
        list[d] = arena_allocate(arena, (size_t)n * (size_t)n, sizeof **list);
        for (int i = 0; i < n * n && !arena->failed; i++) list[d][i] = drive_value_depends(rd->drive, v, i / n, i % n);
    }
    return list;
}

const struct structure *structure_make(const struct model *model, struct arena *arena)
{
    const size_t n = (size_t)model->n_links;
    struct structure *structure = arena_allocate(arena, 1, sizeof *structure);
    int *next = arena_allocate(arena, n, sizeof *next);
    struct structure s = {.model = model,
                          .root = arena_allocate(arena, n, sizeof *s.root),
                          .place = arena_allocate(arena, n, sizeof *s.place),
                          .size = arena_allocate(arena, n, sizeof *s.size),
                          .group = arena_allocate(arena, n, sizeof *s.group),
                          .drive = drive_structures(model->robot, arena)};
    elements_list(model->robot, arena, &s.element);
    if (arena->failed) return NULL;
    find_places(&s, next);
    find_groups(&s);
    planar_find(&s);
    *structure = s;
    return structure;
}

/* ---- knowns ------------------------------------------------------------------------------------------------------------ */

static bool is_position(const struct variable *known)
{
    return known->row->level == POSITION;
}

static bool is_elastic(const struct variable *known)
{
    return known->row->owner == FLEXIBLE;
}

struct anchor structure_frame(const struct model *model, int frame)
{
    return frame == 0 ? model_tip(model, model->tip) : model->frame[frame - 1];
}

/* ---- what a coordinate moves ------------------------------------------------------------------------------------------- */

static bool is_zero3(const double *x)
{
    return x[0] == 0 && x[1] == 0 && x[2] == 0;
}

/* What carries a frame on a link inward of it: the link's own section, or that of the joint on the way to the frame. Its link is
   another one where the frame is not outward of `link`. */
static struct anchor carrier(const struct model *model, struct anchor on, int link)
{
    while (on.link > link) { /* parents come first */
        const struct link_model *lm = &model->link[on.link];
        on = (struct anchor){.link = lm->parent, .section = lm->mount, .offset = true, .at.p = {1, 1, 1}};
    }
    return on;
}

/* Is a section of a link between the ends of a beam, x in (0, L)? A shape that is zero there may be nonzero for another length of the
   beam, which is a parameter, so that only the family of the mode counts. */
static bool is_between(const struct model *model, int link, int section)
{
    const struct link *l = &model->robot->link[link];
    if (l->type != BODY_BEAM || section <= 0) return false; /* 0 is the tip */
    const double x = model->link[link].section[section].shape.x[0];
    return x > 0 && x < l->beam.length;
}

static enum family family_of(const struct model *model, int link, int mode)
{
    return beam_family(&model->robot->link[link].beam, &mode);
}

/* Does the mode of a link turn a section of it, theta = Lambda eta? Section -1 is O, which is at rest in the link. */
static bool mode_turns(const struct model *model, const struct anchor *on, int mode)
{
    const struct link_model *lm = &model->link[on->link];
    if (on->section < 0) return false;
    if (lm->body->hinge_moves || !is_zero3(lm->section[on->section].shape.Lambda + 3 * mode)) return true;
    return is_between(model, on->link, on->section) && family_of(model, on->link, mode) != FAMILY_AXIAL;
}

/* Does a coordinate turn a frame? A sliding joint does not. */
static bool turns(const struct model *model, const struct variable *known, struct anchor frame)
{
    const struct anchor on = carrier(model, frame, known->owner);
    if (on.link != known->owner) return false;
    if (is_elastic(known)) return mode_turns(model, &on, known->k);
    return variable_dimension(model, known->row, known->owner, known->k) != DISTANCE;
}

/* Does it displace the frame's origin? What only turns does so through a distance from the center of rotation; of a mode
   u = Phi eta - 1/2 eta' H eta e_x. */
static bool displaces(const struct model *model, const struct variable *known, struct anchor frame)
{
    const struct anchor on = carrier(model, frame, known->owner);
    if (on.link != known->owner) return false;
    const bool apart = !is_zero3(on.at.p);
    if (!is_elastic(known))
        return apart || on.section >= 0 || variable_dimension(model, known->row, known->owner, known->k) == DISTANCE;
    if (on.section < 0) return false;
    if (apart && mode_turns(model, &on, known->k)) return true;
    const struct link_model *lm = &model->link[on.link];
    const struct section *shape = &lm->section[on.section].shape;
    if (lm->body->hinge_moves || !is_zero3(shape->Phi + 3 * known->k)) return true;
    if (is_between(model, on.link, on.section)) return family_of(model, on.link, known->k) != FAMILY_TWIST;
    for (int k = 0; shape->H != NULL && k < lm->m; k++)
        if (shape->H[PADDED(lm->m) * known->k + k] != 0) return true;
    return false;
}

/* Is it the position of the first rotation between the world and what it moves? */
static bool turns_first(const struct model *model, const struct variable *known)
{
    const struct joint *joint = &model->robot->link[known->owner].joint;
    const bool in_quaternion = joint_quaternion(joint) >= 0 && known->k >= joint_quaternion(joint);
    if (!is_position(known) || is_elastic(known)) return false;
    for (int k = 0; k < known->k && !in_quaternion; k++)
        if (model->link[known->owner].joint.part[k] != SLIDES) return false;
    for (int link = model->link[known->owner].parent; link >= 0; link = model->link[link].parent) {
        const struct link_model *lm = &model->link[link];
        if (lm->m > 0) return false;
        for (int k = 0; k < lm->joint.nv; k++)
            if (lm->joint.part[k] != SLIDES) return false;
    }
    return true;
}

/* A translation, or its rate, of a floating tree: without friction and springs, in a uniform field of gravity */
static bool is_floating(const struct model *model, const struct variable *known)
{
    const struct joint *joint = &model->robot->link[known->owner].joint;
    if (is_elastic(known) || model->link[known->owner].parent >= 0) return false;
    return known->k < (is_position(known) ? joint_quaternion(joint) : joint_omega(joint));
}

/* ---- unknowns ---------------------------------------------------------------------------------------------------------- */

/* A dependency that is one condition */
#define DEPENDS(name, condition)                                                                                 \
    bool depends_##name(const struct structure *s, const struct variable *unknown, const struct variable *known) \
    {                                                                                                            \
        (void)s;                                                                                                 \
        return condition;                                                                                        \
    }

DEPENDS(itself, known->reference == unknown->reference)

/* A component of 1/2 q o (0, omega): the other components of q, and omega */
bool depends_quaternion_rate(const struct structure *s, const struct variable *unknown, const struct variable *known)
{
    const struct joint *joint = &s->model->robot->link[unknown->owner].joint;
    if (known->owner != unknown->owner) return false;
    if (known->row->count == POSITIONS) return known->k >= joint_quaternion(joint) && known->k != unknown->k;
    return known->row->count == VELOCITIES && known->row->is_state && known->k >= joint_omega(joint);
}

/* Accelerations and reactions of a link depend on all that accelerates together with it or is attached outward of it, and on
   prescribed motion inward of that; with loops, lines or couplings, on any prescribed motion. */
static bool couples(const struct structure *s, int link, const struct variable *known)
{
    const struct robot *robot = s->model->robot;
    const bool joined = robot->n_sites + robot->n_couplings > 0, free = s->group[link] >= 0;
    if (joined && (!free || known->row->owner == PRESCRIBED)) return true;
    if (!joined && known->row->level <= VELOCITY && is_floating(s->model, known)) return false;
    if (known->row->owner == OPEN_LINE) {
        const struct site *end = robot->site + robot->line[known->owner].site;
        return group_of(s->group, end[0].link) == s->group[link] || group_of(s->group, end[1].link) == s->group[link];
    }
    const int base = free ? s->root[link] : link;
    const int acted = known->row->owner == LOAD ? structure_frame(s->model, known->owner).link : known->owner;
    if (free ? s->group[acted] == s->group[link] : structure_is_outward(s, acted, base)) return true;
    return known->row->owner == PRESCRIBED && structure_is_outward(s, base, acted);
}

DEPENDS(accelerations, couples(s, unknown->owner, known))

static bool is_coupled(const struct robot *robot, int link)
{
    for (int i = 0; i < robot->n_couplings; i++)
        for (int k = 0; k < robot->coupling[i].n_terms; k++)
            if (robot->coupling[i].term[k].link == link) return true;
    return false;
}

/* In the directions in which a joint moves freely, what it exerts on its link follows from its own drive, friction and spring alone:
   all moments of a joint with a quaternion, component by component, and all forces if it translates too and is not coupled. */
bool depends_root_moment(const struct structure *s, const struct variable *unknown, const struct variable *known)
{
    const struct joint *joint = &s->model->robot->link[unknown->owner].joint;
    const int omega = joint_omega(joint);
    if (omega < 0) return couples(s, unknown->owner, known);
    if (known->owner != unknown->owner || known->row->owner == OPEN_LINE) return false;
    if (known->row->count == POSITIONS)
        return known->k >= joint_quaternion(joint) && joint_takes(joint, GIVEN_STIFFNESS);
    if (known->row->count != VELOCITIES || known->k != omega + unknown->k) return false;
    return known->row->level == FORCE || joint_takes(joint, GIVEN_VISCOUS);
}

bool depends_root_force(const struct structure *s, const struct variable *unknown, const struct variable *known)
{
    const struct joint *joint = &s->model->robot->link[unknown->owner].joint;
    const int omega = joint_omega(joint);
    if (omega <= 0 || is_coupled(s->model->robot, unknown->owner)) return couples(s, unknown->owner, known);
    if (known->owner != unknown->owner || joint->passive) return false;
    if (known->row->count == POSITIONS) return known->k >= joint_quaternion(joint);
    return known->row->count == VELOCITIES && known->row->level == FORCE && known->k < omega;
}

/* The same dependencies as those of the accelerations of a link that the loop acts on */
bool depends_loop_force(const struct structure *s, const struct variable *unknown, const struct variable *known)
{
    const struct robot *robot = s->model->robot;
    const struct site *side = robot->site + robot->loop[unknown->owner].site;
    int link = side[SIDE_A].link;
    if (s->group[link] < 0) link = side[SIDE_B].link;
    if (s->group[link] < 0 && side[SIDE_PLANE].link >= 0) link = side[SIDE_PLANE].link;
    return couples(s, link, known);
}

/* Of a rigid one: as the accelerations of its links */
DEPENDS(coupling_force, couples(s, free_link(s, &s->model->robot->coupling[unknown->owner]), known))

/* The body of a link that an elastic coordinate of the same link deforms; NULL: the known is not one */
static const struct body *deformed_body(const struct structure *s, const struct variable *unknown,
                                        const struct variable *known)
{
    const bool own = is_elastic(known) && is_position(known) && known->owner == unknown->owner;
    return own ? s->model->link[known->owner].body : NULL;
}

/* A component of u = Phi eta - 1/2 eta' H eta e_x at the tip. Where the hinge node moves, the hinge frame turns and mixes all
   components. */
bool depends_deflection(const struct structure *s, const struct variable *unknown, const struct variable *known)
{
    const struct body *body = deformed_body(s, unknown, known);
    const int axis = unknown->k, mode = known->k;
    if (body == NULL) return false;
    const struct section *tip = &body->tip;
    if (body->hinge_moves || tip->Phi[3 * mode + axis] != 0) return true;
    for (int k = 0; axis == 0 && tip->H != NULL && k < body->m; k++)
        if (tip->H[PADDED(body->m) * mode + k] != 0) return true;
    return false;
}

/* A component of theta = Lambda eta at the tip */
bool depends_rotation(const struct structure *s, const struct variable *unknown, const struct variable *known)
{
    const struct body *body = deformed_body(s, unknown, known);
    return body != NULL && (body->hinge_moves || body->tip.Lambda[3 * known->k + unknown->k] != 0);
}

/* ---- frames: the unknown's owner is the frame, 0 the tip ----------------------------------------------------------------- */

/* Is it a position or, for a velocity, a velocity too? */
static bool is_level_of(const struct variable *unknown, const struct variable *known)
{
    return known->row->level <= unknown->row->level && known->row->level <= VELOCITY;
}

/* Position and velocity, which does not depend on where a floating tree is */
DEPENDS(frame_origin, is_level_of(unknown, known) &&
                          displaces(s->model, known, structure_frame(s->model, unknown->owner)) &&
                          (known->row->level == unknown->row->level || !is_floating(s->model, known)))

/* Quaternion and angular velocity */
DEPENDS(frame_orientation,
        is_level_of(unknown, known) && turns(s->model, known, structure_frame(s->model, unknown->owner)))

bool depends_frame_acceleration(const struct structure *s, const struct variable *unknown, const struct variable *known)
{
    const struct anchor frame = structure_frame(s->model, unknown->owner);
    if (s->group[frame.link] >= 0) return couples(s, frame.link, known);
    return known->row->owner == PRESCRIBED && displaces(s->model, known, frame);
}

/* R' (a - g) */
DEPENDS(frame_specific_force,
        depends_frame_acceleration(s, unknown, known) ||
            (is_position(known) && turns(s->model, known, structure_frame(s->model, unknown->owner))))

/* R' omega: the first rotation turns omega and the axes alike */
DEPENDS(frame_angular_rate, depends_frame_orientation(s, unknown, known) && !turns_first(s->model, known))

/* Does an elastic coordinate of the frame's link change a row of (psi', -w'', v'', a')? The elongation is the last. */
bool depends_frame_strain(const struct structure *s, const struct variable *unknown, const struct variable *known)
{
    static const int row_of[FAMILY_COUNT] = {[FAMILY_TWIST] = 0, [FAMILY_Z] = 1, [FAMILY_Y] = 2, [FAMILY_AXIAL] = 3};
    const struct model *model = s->model;
    const struct anchor *frame = &model->frame[unknown->owner - 1];
    const int row = unknown->row->count == 1 ? 3 : unknown->k;
    if (!is_elastic(known) || !is_position(known) || known->owner != frame->link) return false;
    if (is_between(model, frame->link, frame->section)) return row_of[family_of(model, frame->link, known->k)] == row;
    return model->strain[unknown->owner - 1][known->k][row] != 0;
}

/* ---- elements --------------------------------------------------------------------------------------------------------- */

/* What moves both ends as one rigid body does not change what is measured between them. Rotations of the ends change angles. */
static bool stretches(const struct structure *s, const struct variable *known, const struct force_element *e)
{
    const struct anchor *end = s->model->site + e->site;
    const struct anchor on[2] = {carrier(s->model, end[0], known->owner), carrier(s->model, end[1], known->owner)};
    const bool both = on[0].link == known->owner && on[1].link == known->owner;
    if (both && (!is_elastic(known) || on[0].section == on[1].section)) return false;
    bool changes = displaces(s->model, known, end[0]) || displaces(s->model, known, end[1]);
    if (e->kind->is_angle != NULL)
        changes = changes || turns(s->model, known, end[0]) || turns(s->model, known, end[1]);
    return changes;
}

/* Does a known of the arm change what an element measures, a position, or the rate of it? */
static bool moves(const struct structure *s, const struct force_element *e, const struct variable *known,
                  enum level level)
{
    if (e->kind->n_ends > 0) return known->row->level <= level && stretches(s, known, e);
    return !is_elastic(known) && known->row->level == level &&
           e->kind->moved_by(s->model->robot, e->part, known->owner, known->k);
}

/* ---- drives ------------------------------------------------------------------------------------------------------------------ */

static const struct force_element *element_of(const struct structure *s, int drive)
{
    const struct force_element *e = s->element;
    while (e->drive != drive) e++;
    return e;
}

/* Does a value of a drive depend on a known, at a constant share of its supply? */
static bool value_depends(const struct structure *s, int drive, int value, const struct variable *known)
{
    const struct robot_drive *rd = &s->model->robot->drive[drive];
    const bool *on = s->drive[drive] + drive_values(rd->drive) * value;
    if (known->row->owner == DRIVE) return known->owner == drive && on[known->k];
    return (on[rd->drive->position] && moves(s, element_of(s, drive), known, POSITION)) ||
           (on[rd->drive->rate] && moves(s, element_of(s, drive), known, VELOCITY));
}

static bool demand_depends(const struct structure *s, int supply, const struct variable *known)
{
    const struct robot *robot = s->model->robot;
    for (int d = 0; d < robot->n_drives; d++)
        if (robot->drive[d].supply == supply && value_depends(s, d, robot->drive[d].drive->demand, known)) return true;
    return false;
}

/* The same with the share, which depends on all drives of the supply */
static bool drive_depends(const struct structure *s, int drive, int value, const struct variable *known)
{
    const struct robot_drive *rd = &s->model->robot->drive[drive];
    if (value_depends(s, drive, value, known)) return true;
    return rd->supply >= 0 && s->drive[drive][drive_values(rd->drive) * value + rd->drive->share] &&
           demand_depends(s, rd->supply, known);
}

DEPENDS(drive, drive_depends(s, unknown->owner, unknown->k, known))

static bool effort_depends(const struct structure *s, const struct robot_drive *rd, const struct variable *known)
{
    return drive_depends(s, (int)(rd - s->model->robot->drive), rd->drive->effort, known);
}

DEPENDS(drive_torque, effort_depends(s, robot_drive_of_link(s->model->robot, unknown->owner), known))
DEPENDS(supply, demand_depends(s, unknown->owner, known))

bool depends_element(const struct structure *s, const struct variable *unknown, const struct variable *known)
{
    const struct force_element *e = &s->element[unknown->owner];
    if (unknown->k == ELEMENT_FORCE && e->drive >= 0)
        return drive_depends(s, e->drive, s->model->robot->drive[e->drive].drive->effort, known);
    return known->row->owner != DRIVE && ((unknown->k != ELEMENT_RATE && moves(s, e, known, POSITION)) ||
                                          (unknown->k != ELEMENT_X && moves(s, e, known, VELOCITY)));
}

static bool depends_directly(const struct structure *s, const struct variable *unknown, const struct variable *known)
{
    return unknown->row->depends(s, unknown, known) && !planar_excludes(s, unknown, known);
}

/* An unknown of the arm depends on a known directly, or by the effort of a drive, which is an input of the arm without the drive */
bool variable_depends(const struct variable *unknown, const struct variable *known, const struct structure *s)
{
    static const struct table_row torque = {.owner = DRIVEN, .count = VELOCITIES, .level = FORCE},
                                  force = {.owner = OPEN_LINE, .count = 1, .level = FORCE};
    const struct robot *robot = s->model->robot;
    const enum owner owner = unknown->row->owner;
    const bool arm = owner != DRIVE && owner != POWERED && owner != ELEMENT && owner != SUPPLY;
    if ((!arm || known->row->owner != DRIVE) && depends_directly(s, unknown, known)) return true;
    for (int d = 0; d < robot->n_drives && arm; d++) {
        const struct robot_drive *rd = &robot->drive[d];
        const bool line = rd->line >= 0;
        const struct variable effort = {
            .row = line ? &force : &torque, .owner = line ? rd->line : rd->link, .reference = -1, .state = -1};
        if (effort_depends(s, rd, known) && depends_directly(s, unknown, &effort)) return true;
    }
    return false;
}
