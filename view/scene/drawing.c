#include "view/scene/drawing.h"

#include <math.h>
#include <string.h>

#include "math/vec.h"
#include "view/scene/cover.h"
#include "view/scene/solids.h"

/* Colors that remain distinct with color-blindness, as in view/page/palette.js */
static const unsigned char color[][3] = {
    [PAINT_FLEXIBLE] = {43, 123, 186}, [PAINT_RIGID] = {135, 147, 160},   [PAINT_ARM] = {154, 167, 180},
    [PAINT_DRIVEN] = {60, 84, 108},    [PAINT_PASSIVE] = {205, 213, 221}, [PAINT_PRESCRIBED] = {204, 121, 167},
    [PAINT_BARREL] = {230, 159, 0},    [PAINT_ROD] = {185, 194, 203},     [PAINT_LOOP] = {213, 94, 0},
    [PAINT_PAYLOAD] = {227, 192, 76},  [PAINT_TIP] = {213, 94, 0},        [PAINT_GROUND] = {93, 107, 120},
};
enum { GRID = 12, FONT_SIZE = 13, LEGEND_WIDTH = 200, LEGEND_HEIGHT = 84 };

struct page {
    const struct scene *scene;
    const struct drawing *drawing;
    struct camera camera;
    double scale, shift[2]; /* pixels = scale * place on the page + shift */
    FILE *stream;
};

/* ---- the camera ---------------------------------------------------------------------------------------------------------- */

static void to_pixels(const struct page *page, const double point[3], double pixel[2])
{
    camera_project(&page->camera, point, pixel);
    for (int i = 0; i < 2; i++) pixel[i] = page->scale * pixel[i] + page->shift[i];
}

struct bounds {
    double low[3], high[3];
};

static void widen(struct bounds *bounds, const double *p, int n)
{
    for (int i = 0; i < n; i++) {
        bounds->low[i] = fmin(bounds->low[i], p[i]);
        bounds->high[i] = fmax(bounds->high[i], p[i]);
    }
}

static const struct bounds nothing = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

/* The eye looks at the middle of the robot, from a distance of three times its size; the page then fits what it sees */
static void aim(struct page *page, const struct solids *solids)
{
    const double margin = page->drawing->names ? 46 : 16;
    struct bounds seen = nothing;
    page->scale = 1;
    page->shift[0] = page->shift[1] = 0;
    for (int f = 0; f < solids->n; f++)
        for (int k = 0; k < solids->face[f].n; k++) {
            double at[2];
            to_pixels(page, solids->face[f].corner[k], at);
            widen(&seen, at, 2);
        }
    const double size[2] = {page->drawing->width, page->drawing->height};
    page->scale = INFINITY;
    for (int i = 0; i < 2; i++)
        page->scale = fmin(page->scale, (size[i] - 2 * margin) / fmax(seen.high[i] - seen.low[i], 1e-9));
    for (int i = 0; i < 2; i++) page->shift[i] = 0.5 * size[i] - page->scale * 0.5 * (seen.low[i] + seen.high[i]);
}

static struct camera make_camera(const struct scene *scene, const double *q)
{
    struct bounds all = nothing;
    for (int i = 0; i < scene->mechanism->model->n_links; i++) {
        const struct pose O = scene_hinge_frame(scene, i), T = scene_tip_frame(scene, i);
        widen(&all, O.p, 3);
        widen(&all, T.p, 3);
        for (int k = 0; k < scene->link[i].n_points; k++) widen(&all, scene_point_pose(scene, q, i, k).p, 3);
    }
    struct camera camera = {.view = scene_view(scene), .distance = 3 * scene->size};
    for (int i = 0; i < 3; i++) camera.target[i] = 0.5 * (all.low[i] + all.high[i]);
    return camera;
}

/* ---- pieces ----------------------------------------------------------------------------------------------------------------- */

static void write_text(FILE *stream, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '<') fputs("&lt;", stream);
        else if (*text == '>') fputs("&gt;", stream);
        else if (*text == '&') fputs("&amp;", stream);
        else putc(*text, stream);
    }
}

