/* Column of the variable table: which knowns (inputs and states) an unknown (output, state derivative) depends on. Importers take
   the sparsity of Jacobians from this, where a missing dependency is a silent zero: so a dependency is declared unless the
   structure of the robot excludes it for any values of states, inputs and parameters. */
#include "sim/variables_row.h"

struct structure {
    const struct model *model;
    int *group; /* [link]: shared by links whose accelerations depend on each other; -1: prescribed motion */
};

/* ---- the tree ---------------------------------------------------------------------------------------------------------- */

/* Is `link` the link `base`, or attached to it, directly or through others? */
static bool is_outward(const struct model *model, int link, int base)
{
    while (link > base) link = model->link[link].parent; /* parents come first */
    return link == base;
}

static bool has_free_coordinates(const struct link_model *lm)
{
    return lm->m > 0 || free_velocities(lm) > 0;
}

/* The first link with free coordinates on the way from the world to `link`: everything outward of it accelerates together, and
   nothing else does. -1: the motion of `link` is prescribed. */
static int free_root(const struct model *model, int link)
{
    int root = -1;
    for (; link >= 0; link = model->link[link].parent)
        if (has_free_coordinates(&model->link[link])) root = link;
    return root;
}

static int group_of(const int *group, int link)
{
    return link >= 0 ? group[link] : -1;
}

/* A loop or an actuator merges two groups */
static void join(const struct model *model, int *group, int a, int b)
{
    const int from = group_of(group, a), to = group_of(group, b);
    for (int i = 0; from >= 0 && to >= 0 && i < model->n_links; i++)
        if (group[i] == from) group[i] = to;
}

const struct structure *structure_make(const struct model *model, struct arena *arena)
{
    const struct robot *robot = model->robot;
    struct structure *structure = arena_take(arena, 1, sizeof *structure);
    int *group = arena_take(arena, (size_t)model->n_links, sizeof *group);
    if (arena->failed) return NULL;
    *structure = (struct structure){model, group};
    for (int i = 0; i < model->n_links; i++) group[i] = free_root(model, i);
    for (int i = 0; i < robot->n_loops; i++) {
        const struct loop *loop = &robot->loop[i];
        join(model, group, loop->side[0].link, loop->side[1].link);
        for (int s = 0; s < 2; s++) join(model, group, loop->side[s].link, loop->plane_of);
    }
    for (int i = 0; i < robot->n_actuators; i++)
        join(model, group, robot->actuator[i].from.link, robot->actuator[i].to.link);
    return structure;
}

/* ---- knowns ------------------------------------------------------------------------------------------------------------ */

static bool is_position(const struct variable *known)
{
    return known->of->level == POSITION;
}

static bool is_position_or_velocity(const struct variable *known)
{
    return known->of->level == POSITION || known->of->level == VELOCITY;
}

static bool is_prescribed(const struct variable *known)
{
    return known->of->owner == PRESCRIBED;
}

static bool is_elastic(const struct variable *known)
{
    return known->of->owner == FLEXIBLE;
}

/* The link that a known of a joint, of a mode or of the tip acts on */
static int acted_link(const struct model *model, const struct variable *known)
{
    return known->of->owner == ROBOT ? model->tip : known->owner;
}

/* A coordinate between the world and the tip, or its rate */
static bool carries_tip(const struct structure *s, const struct variable *known)
{
    return known->of->owner != ACTUATOR && is_outward(s->model, s->model->tip, known->owner);
}

/* The section of a flexible link on the way to the tip of the robot; NULL: the way leads from its hinge frame */
static const struct section *section_towards_tip(const struct model *model, int link)
{
    int child = model->tip, section = 0;
    for (; child != link; child = model->link[child].parent) section = model->link[child].mount;
    return section < 0 ? NULL : &model->link[link].section[section].shape;
}

/* Does it turn what carries the tip? A sliding joint does not, nor does a mode whose rotation is zero there. */
static bool turns(const struct model *model, const struct variable *known)
{
    const struct link_model *lm = &model->link[known->owner];
    if (!is_elastic(known)) return variable_dimension(model, known->of, known->owner, known->k) != DISTANCE;
    const struct section *section = section_towards_tip(model, known->owner);
    if (section == NULL) return false;
    const double *rotation = section->Lambda + 3 * known->k;
    return lm->body->hinge_moves || rotation[0] != 0 || rotation[1] != 0 || rotation[2] != 0;
}

/* A translation, or its rate, of a floating tree: without friction and springs, in a uniform field of gravity */
static bool is_floating(const struct model *model, const struct variable *known)
{
    const struct joint *joint = &model->robot->link[known->owner].joint;
    if (is_elastic(known) || model->link[known->owner].parent >= 0) return false;
    return known->k < (is_position(known) ? joint_quaternion(joint) : joint_omega(joint));
}

