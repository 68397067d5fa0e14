/* Equations as a page of text, LaTeX, a SymPy module or a MATLAB function. */
#include <stdlib.h>
#include <string.h>

#include "analysis/names.h"
#include "base/text.h"
#include "generate/spelling.h"

struct page {
    FILE *file;
    struct equations *e;
    const struct format *format;
    struct speller speller;
    bool definitions, stumpff; /* there are some */
};

static bool is_defined(const struct symbol *symbol)
{
    return symbol->definition != ZERO;
}

/* ---- spelling of all entries ------------------------------------------------------------------------------------- */

/* Of symmetric matrices the upper triangle */
static void spell_entries(struct page *page)
{
    struct equations *e = page->e;
    for (int b = 0; b < MATRICES; b++) {
        const struct matrix *matrix = &e->matrix[b];
        for (int i = 0; i < matrix->rows * matrix->columns; i++) {
            if (matrix->symmetric && i / matrix->columns > i % matrix->columns) continue;
            matrix->entry[i] = e->expanded ? spelling_sum(&page->speller, &matrix->sum[i])
                                           : spelling_expr(&page->speller, matrix->e[i]);
        }
    }
}

/* ---- which symbols are used -------------------------------------------------------------------------------------- */

static void use_input(struct equations *e, int input)
{
    const int k = input - e->parts.first[ARGUMENTS];
    if (k >= 0) e->names.symbol[k].used = true;
}

static void use_expressions(struct equations *e, int n, const expr *output)
{
    int *uses = graph_count_uses(&e->g, n, output);
    if (uses == NULL) e->names.failed = true;
    for (int i = 0; uses != NULL && i < e->g.n; i++)
        if (uses[i] > 0 && e->g.node[i].operation == ARGUMENT) use_input(e, e->g.node[i].a);
    free(uses);
}

/* Those of the entries, and what these are defined by */
static void find_used(struct equations *e)
{
    if (!e->expanded) use_expressions(e, e->n_entries, e->entries);
    for (int i = 0; e->expanded && i < e->n_entries; i++)
        for (int k = 0; k < e->sums[i].n; k++) {
            const struct term *t = &e->sums[i].term[k];
            for (int j = 0; j < t->n; j++) use_input(e, t->factor[j]);
            for (int j = 0; j < t->angles.n; j++) use_input(e, t->angles.symbol[j]);
        }
    for (int k = 0; k < e->names.n; k++)
        if (e->names.symbol[k].used && is_defined(&e->names.symbol[k]))
            use_expressions(e, 1, &e->names.symbol[k].definition);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* What the escapes of a row stand for. */
struct row {
    const char *name; /* NULL: that of the input of the graph */
    int input;
    double value;
    const char *unit, *meaning;
    const char *text;
    int i, j, rows, columns, count;
};

static void write_escaped(const struct page *page, const char *text)
{
    for (; *text != '\0'; text++) {
        if (page->format->latex && strchr("_#%&$^", *text) != NULL) fputc('\\', page->file);
        fputc(*text, page->file);
        if (page->format->latex && *text == '^') fputs("{}", page->file);
    }
}

/* How wide a piece up to the next '\n' is; commands of LaTeX count as one letter, braces and the like as none */
static int width_of(const char *text, bool latex)
{
    int width = 0;
    for (bool command = false; *text != '\0' && *text != '\n'; text++) {
        const bool letter = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z');
        if (latex && *text == '\\') width++;
        command = latex && (*text == '\\' || (command && letter));
        if (!command && (!latex || strchr("{}_^, ", *text) == NULL)) width++;
    }
    return width;
}

/* Text with line breaks at '\n' where lines get too long, else without */
static void write_broken_text(const struct page *page, const char *text)
{
    const struct format *format = page->format;
    int length = width_of(text, format->latex);
    for (const char *at = text; *at != '\0'; at++) {
        const int next = *at == '\n' ? width_of(at + 1, format->latex) : 0;
        length += next;
        if (*at == '\n' && format->width > 0 && length > format->width) {
            fputs(format->line_break, page->file);
            length = next;
        } else {
            fputc(*at == '\n' ? ' ' : *at, page->file);
        }
    }
}

static void write_row(const struct page *page, const char *form, const struct row *row)
{
    FILE *file = page->file;
    const int first = page->format->from_zero ? 0 : 1;
    for (; *form != '\0'; form++) {
        if (*form != '%') {
            fputc(*form, file);
            continue;
        }
        switch (*++form) {
        case 'n':
            if (row->name != NULL) fputs(row->name, file);
            else spelling_input(file, &page->speller, row->input);
            break;
        case 'v': spelling_decimal(file, page->format, row->value); break;
        case 'u': write_escaped(page, row->unit); break;
        case 'm': write_escaped(page, row->meaning); break;
        case 't': write_broken_text(page, row->text); break;
        case 'i': fprintf(file, "%d", row->i + first); break;
        case 'j': fprintf(file, "%d", row->j + first); break;
        case 'r': fprintf(file, "%d", row->rows); break;
        case 'c': fprintf(file, "%d", row->columns); break;
        case '#': fputs(page->format->comment, file); break;
        case ',': fputs(row->count == 1 ? "," : "", file); break;
        default: fputc(*form, file);
        }
    }
}

/* ---- pieces of a page -------------------------------------------------------------------------------------------- */

/* Coordinates or rates */
static void write_coordinates(const struct page *page, const struct piece *piece)
{
    const bool rates = piece->what == RATES;
    const struct robot_parts *parts = &page->e->parts;
    char name[NAME_SIZE];
    struct row row = {.meaning = name, .count = rates ? parts->model->nv : parts->model->nq};
    for (row.i = 0; row.i < row.count; row.i++) {
        if (rates) name_coordinate(parts->model, VELOCITY, row.i, name);
        row.input = parts->first[rates ? ARG_QD : ARG_Q] + row.i;
        if (row.i > 0 && piece->separator != NULL) fputs(piece->separator, page->file);
        write_row(page, piece->text, &row);
    }
    if (row.count > 0 && piece->after != NULL) write_row(page, piece->after, &row);
}

/* Rest positions of springs, if not zero */
static void write_rest(const struct page *page, const char *form)
{
    const struct model *model = page->e->mechanism->model;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        for (int k = 0; lm->joint.coordinates && k < lm->joint.nv; k++) {
            const struct joint_numbers *number = &lm->joint.number[k];
            const struct row row = {.input = lm->q + k, .value = number->rest};
            if (number->stiffness != 0 && number->rest != 0) write_row(page, form, &row);
        }
    }
}

