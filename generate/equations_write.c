/* Equations as a page of text, LaTeX, a SymPy module or a MATLAB function. */
#include <stdlib.h>
#include <string.h>

#include "analysis/names.h"
#include "base/text.h"
#include "generate/spelling.h"

/* A matrix of spelled entries. */
struct block {
    const char *name, *what;
    int rows, columns;
    bool symmetric, vector;
    char **entry;
};
enum { BLOCKS = 6, M_BLOCK = 0, C_BLOCK, K_BLOCK, G_BLOCK, B_BLOCK, J_BLOCK };

struct page {
    FILE *file;
    struct equations *e;
    enum equation_format format;
    struct speller speller;
    struct block block[BLOCKS];
};

/* ---- spelling of all entries ------------------------------------------------------------------------------------- */

static void free_entries(struct page *page)
{
    for (int b = 0; b < BLOCKS; b++) {
        const struct block *block = &page->block[b];
        for (int i = 0; block->entry != NULL && i < block->rows * block->columns; i++) {
            free(block->entry[i]);
            block->entry[i] = NULL;
        }
    }
}

static void spell_block(struct page *page, int b, const struct sum *sum, const expr *e)
{
    struct block *block = &page->block[b];
    const int columns = block->columns;
    for (int i = 0; i < block->rows * columns; i++) {
        if (block->symmetric && i / columns > i % columns) continue;
        block->entry[i] =
            page->e->expanded ? spelling_sum(&page->speller, &sum[i]) : spelling_expr(&page->speller, e[i]);
    }
}

static void spell_blocks(struct page *page)
{
    struct equations *e = page->e;
    free_entries(page);
    spell_block(page, M_BLOCK, e->sum_M, e->M);
    spell_block(page, C_BLOCK, e->sum_C, e->C);
    spell_block(page, K_BLOCK, e->sum_K, e->K);
    spell_block(page, G_BLOCK, e->sum_G, e->G);
    spell_block(page, J_BLOCK, e->sum_J, e->J);
}

static void spell_inputs(struct page *page)
{
    const struct block *block = &page->block[B_BLOCK];
    for (int i = 0; i < block->rows * block->columns; i++) {
        block->entry[i] = malloc(2);
        if (block->entry[i] == NULL) page->speller.failed = true;
        else strcpy(block->entry[i], page->e->B[i] != 0 ? "1" : "0");
    }
}

/* ---- which symbols are used -------------------------------------------------------------------------------------- */

static void use_input(struct equations *e, int input)
{
    const int k = input - e->parts.first[ARGUMENTS];
    if (k >= 0) e->names.used[k] = true;
}

static void use_sums(struct equations *e, const struct sum *sum, int n)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < sum[i].n; k++) {
            const struct term *t = &sum[i].term[k];
            for (int j = 0; j < t->n; j++) use_input(e, t->factor[j]);
            for (int j = 0; j < t->angles.n; j++) use_input(e, t->angles.symbol[j]);
        }
}

static void use_expressions(struct equations *e, const expr *output, int n)
{
    const int inputs = e->parts.first[ARGUMENTS] + e->names.n;
    const struct code code = {.g = &e->g, .n_outputs = n, .output = output};
    bool *used = calloc((size_t)inputs, sizeof *used);
    int *uses = code_count_uses(&code);
    if (used == NULL || uses == NULL) e->names.failed = true;
    else code_inputs_used(&code, uses, used);
    for (int i = 0; used != NULL && i < inputs; i++)
        if (used[i]) use_input(e, i);
    free(used);
    free(uses);
}

