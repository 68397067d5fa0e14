/* A result inside the page: the numbers that the viewer needs, compressed. */
#include <math.h>
#include <string.h>
#include <zlib.h>

#include "analysis/names.h"
#include "robot/nearest.h"
#include "view.h"

/* Rows beyond these are thinned out evenly: of positions, and of the columns for plots */
enum { MOST_ROWS = 20000, MOST_PLOT_ROWS = 10000 };
enum { LISTED = 6 };

/* ---- bytes -------------------------------------------------------------------------------------------------------------------- */

struct bytes {
    unsigned char *byte;
    size_t size, capacity;
};

/* The bytes of numbers plane by plane, the first bytes of all of them first: they compress better so */
static void add_planes(struct bytes *to, const void *number, size_t count, size_t size)
{
    const unsigned char *from = number;
    for (size_t b = 0; b < size; b++)
        for (size_t i = 0; i < count; i++) to->byte[to->size++] = from[size * i + b];
}

/* Compressed, and written in base 64 */
static char *compressed(const struct bytes *bytes, struct arena *arena)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uLongf size = compressBound(bytes->size);
    unsigned char *byte = arena_allocate(arena, size, 1);
    if (byte == NULL || compress2(byte, &size, bytes->byte, bytes->size, Z_BEST_COMPRESSION) != Z_OK) return NULL;
    char *text = arena_allocate(arena, 4 * ((size + 2) / 3) + 1, 1), *to = text;
    for (size_t i = 0; text != NULL && i < size; i += 3) {
        const size_t left = size - i;
        const unsigned bits = (unsigned)byte[i] << 16 | (left > 1 ? (unsigned)byte[i + 1] << 8 : 0u) |
                              (left > 2 ? (unsigned)byte[i + 2] : 0u);
        for (int k = 0; k < 4; k++) *to++ = k > (int)left ? '=' : digit[bits >> (18 - 6 * k) & 63];
    }
    return text;
}

/* ---- columns ------------------------------------------------------------------------------------------------------------------ */

static int find_column(const struct csv *csv, const char *name)
{
    for (int i = 0; csv != NULL && i < csv->n_columns; i++)
        if (strcmp(csv->name[i], name) == 0) return i;
    return -1;
}

/* Row i of `count` rows that are spread evenly over those of the table, the last one included */
static const double *row_of(const struct csv *csv, int i, int count)
{
    const long row = count > 1 ? lround((double)i * (csv->n_rows - 1) / (count - 1)) : 0;
    return csv->number + (size_t)csv->n_columns * (size_t)row;
}

/* A column at a time, linear between rows, constant before the first and after the last */
static double column_at(const struct csv *csv, int column, double t)
{
    int low = 0, high = csv->n_rows - 1;
    const int n = csv->n_columns;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (csv->number[n * middle] <= t) low = middle;
        else high = middle - 1;
    }
    const double *a = csv->number + (size_t)n * (size_t)low, *b = low + 1 < csv->n_rows ? a + n : a;
    const double s = b > a ? fmin(fmax((t - a[0]) / (b[0] - a[0]), 0), 1) : 0;
    return a[column] + s * (b[column] - a[column]);
}

/* Where a position comes from */
struct source {
    const struct csv *csv; /* NULL: it is not given */
    int column;
};

static bool is_joint(const struct model *model, int q, bool *prescribed)
{
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        *prescribed = lm->prescribed >= 0;
        if (q >= lm->q && q < lm->q + lm->joint.nq) return true;
    }
    return false;
}

struct missing {
    int joints, elastic;
    char names[LISTED * 208]; /* of joints: the first ones */
};

static bool report_missing(const struct model *model, const struct csv *csv, const struct missing *missing,
                           const char *first, bool prescribed, struct report *report)
{
    if (missing->joints == 0 && missing->elastic > 0)
        report_add(report, REPORT_WARNING,
                   "%s: %d columns of elastic coordinates (such as %s) are missing: links are drawn undeformed where "
                   "they have none",
                   csv->file, missing->elastic, first);
    if (missing->joints == 0) return true;
    const char *meant = nearest(first, csv->n_columns, (const char *const *)csv->name);
    char hint[512] = "";
    if (prescribed)
        snprintf(hint, sizeof hint, "; %.200s is prescribed, an input of the simulation: give it with --inputs CSV",
                 first);
    else if (meant != NULL) snprintf(hint, sizeof hint, "; is column %.200s meant for %.200s?", meant, first);
    report_add(report, REPORT_ERROR,
               "%s: no column for %d joint position%s of %s: %s%s. Columns have the names of the FMU's variables%s",
               csv->file, missing->joints, missing->joints == 1 ? "" : "s", model->robot->name, missing->names,
               missing->joints > LISTED ? ", ..." : "", hint);
    return false;
}

