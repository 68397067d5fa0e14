#include "analysis/summary.h"

#include <string.h>

#include "analysis/closure.h"
#include "analysis/failure.h"
#include "flex/beam_mass.h"
#include "flex/body.h"
#include "flex/frequencies.h"

/* ---- links ------------------------------------------------------------------------------------------------------------------------ */

static double body_mass(const struct link *link)
{
    if (link->type == BODY_RIGID) return link->rigid.mass;
    if (link->type == BODY_BEAM) return beam_rigid(&link->beam).mass;
    double mass = 0;
    for (int i = 0; i < link->nodal.n_nodes; i++) mass += link->nodal.node[i].body.mass;
    return mass;
}

static enum status summarize_links(const struct robot *robot, struct summary *summary)
{
    struct arena *arena = &summary->arena;
    summary->link = arena_allocate(arena, (size_t)robot->n_links, sizeof *summary->link);
    for (int i = 0; i < robot->n_links && !arena->failed; i++) {
        const struct link *link = &robot->link[i];
        struct link_summary *s = &summary->link[i];
        const int modes = robot_link_modes(link);
        s->mass = body_mass(link) + link->hub.mass + link->payload.mass;
        s->n_coordinates = joint_positions(&link->joint) + modes;
        s->frequency = arena_allocate(arena, (size_t)modes, sizeof(double));
        if (s->frequency != NULL) s->n_frequencies = frequencies_of_link(link, s->frequency, modes);
        if (s->n_frequencies == FREQUENCIES_NO_MEMORY) arena->failed = 1;
        summary->n += s->n_coordinates;
        summary->mass += s->mass;
    }
    return arena->failed ? STATUS_NO_MEMORY : STATUS_OK;
}

/* Mode shapes must be linearly independent. Nodal bodies should have geometric stiffness, which format 1 does not know. */
static enum status check_modes(const struct robot *robot, struct report *report)
{
    const int errors_before = report->errors;
    for (int i = 0; i < robot->n_links; i++) {
        struct arena arena = {0};
        struct body body;
        struct link link = robot->link[i];
        report_progress(report, "modes of links", i, robot->n_links);
        link.beam.foreshortening = false; /* only the modal mass is checked */
        if (robot_link_modes(&link) > 0) body_report(&link, i, body_make(&link, &arena, &body), &body, report);
        if (robot->format != 1 && link.type == BODY_NODAL && link.nodal.geometric == NULL)
            report_add(
                report, REPORT_WARNING,
                "links[%d].nodal: link '%s' has no geometric stiffness: accelerations and rotation neither stiffen nor "
                "soften it; give geometric_stiffness if it spins fast or carries large loads along its length",
                i, link.name);
        arena_release(&arena);
    }
    return report->errors == errors_before ? STATUS_OK : STATUS_BAD_ROBOT;
}

/* ---- all together ------------------------------------------------------------------------------------------------------------------- */

/* Messages with a name in front */
struct named {
    const char *name;
    struct report *report;
};

static void add_name(void *context, enum report_level level, const char *text)
{
    const struct named *named = context;
    report_add(named->report, level, "%s: %s", named->name, text);
}

static void note_with_name(void *context, const char *text)
{
    const struct named *named = context;
    report_note(named->report, "%s: %s", named->name, text);
}

enum status summary_make(const char *name, const struct robot *robot, struct report *report, struct summary *summary)
{
    struct named named = {name, report};
    struct report with_name = {
        .line = add_name, .note = note_with_name, .progress = report->progress, .context = &named};
    memset(summary, 0, sizeof *summary);
    enum status status = check_modes(robot, &with_name);
    if (status == STATUS_OK) status = summarize_links(robot, summary);
    report_progress(report, "equations of motion", 0, 1);

    struct report errors = failure_errors_only(&with_name); /* warnings of modes were reported by check_modes() */
    struct mechanism *m = &summary->mechanism;
    if (status == STATUS_OK) status = mechanism_make(robot, m, &errors);
    if (status == STATUS_OK) status = state_start(m->model, &with_name, &summary->start);
    if (status == STATUS_OK) status = closure_close(m, &summary->start, &with_name, &with_name);
    if (status == STATUS_OK)
        summary->independent = arena_allocate(&summary->arena, (size_t)m->constraints->count, sizeof(int));
    if (summary->arena.failed) status = STATUS_NO_MEMORY;
    for (int k = 0; status == STATUS_OK && k < m->constraints->n_active; k++)
        summary->independent[m->constraints->of_row[m->constraints->active[k]] - m->constraints->constraint]++;

    if (status == STATUS_OK) status = plausibility_check(robot, summary, &with_name);
    report_progress(report, "frequencies with twice the modes", 0, 1);
    if (status == STATUS_OK) status = convergence_check(robot, summary, &with_name);
    if (status != STATUS_OK && with_name.errors == 0) failure_status(&with_name, status);
    return status;
}

void summary_free(struct summary *summary)
{
    arena_release(&summary->start.arena);
    mechanism_free(&summary->mechanism);
    arena_release(&summary->arena);
}