static void find_used(struct equations *e)
{
    const int n = e->n;
    if (e->expanded) {
        use_sums(e, e->sum_M, n * n);
        use_sums(e, e->sum_C, n * n);
        use_sums(e, e->sum_K, n * n);
        use_sums(e, e->sum_G, n);
        use_sums(e, e->sum_J, e->n_rows * n);
    } else {
        use_expressions(e, e->M, n * n);
        use_expressions(e, e->C, n * n);
        use_expressions(e, e->K, n * n);
        use_expressions(e, e->G, n);
        use_expressions(e, e->J, e->n_rows * n);
    }
    for (int k = 0; k < e->names.n; k++) /* and what they are defined by */
        if (e->names.used[k] && names_quantity_is_defined(e->names.symbol[k].what))
            use_expressions(e, &e->names.symbol[k].definition, 1);
}

/* ---- pieces of a page -------------------------------------------------------------------------------------------- */

static const char *comment(const struct page *page)
{
    static const char *const sign[FORMATS] = {
        [FORMAT_TEXT] = "", [FORMAT_LATEX] = "% ", [FORMAT_SYMPY] = "# ", [FORMAT_MATLAB] = "% "};
    return sign[page->format];
}

static void write_symbol_name(const struct page *page, int k)
{
    spelling_input(page->file, &page->speller, page->e->parts.first[ARGUMENTS] + k);
}