/* The columns of all positions; those of joints must exist */
static struct source *find_sources(const struct model *model, const struct csv *csv, const struct csv *inputs,
                                   struct arena *arena, struct report *report)
{
    struct source *source = arena_allocate(arena, (size_t)model->nq, sizeof *source);
    struct missing missing = {0};
    char name[NAME_SIZE], first[NAME_SIZE] = "";
    bool first_prescribed = false;
    for (int q = 0; source != NULL && q < model->nq; q++) {
        bool prescribed;
        const bool joint = is_joint(model, q, &prescribed);
        name_coordinate(model, POSITION, q, name);
        const int own = find_column(csv, name), given = own < 0 ? find_column(inputs, name) : -1;
        if (own >= 0) source[q] = (struct source){csv, own};
        else if (given >= 0) source[q] = (struct source){inputs, given};
        else {
            if (*first == '\0' || (joint && missing.joints == 0)) {
                snprintf(first, sizeof first, "%s", name);
                first_prescribed = joint && prescribed;
            }
            const size_t length = strlen(missing.names);
            missing.elastic += !joint;
            if (joint && missing.joints++ < LISTED)
                snprintf(missing.names + length, sizeof missing.names - length, "%s%.200s", length > 0 ? ", " : "",
                         name);
        }
    }
    const bool complete = source != NULL && report_missing(model, csv, &missing, first, first_prescribed, report);
    return complete ? source : NULL;
}

/* ---- the result --------------------------------------------------------------------------------------------------------------- */

/* Joint positions as doubles, elastic coordinates, which are small, as floats: which of them, null where there is no column */
static struct json_object *add_positions(const struct model *model, const struct csv *csv, const struct source *source,
                                         int rows, double *wide, float *narrow, struct bytes *bytes)
{
    struct json_object *is_wide = json_object_new_array_ext(model->nq);
    for (int q = 0; q < model->nq; q++) {
        bool prescribed;
        const bool joint = is_joint(model, q, &prescribed);
        json_object_array_add(is_wide, source[q].csv != NULL ? json_object_new_boolean(joint) : NULL);
        if (source[q].csv == NULL) continue;
        for (int i = 0; i < rows; i++) {
            const double *row = row_of(csv, i, rows);
            wide[i] = source[q].csv == csv ? row[source[q].column] : column_at(source[q].csv, source[q].column, row[0]);
            narrow[i] = (float)wide[i];
        }
        if (joint) add_planes(bytes, wide, (size_t)rows, sizeof *wide);
        else add_planes(bytes, narrow, (size_t)rows, sizeof *narrow);
    }
    return is_wide;
}

static struct json_object *add_columns(const struct csv *csv, int rows, float *narrow, struct bytes *bytes)
{
    struct json_object *names = json_object_new_array_ext(csv->n_columns);
    for (int c = 1; c < csv->n_columns; c++) {
        for (int i = 0; i < rows; i++) narrow[i] = (float)row_of(csv, i, rows)[c];
        add_planes(bytes, narrow, (size_t)rows, sizeof *narrow);
        json_object_array_add(names, json_object_new_string(csv->name[c]));
    }
    return names;
}

static void add_times(const struct csv *csv, int rows, double *wide, struct bytes *bytes)
{
    for (int i = 0; i < rows; i++) wide[i] = row_of(csv, i, rows)[0];
    add_planes(bytes, wide, (size_t)rows, sizeof *wide);
}

struct json_object *view_result(const struct model *model, const struct csv *csv, const struct csv *inputs,
                                struct arena *arena, struct report *report)
{
    const struct source *source = find_sources(model, csv, inputs, arena, report);
    if (source == NULL) return NULL;
    const int rows = csv->n_rows < MOST_ROWS ? csv->n_rows : MOST_ROWS;
    const int plot_rows = csv->n_rows < MOST_PLOT_ROWS ? csv->n_rows : MOST_PLOT_ROWS;
    const size_t n = (size_t)rows, p = (size_t)plot_rows;
    struct bytes bytes = {.capacity = 8 * n * (size_t)(model->nq + 1) + p * (8 + 4 * (size_t)csv->n_columns)};
    bytes.byte = arena_allocate(arena, bytes.capacity, 1);
    double *wide = arena_allocate(arena, n, sizeof *wide);
    float *narrow = arena_allocate(arena, n, sizeof *narrow);
    if (arena->failed) {
        report_add(report, REPORT_ERROR, "%s", status_text(STATUS_NO_MEMORY));
        return NULL;
    }
    struct json_object *out = json_object_new_object();
    const char *slash = strrchr(csv->file, '/'); /* the page may be handed on: without the folder */
    json_object_object_add(out, "name", json_object_new_string(slash != NULL ? slash + 1 : csv->file));
    json_object_object_add(out, "rows", json_object_new_int(rows));
    json_object_object_add(out, "plot_rows", json_object_new_int(plot_rows));
    add_times(csv, rows, wide, &bytes);
    json_object_object_add(out, "wide", add_positions(model, csv, source, rows, wide, narrow, &bytes));
    add_times(csv, plot_rows, wide, &bytes);
    json_object_object_add(out, "columns", add_columns(csv, plot_rows, narrow, &bytes));
    const char *text = compressed(&bytes, arena);
    if (text == NULL) {
        report_add(report, REPORT_ERROR, "%s: cannot be compressed: %s", csv->file, status_text(STATUS_NO_MEMORY));
        json_object_put(out);
        return NULL;
    }
    json_object_object_add(out, "data", json_object_new_string(text));
    if (csv->n_rows > MOST_ROWS) report_note(report, "%s: %d of %d rows are in the page", csv->file, rows, csv->n_rows);
    return out;
}
