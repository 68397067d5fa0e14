/* Column of the variable table: which knowns (inputs and states) an unknown (output, state derivative) depends on. Importers take
   the sparsity of Jacobians from this, where a missing dependency is a silent zero: so a dependency is declared unless the
   structure of the robot excludes it for any values of states, inputs and parameters. */
#include "sim/variables_row.h"

struct structure {
    const struct model *model;
    int *
        group; /* [link]: a number that links whose accelerations depend on each other share; -1: the motion is prescribed */
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
    return lm->m > 0 || (lm->q >= 0 && lm->prescribed < 0);
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

/* A loop or an actuator makes one group of two */
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
    for (int i = 0; i < robot->n_loops; i++) join(model, group, robot->loop[i].between[0], robot->loop[i].between[1]);
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
static bool moves_tip(const struct structure *s, const struct variable *known)
{
    return known->of->owner != ACTUATOR && is_outward(s->model, s->model->tip, known->owner);
}

/* Does it turn what is attached to the link? A sliding joint does not, nor does a mode whose rotation is zero at the tip. */
static bool turns(const struct model *model, const struct variable *known)
{
    const struct link_model *lm = &model->link[known->owner];
    if (!is_elastic(known)) return lm->joint == JOINT_REVOLUTE;
    const double *rotation = lm->body->tip.Lambda + 3 * known->k;
    return lm->body->hinge_moves || rotation[0] != 0 || rotation[1] != 0 || rotation[2] != 0;
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

/* Accelerations and reactions of a link: all that accelerates together with it or is attached outward of it, and the prescribed
   motion inward of that, or wherever loops and actuators may be attached. */
static bool couples(const struct structure *s, int link, const struct variable *known)
{
    const struct robot *robot = s->model->robot;
    const bool joined = robot->n_loops > 0 || robot->n_actuators > 0, free = s->group[link] >= 0;
    if (joined && (!free || is_prescribed(known))) return true;
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

/* As the accelerations of a link that the loop acts on */
bool depends_loop_force(const struct structure *structure, const struct variable *unknown, const struct variable *known)
{
    const int *between = structure->model->robot->loop[unknown->owner].between;
    return couples(structure, structure->group[between[0]] >= 0 ? between[0] : between[1], known);
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
        if (tip->H[body->m * mode + k] != 0) return true;
    return false;
}

/* A component of theta = Lambda eta at the tip */
bool depends_rotation(const struct structure *structure, const struct variable *unknown, const struct variable *known)
{
    const struct body *body = deformed_body(structure, unknown, known);
    return body != NULL && (body->hinge_moves || body->tip.Lambda[3 * known->k + unknown->k] != 0);
}

bool depends_tip_position(const struct structure *structure, const struct variable *unknown,
                          const struct variable *known)
{
    (void)unknown;
    return is_position(known) && moves_tip(structure, known);
}

bool depends_tip_quaternion(const struct structure *structure, const struct variable *unknown,
                            const struct variable *known)
{
    (void)unknown;
    return is_position(known) && moves_tip(structure, known) && turns(structure->model, known);
}

bool depends_tip_velocity(const struct structure *structure, const struct variable *unknown,
                          const struct variable *known)
{
    (void)unknown;
    return is_position_or_velocity(known) && moves_tip(structure, known);
}

bool depends_tip_angular_velocity(const struct structure *structure, const struct variable *unknown,
                                  const struct variable *known)
{
    (void)unknown;
    return is_position_or_velocity(known) && moves_tip(structure, known) && turns(structure->model, known);
}

bool depends_tip_acceleration(const struct structure *structure, const struct variable *unknown,
                              const struct variable *known)
{
    (void)unknown;
    const int tip = structure->model->tip;
    if (structure->group[tip] < 0) return is_prescribed(known) && moves_tip(structure, known);
    return couples(structure, tip, known);
}

/* Does the coordinate move the point? A joint moves both frames of its link, a mode the tip frame alone, both all that is attached
   to the link. */
static bool moves_point(const struct model *model, const struct variable *known, const struct actuator_point *point)
{
    if (point->link != known->owner) return is_outward(model, point->link, known->owner);
    return point->frame == POINT_TIP || !is_elastic(known);
}

/* What moves both ends of an actuator changes nothing between them */
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