/* Calls `write` for each used symbol that is a parameter, or is defined by others */
static void each_symbol(struct page *page, bool defined, void (*write)(struct page *page, int k))
{
    const struct names *names = &page->e->names;
    for (int k = 0; k < names->n; k++)
        if (names->used[k] && names_quantity_is_defined(names->symbol[k].what) == defined) write(page, k);
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
static void write_text(const struct page *page, const char *text)
{
    const bool latex = page->format == FORMAT_LATEX, breaks = page->format == FORMAT_TEXT || latex;
    const int most = latex ? 75 : 120;
    int length = width_of(text, latex);
    for (const char *at = text; *at != '\0'; at++) {
        const int next = *at == '\n' ? width_of(at + 1, latex) : 0;
        length += next;
        if (*at == '\n' && breaks && length > most) {
            fputs(page->format == FORMAT_LATEX ? " \\\\\n&\\quad " : "\n      ", page->file);
            length = next;
        } else {
            fputc(*at == '\n' ? ' ' : *at, page->file);
        }
    }
}

static void write_indexed(const struct page *page, const struct block *block, int row, int column)
{
    static const char *const matrix[FORMATS] = {[FORMAT_TEXT] = "%s[%d,%d]",
                                                [FORMAT_LATEX] = "%s_{%d,%d}",
                                                [FORMAT_SYMPY] = "%s[%d, %d]",
                                                [FORMAT_MATLAB] = "%s(%d,%d)"};
    static const char *const vector[FORMATS] = {
        [FORMAT_TEXT] = "%s[%d]", [FORMAT_LATEX] = "%s_{%d}", [FORMAT_SYMPY] = "%s[%d]", [FORMAT_MATLAB] = "%s(%d)"};
    const int first = page->format == FORMAT_SYMPY ? 0 : 1;
    if (!block->vector) fprintf(page->file, matrix[page->format], block->name, row + first, column + first);
    else fprintf(page->file, vector[page->format], block->name, row + first);
}

static const char *ending(const struct page *page)
{
    return page->format == FORMAT_LATEX ? " \\\\\n" : page->format == FORMAT_MATLAB ? ";\n" : "\n";
}

/* left = right */
static void write_equals(const struct page *page)
{
    fputs(page->format == FORMAT_LATEX ? " &= " : " = ", page->file);
}

/* Entries that are not zero; of a symmetric matrix code copies the lower triangle, and text leaves it out */
static void write_block(struct page *page, const struct block *block)
{
    const bool code = page->format == FORMAT_SYMPY || page->format == FORMAT_MATLAB;
    const int columns = block->columns;
    int written = 0;
    for (int i = 0; i < block->rows * columns; i++) {
        const char *entry = block->entry[i];
        if (entry == NULL || strcmp(entry, "0") == 0) continue;
        write_indexed(page, block, i / columns, i % columns);
        write_equals(page);
        write_text(page, entry);
        fputs(ending(page), page->file);
        written++;
        if (!code || !block->symmetric || i / columns == i % columns) continue;
        write_indexed(page, block, i % columns, i / columns);
        fputs(" = ", page->file);
        write_indexed(page, block, i / columns, i % columns);
        fputs(ending(page), page->file);
    }
    if (written > 0 || code) return;
    fprintf(page->file, page->format == FORMAT_LATEX ? "%s &= 0 \\\\\n" : "%s = 0\n", block->name);
}

static int blocks_of(const struct page *page)
{
    return page->e->n_rows > 0 ? BLOCKS : J_BLOCK;
}

/* name = text; in SymPy the name is a symbol with a definition */
static void write_defined(const struct page *page, const char *name, const char *text)
{
    const bool sympy = page->format == FORMAT_SYMPY;
    fputs(name, page->file);
    write_equals(page);
    if (sympy) fprintf(page->file, "variable('%s', ", name);
    write_text(page, text);
    if (sympy) fputc(')', page->file);
    fputs(ending(page), page->file);
}

static void write_definition(struct page *page, int k)
{
    const expr definition = page->e->names.symbol[k].definition;
    int *variables = page->speller.node_variable; /* which are defined later */
    struct sum sum = {0};
    if (page->e->expanded) sum = fourier_sum(&page->e->fourier, definition);
    if (page->e->expanded && page->e->fourier.status != FOURIER_OK) page->speller.failed = true;
    page->speller.node_variable = NULL;
    char *text = page->e->expanded ? spelling_sum(&page->speller, &sum) : spelling_expr(&page->speller, definition);
    page->speller.node_variable = variables;
    free(sum.term);
    struct text spelled;
    if (text_open(&spelled) != NULL)
        spelling_input(spelled.stream, &page->speller, page->e->parts.first[ARGUMENTS] + k);
    char *name = text_close(&spelled);
    if (name != NULL && text != NULL) write_defined(page, name, text);
    else page->speller.failed = true;
    free(name);
    free(text);
}

static void write_variables(struct page *page)
{
    for (int i = 0; i < page->speller.n_variables; i++) {
        char name[24];
        snprintf(name, sizeof name, page->format == FORMAT_LATEX ? "v_{%d}" : "v%d", i + 1);
        write_defined(page, name, page->speller.variable[i]);
    }
}

static bool has_definitions(const struct page *page)
{
    const struct names *names = &page->e->names;
    for (int k = 0; k < names->n; k++)
        if (names->used[k] && names_quantity_is_defined(names->symbol[k].what)) return true;
    return page->speller.n_variables > 0;
}

static bool uses_stumpff(const struct equations *e)
{
    for (int i = 0; !e->expanded && i < e->g.n; i++)
        if (e->g.node[i].operation == STUMPFF) return true;
    return false;
}

/* Coordinates or rates, separated */
static void write_coordinates(const struct page *page, bool rates, const char *separator)
{
    const int first = rates ? page->e->parts.first[ARG_QD] : 0;
    const int count = rates ? page->e->parts.model->nv : page->e->parts.model->nq;
    for (int i = 0; i < count; i++) {
        fputs(i > 0 ? separator : "", page->file);
        spelling_input(page->file, &page->speller, first + i);
    }
}

/* Damping, friction, stops */
static bool forces_left_out(const struct model *model)
{
    bool some = false;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        for (int k = 0; k < MOST_COORDINATES_WITH_NUMBERS; k++) {
            const struct joint_numbers *number = &lm->joint.number[k];
            some = some || number->viscous != 0 || number->coulomb != 0 || number->has_limits;
        }
        some = some || (lm->body != NULL && lm->body->damped);
    }
    return some;
}

