#include "dependencies.h"

#include "drive.h"
#include "dyn/model.h"

/* ---- the tree ---------------------------------------------------------------------------------------------------------- */

/* Is `link` the link `base`, or does it hang on it? */
static bool hangs_on(const struct model *model, int link, int base)
{
    while (link > base) link = model->link[link].parent; /* parents come first */
    return link == base;
}

static bool moves_by_itself(const struct link_model *lm)
{
    return lm->m > 0 || (lm->q >= 0 && lm->prescribed < 0);
}

/* The link nearest to the world on the way to `link` that moves by itself: everything that hangs on it accelerates together,
   and nothing beside it does. -1: the motion of `link` is prescribed. */
static int free_root(const struct model *model, int link)
{
    int root = -1;
    for (; link >= 0; link = model->link[link].parent)
        if (moves_by_itself(&model->link[link])) root = link;
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

const int *couple_links(const struct fmu *fmu, struct arena *arena)
{
    const struct model *model = fmu->model;
    int *group = model != NULL ? arena_take(arena, (size_t)model->n_links, sizeof *group) : NULL;
    if (group == NULL) return NULL;
    const struct robot *robot = model->robot;
    for (int i = 0; i < model->n_links; i++) group[i] = free_root(model, i);
    for (int i = 0; i < robot->n_loops; i++) join(model, group, robot->loop[i].between[0], robot->loop[i].between[1]);
    for (int i = 0; i < robot->n_actuators; i++)
        join(model, group, robot->actuator[i].from.link, robot->actuator[i].to.link);
    return group;
}

/* ---- knowns ------------------------------------------------------------------------------------------------------------ */

static bool is_position(enum kind kind)
{
    return kind == KIND_Q || kind == KIND_Q_IN || kind == KIND_ETA;
}

static bool is_rate(enum kind kind)
{
    return kind == KIND_QD || kind == KIND_QD_IN || kind == KIND_ETAD;
}

static bool is_prescribed(enum kind kind)
{
    return kind == KIND_Q_IN || kind == KIND_QD_IN || kind == KIND_QDD_IN;
}

/* Where a known acts. */
static int link_of(const struct model *model, const struct variable *known)
{
    return known->kind == KIND_TIP_FORCE || known->kind == KIND_TIP_TORQUE ? model->tip : known->owner;
}

/* Does it turn what the link carries? A sliding joint does not, nor does a mode whose rotation is zero at the tip. */
static bool turns(const struct model *model, const struct variable *known)
{
    const struct link_model *lm = &model->link[known->owner];
    if (known->kind != KIND_ETA && known->kind != KIND_ETAD) return lm->joint == JOINT_REVOLUTE;
    const double *rotation = lm->body->tip.Lambda + 3 * known->k;
    return lm->body->hinge_moves || rotation[0] != 0 || rotation[1] != 0 || rotation[2] != 0;
}

bool is_known(const struct variables *variables, const struct variable *variable)
{
    if (variable->causality == CAUSALITY_INPUT) return true;
    for (int s = 0; s < variables->n_states; s++)
        if (&variables->row[variables->state[s]] == variable) return true;
    return false;
}

/* ---- unknowns ---------------------------------------------------------------------------------------------------------- */

/* Component `axis` of u = Phi eta - 1/2 eta' H eta e_x, or of theta = Lambda eta, at the tip. Where the hinge node moves, the
   hinge frame turns and mixes all components. */
static bool bends(const struct body *body, enum kind kind, int axis, int mode)
{
    const struct section *tip = &body->tip;
    if (body->hinge_moves) return true;
    if (kind == KIND_ROTATION) return tip->Lambda[3 * mode + axis] != 0;
    if (tip->Phi[3 * mode + axis] != 0) return true;
    for (int k = 0; axis == 0 && tip->H != NULL && k < body->m; k++)
        if (tip->H[body->m * mode + k] != 0) return true;
    return false;
}

/* Accelerations and reactions of a link: all that accelerates together with it or is carried by it, and the prescribed motion
   of what carries that, or of what loops and actuators may hold on to. */
static bool couples(const struct model *model, const int *group, int link, const struct variable *known)
{
    const struct robot *robot = model->robot;
    const bool joined = robot->n_loops > 0 || robot->n_actuators > 0, free = group[link] >= 0;
    if (joined && (!free || is_prescribed(known->kind))) return true;
    if (known->kind == KIND_ACTUATOR_FORCE) {
        const struct actuator *a = &robot->actuator[known->owner];
        return group_of(group, a->from.link) == group[link] || group_of(group, a->to.link) == group[link];
    }
    const int base = free ? free_root(model, link) : link, acted = link_of(model, known);
    if (free ? group[acted] == group[link] : hangs_on(model, acted, base)) return true;
    return is_prescribed(known->kind) && hangs_on(model, base, acted);
}

/* A link whose accelerations a loop's force takes part in */
static int free_side(const struct model *model, const int *group, int loop)
{
    const int *between = model->robot->loop[loop].between;
    return group[between[0]] >= 0 ? between[0] : between[1];
}

/* Does the coordinate move the point? A joint moves both frames of its link, a mode the tip frame alone, both all that hangs on
   the link. */
static bool carries(const struct model *model, const struct variable *known, const struct actuator_point *point)
{
    if (point->link != known->owner) return hangs_on(model, point->link, known->owner);
    return point->frame == POINT_TIP || (known->kind != KIND_ETA && known->kind != KIND_ETAD);
}

/* What carries both ends of an actuator changes nothing between them */
static bool stretches(const struct model *model, const struct variable *known, int actuator)
{
    const struct actuator *a = &model->robot->actuator[actuator];
    return carries(model, known, &a->from) != carries(model, known, &a->to);
}

static bool robot_depends(const struct model *model, const int *group, const struct variable *unknown,
                          const struct variable *known)
{
    const enum kind kind = known->kind;
    const bool inboard = kind != KIND_ACTUATOR_FORCE && hangs_on(model, model->tip, known->owner);
    switch (unknown->kind) {
    case KIND_ACTUATOR_LENGTH: return is_position(kind) && stretches(model, known, unknown->owner);
    case KIND_ACTUATOR_RATE: return (is_position(kind) || is_rate(kind)) && stretches(model, known, unknown->owner);
    case KIND_DEFLECTION:
    case KIND_ROTATION:
        return kind == KIND_ETA && known->owner == unknown->owner &&
               bends(model->link[known->owner].body, unknown->kind, unknown->k, known->k);
    case KIND_TIP_POSITION: return inboard && is_position(kind);
    case KIND_TIP_QUATERNION: return inboard && is_position(kind) && turns(model, known);
    case KIND_TIP_VELOCITY: return inboard && (is_position(kind) || is_rate(kind));
    case KIND_TIP_ANGULAR_VELOCITY: return inboard && (is_position(kind) || is_rate(kind)) && turns(model, known);
    case KIND_TIP_ACCELERATION:
        if (group[model->tip] < 0) return inboard && is_prescribed(kind);
        return couples(model, group, model->tip, known);
    case KIND_QDD:
    case KIND_ETADD:
    case KIND_TAU_OUT:
    case KIND_ROOT_FORCE:
    case KIND_ROOT_MOMENT: return couples(model, group, unknown->owner, known);
    case KIND_LOOP_FORCE: return couples(model, group, free_side(model, group, unknown->owner), known);
    default: return known->reference == unknown->reference; /* a state: itself */
    }
}

bool depends_on(const struct fmu *fmu, const int *group, const struct variable *unknown, const struct variable *known)
{
    return fmu->drive != NULL ? drive_depends(fmu->drive, fmu->variables, unknown, known)
                              : robot_depends(fmu->model, group, unknown, known);
}