/* Does a mode move the tip of its own link, u = Phi eta - 1/2 eta' H eta e_x? */
static bool displaces(const struct body *body, int mode)
{
    const double *Phi = body->tip.Phi + 3 * mode;
    if (body->hinge_moves || Phi[0] != 0 || Phi[1] != 0 || Phi[2] != 0) return true;
    for (int k = 0; body->tip.H != NULL && k < body->m; k++)
        if (body->tip.H[PADDED(body->m) * mode + k] != 0) return true;
    return false;
}

/* ---- unknowns ---------------------------------------------------------------------------------------------------------- */

bool depends_itself(const struct structure *structure, const struct variable *unknown, const struct variable *known)
{
    (void)structure;
    return known->reference == unknown->reference;
}

bool depends_all(const struct structure *structure, const struct variable *unknown, const struct variable *known)
{
    (void)structure, (void)unknown, (void)known;
    return true;
}

/* A component of 1/2 q o (0, omega): the other components of q, and omega */
bool depends_quaternion_rate(const struct structure *structure, const struct variable *unknown,
                             const struct variable *known)
{
    const struct joint *joint = &structure->model->robot->link[unknown->owner].joint;
    if (known->owner != unknown->owner) return false;
    if (known->of->count == POSITIONS) return known->k >= joint_quaternion(joint) && known->k != unknown->k;
    return known->of->count == VELOCITIES && known->of->is_state && known->k >= joint_omega(joint);
}

/* Accelerations and reactions of a link: all that accelerates together with it or is attached outward of it, and the prescribed
   motion inward of that, or wherever loops and actuators may be attached. */
static bool couples(const struct structure *s, int link, const struct variable *known)
{
    const struct robot *robot = s->model->robot;
    const bool joined = robot->n_loops > 0 || robot->n_actuators > 0, free = s->group[link] >= 0;
    if (joined && (!free || is_prescribed(known))) return true;
    if (!joined && is_position_or_velocity(known) && is_floating(s->model, known)) return false;
    if (known->of->owner == ACTUATOR) {
        const struct actuator *a = &robot->actuator[known->owner];
        return group_of(s->group, a->from.link) == s->group[link] || group_of(s->group, a->to.link) == s->group[link];
    }
    const int base = free ? free_root(s->model, link) : link, acted = acted_link(s->model, known);
    if (free ? s->group[acted] == s->group[link] : is_outward(s->model, acted, base)) return true;
    return is_prescribed(known) && is_outward(s->model, base, acted);
}

bool depends_accelerations(const struct structure *structure, const struct variable *unknown,
                           const struct variable *known)
{
    return couples(structure, unknown->owner, known);
}

/* What a joint exerts on its link in the directions in which it moves freely follows from its own drive, friction and spring alone:
   of a rotation by a quaternion all moments, component by component; where it translates too, all forces. */
bool depends_root_moment(const struct structure *structure, const struct variable *unknown,
                         const struct variable *known)
{
    const struct joint *joint = &structure->model->robot->link[unknown->owner].joint;
    const int omega = joint_omega(joint);
    if (omega < 0) return couples(structure, unknown->owner, known);
    if (known->owner != unknown->owner || known->of->owner == ACTUATOR) return false;
    if (known->of->count == POSITIONS)
        return known->k >= joint_quaternion(joint) && (joint->given & GIVEN_STIFFNESS) != 0;
    if (known->of->count != VELOCITIES || known->k != omega + unknown->k) return false;
    return known->of->level == FORCE || (joint->given & GIVEN_VISCOUS) != 0;
}

bool depends_root_force(const struct structure *structure, const struct variable *unknown, const struct variable *known)
{
    const struct joint *joint = &structure->model->robot->link[unknown->owner].joint;
    const int omega = joint_omega(joint);
    if (omega <= 0) return couples(structure, unknown->owner, known);
    if (known->owner != unknown->owner || joint->passive) return false;
    if (known->of->count == POSITIONS) return known->k >= joint_quaternion(joint);
    return known->of->count == VELOCITIES && known->of->level == FORCE && known->k < omega;
}

/* As the accelerations of a link that the loop acts on */
bool depends_loop_force(const struct structure *structure, const struct variable *unknown, const struct variable *known)
{
    const struct loop *loop = &structure->model->robot->loop[unknown->owner];
    int link = loop->side[0].link;
    if (structure->group[link] < 0) link = loop->side[1].link;
    if (structure->group[link] < 0 && loop->plane_of >= 0) link = loop->plane_of;
    return couples(structure, link, known);
}

/* The body of a link that an elastic coordinate of the same link deforms; NULL: the known is not one */
static const struct body *deformed_body(const struct structure *s, const struct variable *unknown,
                                        const struct variable *known)
{
    const bool own = is_elastic(known) && is_position(known) && known->owner == unknown->owner;
    return own ? s->model->link[known->owner].body : NULL;
}