/* 1, 2 or 5 times a power of ten, at least an eighth of the robot's size */
static double grid_step(const struct page *page)
{
    const double x = page->scene->size / 8, power = pow(10, floor(log10(x))), digits = x / power * (1 - 1e-9);
    return power * (digits <= 1 ? 1 : digits <= 2 ? 2 : digits <= 5 ? 5 : 10);
}

/* A grid on the ground: normal to `up`, at the lowest height of the robot or of the world's origin */
static void write_grid(const struct page *page, const struct solids *solids)
{
    const double *up = page->camera.view.up, step = grid_step(page);
    double side[3], front[3], lowest = 0, origin[3];
    for (int f = 0; f < solids->n; f++)
        for (int k = 0; k < solids->face[f].n; k++) lowest = fmin(lowest, dot3(up, solids->face[f].corner[k]));
    copy3(page->camera.view.right, side);
    axpy3(-dot3(side, up), up, side);
    cross3(side, up, front);
    copy3(page->camera.target, origin);
    axpy3(lowest - dot3(up, origin), up, origin);
    for (int i = -GRID / 2; i <= GRID / 2; i++)
        for (int direction = 0; direction < 2; direction++) {
            const double *along = direction == 0 ? side : front, *across = direction == 0 ? front : side;
            double a[3], b[3], from[2], to[2];
            for (int k = 0; k < 3; k++) {
                a[k] = origin[k] + step * (i * across[k] - 0.5 * GRID * along[k]);
                b[k] = origin[k] + step * (i * across[k] + 0.5 * GRID * along[k]);
            }
            to_pixels(page, a, from);
            to_pixels(page, b, to);
            fprintf(page->stream, "<path class=\"grid\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", from[0], from[1], to[0],
                    to[1]);
        }
}

/* In the lower left corner: the axes of the world, the direction of gravity, and the step of the grid */
static void write_axes(const struct page *page)
{
    static const char *const kind[] = {"x axis", "y axis", "z axis"};
    const double corner[2] = {44, page->drawing->height - 40}, size = 28;
    const double *g = page->scene->mechanism->model->gravity, strength = sqrt(dot3(g, g));
    for (int k = 0; k < 4; k++) {
        double direction[3] = {k == 0, k == 1, k == 2}, point[3], at[2], origin[2];
        for (int i = 0; k == 3 && i < 3; i++) direction[i] = strength > 0 ? g[i] / strength : 0;
        if (dot3(direction, direction) == 0) continue;
        for (int i = 0; i < 3; i++) point[i] = page->camera.target[i] + 1e-3 * page->scene->size * direction[i];
        camera_project(&page->camera, page->camera.target, origin);
        camera_project(&page->camera, point, at);
        const double start = k == 3 ? 56 : 0;
        double d[2];
        for (int i = 0; i < 2; i++) d[i] = (at[i] - origin[i]) / (1e-3 * page->scene->size);
        const double x = corner[0] + start, y = corner[1] - (k == 3 ? 14 : 0);
        fprintf(page->stream, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1fm%.1f %.1fL%.1f %.1fl%.1f %.1f\"/>\n",
                k < 3 ? kind[k] : "g axis", x, y, x + size * d[0], y + size * d[1], -6 * d[0] + 4 * d[1],
                -6 * d[1] - 4 * d[0], x + size * d[0], y + size * d[1], -6 * d[0] - 4 * d[1], -6 * d[1] + 4 * d[0]);
        fprintf(page->stream, "<text class=\"small\" x=\"%.1f\" y=\"%.1f\">%c</text>\n", x + (size + 10) * d[0],
                y + (size + 10) * d[1] + 4, "xyzg"[k]);
    }
    fprintf(page->stream, "<text class=\"small\" x=\"%.1f\" y=\"%.1f\">grid %g m</text>\n", corner[0] + 110,
            corner[1] + 4, grid_step(page));
}

/* ---- names -------------------------------------------------------------------------------------------------------------------- */

