#include "dyn/sites.h"

#include <string.h>

#include "math/vec.h"

/* ---- sections ---------------------------------------------------------------------------------------------------- */

enum { TIP }; /* the first section of every flexible link */

/* Site number n of the robot, and whether forces pass through it; NULL: there are no more */
static const struct site *site_number(const struct robot *robot, int n, bool *acts)
{
    *acts = true;
    if (n < robot->n_links) return &robot->link[n].mount;
    n -= robot->n_links;
    if (n < robot->n_sites) return &robot->site[n];
    n -= robot->n_sites;
    if (n >= robot->n_frames) return NULL;
    *acts = robot->frame[n].load || robot->every_frame_loaded;
    return &robot->frame[n].site;
}

/* The section of a flexible link at a site, -1: O; n_all_sections: it is not made yet */
static int find_section(const struct link *link, const struct link_model *lm, const struct site *site)
{
    int i = TIP;
    switch (robot_site_section(link, site)) {
    case AT_WORLD:
    case AT_HINGE: return -1;
    case AT_TIP: return TIP;
    case AT_STATION:
    case AT_NODE: break;
    }
    do i++;
    while (i < lm->n_all_sections &&
           !(link->type == BODY_BEAM ? lm->section[i].shape.x[0] == site->x : lm->section[i].node == site->node));
    return i;
}

/* Adds the sections at sites through which forces pass, or those of the others */
static enum status add_sections(struct model *model, int index, bool acting)
{
    const struct robot *robot = model->robot;
    const struct link *link = &robot->link[index];
    struct link_model *lm = &model->link[index];
    const struct site *site;
    bool acts;
    for (int n = 0; (site = site_number(robot, n, &acts)) != NULL; n++) {
        if (site->link != index || acts != acting || find_section(link, lm, site) < lm->n_all_sections) continue;
        struct section_model *section = &lm->section[lm->n_all_sections++];
        section->node = site->node;
        const enum status status = body_section(link, site->x, site->node, &model->arena, &section->shape);
        if (status != STATUS_OK) return status;
    }
    return STATUS_OK;
}

enum status sites_make_sections(struct model *model, int index)
{
    struct link_model *lm = &model->link[index];
    const struct site *site;
    size_t most = 1;
    bool acts;
    for (int n = 0; (site = site_number(model->robot, n, &acts)) != NULL; n++) most += site->link == index;
    lm->section = arena_allocate(&model->arena, most, sizeof *lm->section);
    if (lm->section == NULL) return STATUS_NO_MEMORY;
    lm->section[TIP] = (struct section_model){.shape = lm->body->tip, .has_inertia = lm->has_payload};
    lm->n_all_sections = 1;
    enum status status = add_sections(model, index, true);
    lm->n_sections = lm->n_all_sections;
    if (status == STATUS_OK) status = add_sections(model, index, false);
    return status;
}

/* ---- anchors ----------------------------------------------------------------------------------------------------- */

struct anchor sites_anchor(const struct model *model, const struct site *site)
{
    struct anchor anchor = {.link = site->link, .section = -1, .at = site->at};
    double I[9];
    if (site->link >= 0) {
        const struct link *link = &model->robot->link[site->link];
        const struct link_model *lm = &model->link[site->link];
        if (lm->body != NULL) {
            anchor.section = find_section(link, lm, site);
        } else {
            struct pose pose = lm->tip; /* of the site in O, before its offset */
            if (site->type != AT_TIP) {
                pose = (struct pose){.p = {site->type == AT_STATION ? site->x : 0}};
                identity3(pose.R);
            }
            for (int i = 0; site->type == AT_NODE && i < 3; i++)
                pose.p[i] =
                    link->nodal.node[site->node].position[i] - link->nodal.node[link->nodal.hinge_node].position[i];
            anchor.at = dyn_pose_compose(&pose, &site->at);
        }
    }
    identity3(I);
    anchor.offset = memcmp(anchor.at.R, I, sizeof I) != 0 || dot3(anchor.at.p, anchor.at.p) != 0;
    return anchor;
}

enum status sites_make_anchors(struct model *model)
{
    const struct robot *robot = model->robot;
    struct arena *arena = &model->arena;
    model->site = arena_allocate(arena, (size_t)robot->n_sites, sizeof *model->site);
    model->frame = arena_allocate(arena, (size_t)robot->n_frames, sizeof *model->frame);
    model->strain = arena_allocate(arena, (size_t)robot->n_frames, sizeof *model->strain);
    if (arena->failed) return STATUS_NO_MEMORY;
    for (int i = 0; i < robot->n_sites; i++) model->site[i] = sites_anchor(model, &robot->site[i]);
    enum status status = STATUS_OK;
    for (int i = 0; i < robot->n_frames && status == STATUS_OK; i++) {
        const struct robot_frame *frame = &robot->frame[i];
        model->frame[i] = sites_anchor(model, &frame->site);
        if (!frame->gauge || model->link[frame->site.link].body == NULL) continue;
        const struct beam *beam = &robot->link[frame->site.link].beam;
        status = strain_make(beam, frame->site.type == AT_TIP ? beam->length : frame->site.x, arena, &model->strain[i]);
    }
    return status;
}

bool model_frame_acts(const struct model *model, int i)
{
    const struct anchor *anchor = &model->frame[i];
    return anchor->section < model->link[anchor->link].n_sections;
}

void model_strain(const struct model *model, int i, const double *eta, double strain[STRAINS])
{
    memset(strain, 0, STRAINS * sizeof *strain);
    for (int k = 0; model->strain[i] != NULL && k < model->link[model->frame[i].link].m; k++)
        for (int r = 0; r < STRAINS; r++) strain[r] += eta[k] * model->strain[i][k][r];
}