/* A component of u = Phi eta - 1/2 eta' H eta e_x at the tip. Where the hinge node moves, the hinge frame turns and mixes all
   components. */
bool depends_deflection(const struct structure *structure, const struct variable *unknown, const struct variable *known)
{
    const struct body *body = deformed_body(structure, unknown, known);
    const int axis = unknown->k, mode = known->k;
    if (body == NULL) return false;
    const struct section *tip = &body->tip;
    if (body->hinge_moves || tip->Phi[3 * mode + axis] != 0) return true;
    for (int k = 0; axis == 0 && tip->H != NULL && k < body->m; k++)
        if (tip->H[PADDED(body->m) * mode + k] != 0) return true;
    return false;
}

/* A component of theta = Lambda eta at the tip */
bool depends_rotation(const struct structure *structure, const struct variable *unknown, const struct variable *known)
{
    const struct body *body = deformed_body(structure, unknown, known);
    return body != NULL && (body->hinge_moves || body->tip.Lambda[3 * known->k + unknown->k] != 0);
}

/* As carries_tip(), except modes that only rotate the tip */
static bool displaces_tip(const struct structure *s, const struct variable *known)
{
    if (!carries_tip(s, known)) return false;
    if (!is_elastic(known)) return true;
    if (section_towards_tip(s->model, known->owner) == NULL) return false;
    return known->owner != s->model->tip || displaces(s->model->link[known->owner].body, known->k);
}

bool depends_tip_position(const struct structure *structure, const struct variable *unknown,
                          const struct variable *known)
{
    (void)unknown;
    return is_position(known) && displaces_tip(structure, known);
}

bool depends_tip_quaternion(const struct structure *structure, const struct variable *unknown,
                            const struct variable *known)
{
    (void)unknown;
    return is_position(known) && carries_tip(structure, known) && turns(structure->model, known);
}

bool depends_tip_velocity(const struct structure *structure, const struct variable *unknown,
                          const struct variable *known)
{
    (void)unknown;
    if (is_position(known) && is_floating(structure->model, known)) return false;
    return is_position_or_velocity(known) && displaces_tip(structure, known);
}

bool depends_tip_angular_velocity(const struct structure *structure, const struct variable *unknown,
                                  const struct variable *known)
{
    (void)unknown;
    return is_position_or_velocity(known) && carries_tip(structure, known) && turns(structure->model, known);
}

static bool can_turn(const struct link_model *lm)
{
    for (int k = 0; k < lm->joint.nv; k++)
        if (lm->joint.part[k] == TURNS) return true;
    return lm->m > 0;
}

/* Seen from the tip, turning a joint about an axis or by a quaternion turns the angular velocity of all that is inward of it, and
   nothing else */
bool depends_tip_angular_rate(const struct structure *structure, const struct variable *unknown,
                              const struct variable *known)
{
    const struct link_model *lm = &structure->model->link[known->owner];
    const struct joint *joint = &structure->model->robot->link[known->owner].joint;
    if (!depends_tip_angular_velocity(structure, unknown, known)) return false;
    if (!is_position(known) || is_elastic(known)) return true;
    if (lm->joint.several_turns && joint_quaternion(joint) < 0) return true;
    for (int i = lm->parent; i >= 0; i = structure->model->link[i].parent)
        if (can_turn(&structure->model->link[i])) return true;
    return false;
}

bool depends_tip_acceleration(const struct structure *structure, const struct variable *unknown,
                              const struct variable *known)
{
    (void)unknown;
    const int tip = structure->model->tip;
    if (structure->group[tip] < 0) return is_prescribed(known) && carries_tip(structure, known);
    return couples(structure, tip, known);
}

/* Does the coordinate move the point? A joint moves both frames of its link, a mode the tip frame alone, both all that is attached
   to the link. */
static bool moves_point(const struct model *model, const struct variable *known, const struct site *point)
{
    if (point->link != known->owner) return is_outward(model, point->link, known->owner);
    return point->kind != AT_HINGE || !is_elastic(known);
}

/* What moves both ends of an actuator does not change its length */
static bool stretches(const struct structure *s, const struct variable *known, int actuator)
{
    const struct actuator *a = &s->model->robot->actuator[actuator];
    return moves_point(s->model, known, &a->from) != moves_point(s->model, known, &a->to);
}

bool depends_actuator_length(const struct structure *structure, const struct variable *unknown,
                             const struct variable *known)
{
    return is_position(known) && stretches(structure, known, unknown->owner);
}

bool depends_actuator_rate(const struct structure *structure, const struct variable *unknown,
                           const struct variable *known)
{
    return is_position_or_velocity(known) && stretches(structure, known, unknown->owner);
}

bool variable_depends(const struct variable *unknown, const struct variable *known, const struct structure *structure)
{
    return unknown->of->depends(structure, unknown, known);
}