struct names {
    int n;
    struct label *label;
};

static void add_name(struct names *names, const struct page *page, const char *text, const double p[3], double away,
                     bool slanted)
{
    struct label *label = &names->label[names->n++];
    *label = (struct label){.text = text, .slanted = slanted, .away = 7 + page->scale * away};
    to_pixels(page, p, label->at);
}

static void add_all_names(struct names *names, const struct page *page, const double *q)
{
    const struct scene *scene = page->scene;
    const struct model *model = scene->mechanism->model;
    const struct robot *robot = model->robot;
    for (int i = 0; i < robot->n_links; i++) {
        const struct scene_link *link = &scene->link[i];
        if (link->n_points < 2) continue;
        double middle[3];
        const int last = link->n_points - 1;
        const struct pose a = scene_point_pose(scene, q, i, last / 2),
                          b = scene_point_pose(scene, q, i, (last + 1) / 2);
        for (int k = 0; k < 3; k++) middle[k] = 0.5 * (a.p[k] + b.p[k]);
        add_name(names, page, robot->link[i].name, middle, 0.5 * link->point[last / 2].height, false);
    }
    for (int i = 0; i < scene->n_lines; i++) {
        const struct force_element *line = scene->line[i];
        const struct pose a = scene_anchor(scene, &line->anchor[0]), b = scene_anchor(scene, &line->anchor[1]);
        double middle[3];
        for (int k = 0; k < 3; k++) middle[k] = 0.5 * (a.p[k] + b.p[k]);
        add_name(names, page, line->name, middle, scene->nominal, false);
    }
    const struct pose tip = scene_tip_frame(scene, model->tip);
    add_name(names, page, "tip", tip.p, scene->nominal, false);
    for (int i = 0; i < robot->n_links; i++) {
        const bool own = strcmp(robot->link[i].joint.name, robot->link[i].name) != 0 || scene->link[i].n_points < 2;
        if (model->link[i].joint.nv == 0 || !own) continue;
        const bool floats = model->link[i].joint.nv == MOST_VELOCITIES;
        const struct pose C = floats ? scene_hinge_frame(scene, i) : scene_joint_frame(scene, i);
        add_name(names, page, robot->link[i].joint.name, C.p, solids_joint_size(scene, i), true);
    }
    for (int i = 0; i < robot->n_loops; i++) {
        const struct pose p = scene_anchor(scene, &model->site[model->robot->loop[i].site]);
        add_name(names, page, robot->loop[i].name, p.p, scene->nominal, false);
    }
}

/* A name, with a thin line to its object if it is not close to it */
static void write_name(const struct page *page, const struct label *label)
{
    const struct box *box = &label->box;
    const double x = fmin(fmax(label->at[0], box->x), box->x + box->width);
    const double y = fmin(fmax(label->at[1], box->y), box->y + box->height);
    if (hypot(x - label->at[0], y - label->at[1]) > label->away + 0.6 * FONT_SIZE)
        fprintf(page->stream, "<path class=\"lead\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", label->at[0], label->at[1], x, y);
    fprintf(page->stream, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", label->slanted ? "name joint" : "name",
            box->x + 0.5 * box->width, box->y + 0.95 * FONT_SIZE);
    write_text(page->stream, label->text);
    fputs("</text>\n", page->stream);
}