/* Rest positions of springs, if not zero, each after a text */
static void write_rest(const struct page *page, const char *before, const char *after)
{
    const struct model *model = page->e->mechanism->model;
    for (int i = 0; i < model->n_links; i++) {
        const struct link_model *lm = &model->link[i];
        for (int k = 0; lm->joint.coordinates && k < lm->joint.nv; k++) {
            const struct joint_numbers *number = &lm->joint.number[k];
            if (number->stiffness == 0 || number->rest == 0) continue;
            fputs(before, page->file);
            spelling_input(page->file, &page->speller, lm->q + k);
            fputs(" = ", page->file);
            spelling_decimal(page->file, page->format, number->rest);
            fputs(after, page->file);
        }
    }
}

static void write_head(const struct page *page, const char *command)
{
    static const char *const terms[] = {
        [TERMS_FULL] = "full", [TERMS_LINEAR] = "linear", [TERMS_RUTHLESS] = "ruthless"};
    const struct robot *robot = page->e->mechanism->robot;
    const char *c = comment(page);
    const bool loops = page->e->n_rows > 0;
    fprintf(page->file, "%sEquations of motion of %s, by %s\n", c, robot->name, command);
    fprintf(page->file, "%sM qdd + C qd + K (q - rest) + G = B tau%s\n", c, loops ? " + J' lambda, J qd = 0" : "");
    if (page->format != FORMAT_LATEX) {
        char before[16];
        snprintf(before, sizeof before, "%srest: ", c);
        write_rest(page, before, "\n");
    }
    fprintf(page->file, "%selastic_terms: %s\n", c, terms[page->e->parts.model->terms]);
    if (forces_left_out(page->e->mechanism->model))
        fprintf(page->file, "%sNot shown: damping, friction and stops\n", c);
    if (robot->n_actuators > 0) fprintf(page->file, "%sNot shown: forces of line actuators\n", c);
    if (page->e->fourier.status == FOURIER_TOO_LARGE)
        fprintf(page->file, "%sWith intermediate variables: some entry has too many terms (--terms)\n", c);
    if (page->e->fourier.status == FOURIER_OTHER_FUNCTION)
        fprintf(page->file,
                "%sWith intermediate variables: not all entries are sums of products with sines and cosines\n", c);
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static void text_parameter(struct page *page, int k)
{
    const struct symbol *symbol = &page->e->names.symbol[k];
    fputs("  ", page->file);
    write_symbol_name(page, k);
    fputs(" = ", page->file);
    spelling_decimal(page->file, page->format, symbol->value);
    fprintf(page->file, " [%s]: ", names_quantity_unit(symbol->what));
    write_meaning(page->file, &page->e->parts, symbol);
    fputc('\n', page->file);
}

static void text_page(struct page *page, const char *command)
{
    FILE *file = page->file;
    write_head(page, command);
    fputs("\ncoordinates q = (", file);
    write_coordinates(page, false, ", ");
    fputs(")\nrates qd = (", file);
    write_coordinates(page, true, ", ");
    fputs(")\n", file);
    for (int i = 0; i < page->e->n; i++) {
        char name[NAME_SIZE];
        name_coordinate(page->e->parts.model, VELOCITY, i, name);
        fputs("  ", file);
        spelling_input(file, &page->speller, page->e->parts.first[ARG_QD] + i);
        fprintf(file, ": %s\n", name);
    }
    fputs("\nparameters\n", file);
    each_symbol(page, false, text_parameter);
    if (has_definitions(page)) fputs("\nwith\n", file);
    if (uses_stumpff(page->e)) fputs("S(k, y) = sum over j of (-y)^j/(2 j + k)!\n", file);
    each_symbol(page, true, write_definition);
    write_variables(page);
    for (int b = 0; b < blocks_of(page); b++) {
        fprintf(file, "\n%s: %s\n", page->block[b].name, page->block[b].what);
        write_block(page, &page->block[b]);
    }
}

/* ---- LaTeX ------------------------------------------------------------------------------------------------------- */

static void latex_text(FILE *file, const char *text)
{
    for (; *text != '\0'; text++) {
        if (strchr("_#%&$", *text) != NULL) fputc('\\', file);
        if (*text == '^') fputs("\\^{}", file);
        else fputc(*text, file);
    }
}

static void latex_parameter(struct page *page, int k)
{
    struct text meaning;
    const struct symbol *symbol = &page->e->names.symbol[k];
    if (text_open(&meaning) != NULL) write_meaning(meaning.stream, &page->e->parts, symbol);
    char *text = text_close(&meaning);
    if (text == NULL) {
        page->speller.failed = true;
        return;
    }
    fputc('$', page->file);
    write_symbol_name(page, k);
    fputs("$ & $", page->file);
    spelling_decimal(page->file, page->format, symbol->value);
    fputs("$ & ", page->file);
    latex_text(page->file, names_quantity_unit(symbol->what));
    fputs(" & ", page->file);
    latex_text(page->file, text);
    fputs(" \\\\\n", page->file);
    free(text);
}

static void begin_aligned(const struct page *page, const char *what)
{
    fprintf(page->file, "\n%s\n\\begin{align*}\n", what);
}

static void latex_page(struct page *page, const char *command)
{
    FILE *file = page->file;
    write_head(page, command);
    fputs("% \\usepackage{amsmath,longtable}; \\allowdisplaybreaks lets long equations go over pages\n\n"
          "\\[ M \\ddot q + C \\dot q + K (q - q_{\\mathrm{rest}}) + G = B \\tau",
          file);
    fputs(page->e->n_rows > 0 ? " + J^T \\lambda, \\quad J \\dot q = 0, \\quad q = (" : ", \\quad q = (", file);
    write_coordinates(page, false, ", ");
    fputs(")", file);
    write_rest(page, ", \\quad q_{\\mathrm{rest}}{:}\\ ", "");
    fputs(" \\]\n\n\\begin{longtable}{llll}\nsymbol & value & unit & meaning \\\\\n", file);
    each_symbol(page, false, latex_parameter);
    fputs("\\end{longtable}\n", file);
    if (has_definitions(page)) {
        begin_aligned(page, "with");
        if (uses_stumpff(page->e)) fputs("S_k(y) &= \\sum_j \\frac{(-y)^j}{(2 j + k)!} \\\\\n", file);
        each_symbol(page, true, write_definition);
        write_variables(page);
        fputs("\\end{align*}\n", file);
    }
    for (int b = 0; b < blocks_of(page); b++) {
        begin_aligned(page, page->block[b].what);
        write_block(page, &page->block[b]);
        fputs("\\end{align*}\n", file);
    }
}

/* ---- SymPy ------------------------------------------------------------------------------------------------------- */

static void sympy_symbol(struct page *page, int k)
{
    write_symbol_name(page, k);
    fputs(" = symbols('", page->file);
    write_symbol_name(page, k);
    fputs("')\n", page->file);
}

static void sympy_parameter(struct page *page, int k)
{
    const struct symbol *symbol = &page->e->names.symbol[k];
    fputs("    ", page->file);
    write_symbol_name(page, k);
    fputs(": ", page->file);
    spelling_decimal(page->file, page->format, symbol->value);
    fprintf(page->file, ",  # [%s] ", names_quantity_unit(symbol->what));
    write_meaning(page->file, &page->e->parts, symbol);
    fputc('\n', page->file);
}

static void sympy_coordinates(const struct page *page, bool rates)
{
    const int first = rates ? page->e->parts.first[ARG_QD] : 0;
    const int count = rates ? page->e->parts.model->nv : page->e->parts.model->nq;
    fprintf(page->file, "%s = [", rates ? "rates" : "coordinates");
    for (int i = 0; i < count; i++) {
        fputs(i > 0 ? ", symbols('" : "symbols('", page->file);
        spelling_input(page->file, &page->speller, first + i);
        fputs("')", page->file);
    }
    fputs("]\n", page->file);
    if (count == 0) return;
    write_coordinates(page, rates, ", ");
    fprintf(page->file, "%s = %s\n", count == 1 ? "," : "", rates ? "rates" : "coordinates");
}

static const char sympy_functions[] =
    "variables = []  # (symbol, definition) of intermediate variables, in an order in which they can be evaluated\n\n"
    "def variable(name, definition):\n"
    "    variables.append((symbols(name), sympify(definition)))\n"
    "    return variables[-1][0]\n\n"
    "def substituted(expression):\n"
    "    \"\"\"With the definitions in place of all intermediate variables.\"\"\"\n"
    "    for symbol, definition in reversed(variables): expression = expression.xreplace({symbol: definition})\n"
    "    return expression\n\n"
    "def point(q, qd, values=parameters):\n"
    "    \"\"\"Numbers of all symbols at a state: M.xreplace(point(q, qd)).\"\"\"\n"
    "    given = {**values, **dict(zip(coordinates, q)), **dict(zip(rates, qd))}\n"
    "    numbers = {symbol: Float(number) for symbol, number in given.items()}\n"
    "    for symbol, definition in variables: numbers[symbol] = definition.xreplace(numbers)\n"
    "    return numbers\n\n";

static void sympy_page(struct page *page, const char *command)
{
    FILE *file = page->file;
    write_head(page, command);
    fputs("from sympy import Float, Rational, cos, factorial, sin, sqrt, symbols, sympify, zeros\n\n", file);
    sympy_coordinates(page, false);
    sympy_coordinates(page, true);
    each_symbol(page, false, sympy_symbol);
    fputs("parameters = {\n", file);
    each_symbol(page, false, sympy_parameter);
    fputs("}\n\n", file);
    fputs(sympy_functions, file);
    if (uses_stumpff(page->e))
        fputs("def S(k, y):  # sum over j of (-y)^j/(2 j + k)!, enough terms for angles up to 90 degrees\n"
              "    return sum((-y)**j/factorial(2*j + k) for j in range(12))\n\n",
              file);
    each_symbol(page, true, write_definition);
    write_variables(page);
    for (int b = 0; b < blocks_of(page); b++) {
        const struct block *block = &page->block[b];
        fprintf(file, "\n# %s\n%s = zeros(%d, %d)\n", block->what, block->name, block->rows, block->columns);
        write_block(page, block);
    }
}

/* ---- MATLAB ------------------------------------------------------------------------------------------------------ */

static void matlab_load(struct page *page, int k)
{
    write_symbol_name(page, k);
    fputs(" = p.", page->file);
    write_symbol_name(page, k);
    fputs(";\n", page->file);
}

static void matlab_parameter(struct page *page, int k)
{
    const struct symbol *symbol = &page->e->names.symbol[k];
    fputs("p.", page->file);
    write_symbol_name(page, k);
    fputs(" = ", page->file);
    spelling_decimal(page->file, page->format, symbol->value);
    fprintf(page->file, "; %% [%s] ", names_quantity_unit(symbol->what));
    write_meaning(page->file, &page->e->parts, symbol);
    fputc('\n', page->file);
}

static void matlab_coordinates(const struct page *page, bool rates)
{
    const int first = rates ? page->e->parts.first[ARG_QD] : 0;
    const int count = rates ? page->e->parts.model->nv : page->e->parts.model->nq;
    for (int i = 0; i < count; i++) {
        spelling_input(page->file, &page->speller, first + i);
        fprintf(page->file, " = %s(%d);\n", rates ? "qd" : "q", i + 1);
    }
}

static void matlab_page(struct page *page, const char *command)
{
    FILE *file = page->file;
    fprintf(file, "function [M, C, K, G, B%s] = equations(q, qd, p)\n", page->e->n_rows > 0 ? ", J" : "");
    write_head(page, command);
    fputs("% Without p the parameters are those of the robot file.\n"
          "if nargin < 3, p = parameters(); end\n",
          file);
    matlab_coordinates(page, false);
    matlab_coordinates(page, true);
    each_symbol(page, false, matlab_load);
    if (uses_stumpff(page->e))
        fputs("S = @(k, y) sum((-y).^(0:11)./factorial(2*(0:11) + k)); % sum over j of (-y)^j/(2 j + k)!\n", file);
    each_symbol(page, true, write_definition);
    write_variables(page);
    for (int b = 0; b < blocks_of(page); b++) {
        const struct block *block = &page->block[b];
        fprintf(file, "%% %s\n%s = zeros(%d, %d);\n", block->what, block->name, block->rows, block->columns);
        write_block(page, block);
    }
    fputs("end\n\nfunction p = parameters()\np = struct();\n", file);
    each_symbol(page, false, matlab_parameter);
    fputs("end\n", file);
}

/* ---- the page ---------------------------------------------------------------------------------------------------- */

static bool make_blocks(struct page *page)
{
    struct equations *e = page->e;
    const int n = e->n;
    const struct block blocks[BLOCKS] = {
        {.name = "M", .what = "mass matrix, symmetric", .rows = n, .columns = n, .symmetric = true},
        {.name = "C", .what = "Coriolis matrix (Christoffel symbols)", .rows = n, .columns = n},
        {.name = "K", .what = "stiffness matrix, symmetric", .rows = n, .columns = n, .symmetric = true},
        {.name = "G", .what = "gravity", .rows = n, .columns = 1, .vector = true},
        {.name = "B", .what = "input matrix", .rows = n, .columns = e->n_tau},
        {.name = "J", .what = "constraint Jacobian of the loops: J qd = 0", .rows = e->n_rows, .columns = n}};
    for (int b = 0; b < BLOCKS; b++) {
        page->block[b] = blocks[b];
        page->block[b].entry = arena_allocate(&e->arena, (size_t)(blocks[b].rows * blocks[b].columns), sizeof(char *));
    }
    return !e->arena.failed;
}

/* Variables: sums that occur more than once, or nodes of the graph */
static void find_variables(struct page *page)
{
    struct equations *e = page->e;
    const size_t n = (size_t)e->n, square = n * n, rows = n * (size_t)e->n_rows;
    if (e->expanded) {
        page->speller.counting = true;
        spell_blocks(page);
        page->speller.counting = false;
        return;
    }
    expr *output = arena_allocate(&e->arena, 3 * square + n + rows, sizeof *output);
    if (output == NULL) page->speller.failed = true;
    if (output == NULL) return;
    memcpy(output, e->M, square * sizeof *output);
    memcpy(output + square, e->C, square * sizeof *output);
    memcpy(output + 2 * square, e->K, square * sizeof *output);
    memcpy(output + 3 * square, e->G, n * sizeof *output);
    memcpy(output + 3 * square + n, e->J, rows * sizeof *output);
    if (!spelling_statements(&page->speller, (int)(3 * square + n + rows), output)) page->speller.failed = true;
}

bool equations_write(FILE *file, struct equations *e, enum equation_format format, const char *command)
{
    static void (*const write[FORMATS])(struct page *, const char *) = {[FORMAT_TEXT] = text_page,
                                                                        [FORMAT_LATEX] = latex_page,
                                                                        [FORMAT_SYMPY] = sympy_page,
                                                                        [FORMAT_MATLAB] = matlab_page};
    struct page page = {.file = file, .e = e, .format = format};
    if (!make_blocks(&page)) return false;
    spelling_make(e, format, &page.speller);
    find_used(e);
    page.speller.failed = e->names.failed;
    find_variables(&page);
    spell_blocks(&page);
    spell_inputs(&page);
    if (!page.speller.failed) write[format](&page, command);
    const bool fine = !page.speller.failed;
    free_entries(&page);
    spelling_free(&page.speller);
    return fine;
}