static void write_head(const struct page *page, const char *command)
{
    static const char *const terms[] = {
        [TERMS_FULL] = "full", [TERMS_LINEAR] = "linear", [TERMS_RUTHLESS] = "ruthless"};
    const struct equations *e = page->e;
    const struct robot *robot = e->mechanism->robot;
    const char *c = page->format->comment;
    const struct model *model = e->mechanism->model;
    bool left_out = false, offset = false; /* damping, friction, stops; of elastic couplings */
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        for (int k = 0; k < MOST_COORDINATES_WITH_NUMBERS; k++) {
            const struct joint_numbers *number = &lm->joint.number[k];
            left_out = left_out || number->viscous != 0 || number->coulomb != 0 || number->has_limits;
        }
        left_out = left_out || (lm->body != NULL && lm->body->damped);
    }
    for (int i = 0; i < robot->n_couplings; i++) {
        const struct coupling *coupling = &robot->coupling[i];
        left_out = left_out || coupling->damping != 0;
        offset = offset || (coupling->elastic && (coupling->offset != 0 || coupling->backlash != 0));
    }
    fprintf(page->file, "%sEquations of motion of %s, by %s\n%sM qdd + C qd + K (q - rest) + G = B tau%s\n", c,
            robot->name, command, c, e->matrix[MATRIX_J].rows > 0 ? " + J' lambda, J qd = 0" : "");
    if (!page->format->latex) write_rest(page, "%#rest: %n = %v\n"); /* there it is in the equation */
    fprintf(page->file, "%selastic_terms: %s\n", c, terms[e->parts.model->terms]);
    if (left_out) fprintf(page->file, "%sNot shown: damping, friction and stops\n", c);
    if (offset) fprintf(page->file, "%sNot shown: offsets and backlash of elastic couplings\n", c);
    if (robot->n_lines > 0) fprintf(page->file, "%sNot shown: forces along lines\n", c);
    if (e->fourier.status == FOURIER_TOO_LARGE)
        fprintf(page->file, "%sWith intermediate variables: some entry has too many terms (--terms)\n", c);
    if (e->fourier.status == FOURIER_OTHER_FUNCTION)
        fprintf(page->file,
                "%sWith intermediate variables: not all entries are sums of products with sines and cosines\n", c);
}

static void write_parameters(struct page *page, const char *form)
{
    const struct equations *e = page->e;
    for (int k = 0; k < e->names.n; k++) {
        const struct symbol *symbol = &e->names.symbol[k];
        struct text meaning;
        if (!symbol->used || is_defined(symbol)) continue;
        if (text_open(&meaning) != NULL) write_meaning(meaning.stream, &e->parts, symbol);
        char *text = text_close(&meaning);
        const struct row row = {.input = e->parts.first[ARGUMENTS] + k,
                                .value = symbol->value,
                                .unit = quantities[symbol->what].unit,
                                .meaning = text};
        if (text != NULL) write_row(page, form, &row);
        else page->speller.failed = true;
        free(text);
    }
}