/* Names stay clear of the robot and of the axes in the corner */
static enum status write_names(const struct page *page, const double *q, const struct solids *solids)
{
    const struct robot *robot = page->scene->mechanism->robot;
    const int width = page->drawing->width, height = page->drawing->height;
    const double top = height - LEGEND_HEIGHT;
    const double legend[4][2] = {{0, top}, {LEGEND_WIDTH, top}, {LEGEND_WIDTH, height}, {0, height}};
    const size_t most = (size_t)(2 * robot->n_links + page->scene->n_lines + robot->n_loops + 1);
    struct arena arena = {0};
    struct names names = {.label = arena_allocate(&arena, most, sizeof *names.label)};
    struct cover cover = cover_make(width, height, &arena);
    if (!arena.failed) {
        cover_add(&cover, 4, legend);
        for (int f = 0; f < solids->n; f++) {
            double corner[MOST_CORNERS][2];
            for (int k = 0; k < solids->face[f].n; k++) to_pixels(page, solids->face[f].corner[k], corner[k]);
            cover_add(&cover, solids->face[f].n, (const double(*)[2])corner);
        }
        add_all_names(&names, page, q);
        labels_place(names.label, names.n, FONT_SIZE, width, height, &cover);
        for (int i = 0; i < names.n; i++)
            if (names.label[i].placed) write_name(page, &names.label[i]);
    }
    const enum status status = arena.failed ? STATUS_NO_MEMORY : STATUS_OK;
    arena_release(&arena);
    return status;
}

/* ---- the picture ----------------------------------------------------------------------------------------------------------------- */

static const char style[] =
    ".limber-picture{background:#fff}"
    ".limber-picture path{stroke-width:.6;stroke-linejoin:round;fill:none}"
    ".limber-picture .grid{stroke:#dbe2e9;stroke-width:.8}"
    ".limber-picture .axis{stroke-width:2.4;stroke-linecap:round}"
    ".limber-picture .x{stroke:#d55e00}.limber-picture .y{stroke:#009e73}.limber-picture .z{stroke:#0072b2}"
    ".limber-picture .g{stroke:#5d6b78}"
    ".limber-picture .lead{stroke:#7a8794;stroke-width:.8}"
    ".limber-picture text{font-size:13px;text-anchor:middle;fill:#16222e;stroke:none}"
    ".limber-picture .name{paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round}"
    ".limber-picture .joint{font-style:italic}"
    "@media screen and (prefers-color-scheme:dark){.limber-picture{background:#12181f}.limber-picture "
    ".grid{stroke:#2c3946}"
    ".limber-picture text{fill:#e8edf2}.limber-picture .name{stroke:#12181f}.limber-picture .lead,.limber-picture "
    ".g{stroke:#a3b2c0}}";

enum status drawing_write(struct scene *scene, const double *q, const struct drawing *drawing, FILE *stream)
{
    struct page page = {.scene = scene, .drawing = drawing, .stream = stream};
    struct solids solids;
    scene_pose(scene, q);
    page.camera = make_camera(scene, q);
    solids_make(scene, q, &page.camera, &solids);
    enum status status = solids.failed ? STATUS_NO_MEMORY : STATUS_OK;
    if (status == STATUS_OK) {
        aim(&page, &solids);
        fprintf(stream,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"limber-picture\" viewBox=\"0 0 %d %d\" width=\"%d\" "
                "height=\"%d\" role=\"img\" font-family=\"DejaVu Sans,system-ui,sans-serif\">\n<title>",
                drawing->width, drawing->height, drawing->width, drawing->height);
        write_text(stream, scene->mechanism->robot->name);
        fprintf(stream, "</title>\n<style>%s</style>\n", style);
        write_grid(&page, &solids);
        for (int f = 0; f < solids.n; f++) {
            const struct face *face = &solids.face[f];
            const double light = 0.62 + 0.44 * face->light;
            int rgb[3];
            for (int i = 0; i < 3; i++) rgb[i] = (int)fmin(255, light * color[face->paint][i]);
            fprintf(stream, "<path style=\"fill:#%02x%02x%02x;stroke:#%02x%02x%02x\" d=\"", rgb[0], rgb[1], rgb[2],
                    rgb[0], rgb[1], rgb[2]);
            for (int k = 0; k < face->n; k++) {
                double at[2];
                to_pixels(&page, face->corner[k], at);
                fprintf(stream, "%c%.1f %.1f", k == 0 ? 'M' : 'L', at[0], at[1]);
            }
            fputs("z\"/>\n", stream);
        }
        if (drawing->names) {
            write_axes(&page);
            status = write_names(&page, q, &solids);
        }
        fputs("</svg>\n", stream);
    }
    solids_free(&solids);
    return status;
}