/* Of symbols that are defined by others, and of variables, which are defined later and do not occur in the first */
static void write_definitions(struct page *page)
{
    struct equations *e = page->e;
    struct speller *speller = &page->speller;
    int *variables = speller->node_variable;
    speller->node_variable = NULL;
    for (int k = 0; k < e->names.n; k++) {
        const struct symbol *symbol = &e->names.symbol[k];
        if (!symbol->used || !is_defined(symbol)) continue;
        struct sum sum = e->expanded ? fourier_sum(&e->fourier, symbol->definition) : (struct sum){0};
        speller->failed = speller->failed || (e->expanded && e->fourier.status != FOURIER_OK);
        struct row row = {.input = e->parts.first[ARGUMENTS] + k};
        row.text = e->expanded ? spelling_sum(speller, &sum) : spelling_expr(speller, symbol->definition);
        if (row.text != NULL) write_row(page, page->format->defined, &row);
        free(sum.term);
    }
    speller->node_variable = variables;
    for (int i = 0; i < speller->n_variables; i++) {
        char name[24];
        snprintf(name, sizeof name, page->format->variable, i + 1);
        write_row(page, page->format->defined, &(struct row){.name = name, .text = speller->variable[i]});
    }
}

/* Entries that are not zero; code has both triangles of a symmetric matrix, and other formats the upper one */
static void write_matrix(const struct page *page, const struct piece *piece, const struct matrix *matrix)
{
    const struct format *format = page->format;
    const int rows = matrix->rows, columns = matrix->columns;
    struct row row = {.name = matrix->name, .meaning = matrix->what, .rows = rows, .columns = columns};
    bool written = false;
    write_row(page, piece->text, &row);
    for (int k = 0; k < rows * columns; k++) {
        row.text = matrix->entry[k];
        row.i = k / columns;
        row.j = k % columns;
        if (row.text == NULL || strcmp(row.text, "0") == 0) continue;
        write_row(page, matrix->vector ? format->entry_of_vector : format->entry, &row);
        if (format->mirrored != NULL && matrix->symmetric && row.i != row.j) write_row(page, format->mirrored, &row);
        written = true;
    }
    if (!written && format->zero != NULL) write_row(page, format->zero, &row);
    if (piece->after != NULL) fputs(piece->after, page->file);
}

static void write_piece(struct page *page, const struct piece *piece, const char *command)
{
    const bool loops = page->e->matrix[MATRIX_J].rows > 0;
    switch (piece->what) {
    case END: break;
    case TEXT: fputs(piece->text, page->file); break;
    case TEXT_LOOPS: fputs(loops ? piece->text : "", page->file); break;
    case TEXT_DEFINITIONS: fputs(page->definitions ? piece->text : "", page->file); break;
    case TEXT_STUMPFF: fputs(page->stumpff ? piece->text : "", page->file); break;
    case HEAD: write_head(page, command); break;
    case REST: write_rest(page, piece->text); break;
    case COORDINATES:
    case RATES: write_coordinates(page, piece); break;
    case PARAMETERS: write_parameters(page, piece->text); break;
    case DEFINITIONS: write_definitions(page); break;
    case EQUATIONS:
        for (int b = 0; b < (loops ? MATRICES : MATRIX_J); b++) write_matrix(page, piece, &page->e->matrix[b]);
    }
}

bool equations_write(FILE *file, struct equations *e, enum equation_format format, const char *command)
{
    struct page page = {
        .file = file, .e = e, .format = &formats[format], .speller = {.e = e, .format = &formats[format]}};
    find_used(e);
    page.speller.failed = e->names.failed;
    if (e->expanded) { /* sums that occur more than once become variables, or nodes of the graph */
        page.speller.counting = true;
        spell_entries(&page);
        page.speller.counting = false;
    } else {
        spelling_statements(&page.speller, e->n_entries, e->entries);
    }
    spell_entries(&page);
    page.definitions = page.speller.n_variables > 0;
    for (int k = 0; k < e->names.n; k++)
        page.definitions = page.definitions || (e->names.symbol[k].used && is_defined(&e->names.symbol[k]));
    for (int i = 0; !e->expanded && i < e->g.n; i++) page.stumpff = page.stumpff || e->g.node[i].operation == STUMPFF;
    for (const struct piece *piece = page.format->page; !page.speller.failed && piece->what != END; piece++)
        write_piece(&page, piece, command);
    spelling_free(&page.speller);
    return !page.speller.failed;
}
