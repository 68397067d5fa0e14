#include "generate/spelling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

void spelling_free(struct speller *s)
{
    free(s->variable);
}

/* ---- numbers and names ------------------------------------------------------------------------------------------- */

void spelling_decimal(FILE *file, const struct format *format, double value)
{
    char text[CODE_NUMBER_SIZE];
    code_shortest_number(value, text);
    const char *exponent = format->latex ? strchr(text, 'e') : NULL;
    if (exponent == NULL) fputs(text, file);
    else fprintf(file, "%.*s\\cdot 10^{%d}", (int)(exponent - text), text, atoi(exponent + 1));
}

/* value = p/q with a small q */
static bool fraction(double value, int *p, int *q)
{
    for (*q = 1; *q <= 96; (*q)++) {
        const double product = value * *q;
        *p = (int)fmax(-1e6, fmin(1e6, round(product)));
        if (fabs(product - *p) <= 1e-14 * fabs(product) && abs(*p) < 10000) return true;
    }
    return false;
}

/* As a fraction if that is short */
static void write_number(FILE *file, const struct format *format, double value)
{
    int p, q;
    if (!fraction(value, &p, &q)) spelling_decimal(file, format, value);
    else if (q == 1) fprintf(file, "%d", p);
    else fprintf(file, format->fraction, p, q);
}

void spelling_input(FILE *file, const struct speller *s, int input)
{
    write_input_name(file, &s->e->parts, &s->e->names, input, s->format->latex);
}

static void write_variable(FILE *file, const struct speller *s, int variable)
{
    fprintf(file, s->format->variable, variable);
}

static void write_times(FILE *file, const struct speller *s)
{
    fputs(s->format->operation[MUL].between, file);
}

/* ---- terms ------------------------------------------------------------------------------------------------------- */

static const struct symbol *symbol_of(const struct speller *s, int input)
{
    const int k = input - s->e->parts.first[ARGUMENTS];
    return k >= 0 ? &s->e->names.symbol[k] : NULL;
}

static enum rank rank_of(const struct speller *s, int input)
{
    const struct symbol *symbol = symbol_of(s, input);
    if (symbol != NULL) return quantities[symbol->what].rank;
    return input >= s->e->parts.first[ARG_QD] ? RANK_RATE : RANK_COORDINATE;
}

static void write_wave(FILE *file, const struct speller *s, const struct term *t)
{
    const bool square = t->wave == COSINE_SQUARED || t->wave == SINE_SQUARED;
    const char *const *form = square ? s->format->square_of_wave : s->format->wave;
    fprintf(file, form[0], t->wave == COSINE || t->wave == COSINE_SQUARED ? "cos" : "sin");
    for (int i = 0; i < t->angles.n; i++) {
        const int multiple = t->angles.multiple[i];
        fputs(i == 0 ? multiple < 0 ? "-" : "" : multiple < 0 ? " - " : " + ", file);
        if (abs(multiple) > 1) fprintf(file, "%d", abs(multiple));
        if (abs(multiple) > 1) write_times(file, s);
        spelling_input(file, s, t->angles.symbol[i]);
    }
    fputs(form[1], file);
}

/* |c| times the factors by rank; false: nothing was written, because the product is 1 */
static bool write_product(FILE *file, const struct speller *s, const struct term *t)
{
    bool written = fabs(t->c) != 1;
    if (written) write_number(file, s->format, fabs(t->c));
    for (int rank = RANK_INERTIA; rank <= RANK_RATE; rank++) {
        if (rank == RANK_WAVE && t->wave != FLAT) {
            if (written) write_times(file, s);
            write_wave(file, s, t);
            written = true;
        }
        for (int i = 0, power; i < t->n; i += power) {
            for (power = 1; i + power < t->n && t->factor[i + power] == t->factor[i]; power++) {}
            if ((int)rank_of(s, t->factor[i]) != rank) continue;
            if (written) write_times(file, s);
            spelling_input(file, s, t->factor[i]);
            if (power > 1) fprintf(file, s->format->power, power);
            written = true;
        }
    }
    return written;
}

/* ---- common factors ---------------------------------------------------------------------------------------------- */

/* The factors that all terms share, with the number if it is the same in all of them, and with the sign of the first term */
static struct term common_factors(const struct term *t, int n)
{
    struct term common = t[0];
    bool waves = true, numbers = true;
    for (int i = 0; i < n; i++) {
        const struct term *x = &t[i];
        int n_shared = 0;
        for (int j = 0, k = 0; j < common.n; j++) {
            while (k < x->n && x->factor[k] < common.factor[j]) k++;
            if (k < x->n && x->factor[k] == common.factor[j]) common.factor[n_shared++] = x->factor[k++];
        }
        common.n = n_shared;
        waves = waves && t[0].wave == t[i].wave && fourier_angles_order(&t[0].angles, &t[i].angles) == 0;
        numbers = numbers && fabs(t[i].c) == fabs(t[0].c);
    }
    if (!waves) common.wave = FLAT;
    if (!waves) common.angles.n = 0;
    common.c = (numbers ? fabs(t[0].c) : 1) * (t[0].c < 0 ? -1 : 1);
    return common;
}

static void divide_term(const struct term *by, struct term *t)
{
    int i = 0, n = 0;
    for (int j = 0; j < t->n; j++) {
        if (i < by->n && by->factor[i] == t->factor[j]) i++;
        else t->factor[n++] = t->factor[j];
    }
    t->n = n;
    t->c /= by->c;
    if (by->wave == FLAT) return;
    t->wave = FLAT;
    t->angles.n = 0;
}

/* ---- grouping ---------------------------------------------------------------------------------------------------- */

/* Terms are grouped by rotations of the hinge, then by their inertia, by their wave, and by the factors of rates */
enum level { BY_HINGE, BY_INERTIA, BY_WAVE, BY_RATE_FACTOR, LEVELS };

static int inertia_of(const struct speller *s, const struct term *t)
{
    for (int i = 0; i < t->n; i++)
        if (rank_of(s, t->factor[i]) == RANK_INERTIA) return t->factor[i];
    return -1;
}

static int coordinates_of(const struct speller *s, const struct term *t)
{
    int count = 0;
    for (int i = 0; i < t->n; i++) count += rank_of(s, t->factor[i]) >= RANK_COORDINATE;
    return count;
}

/* The term with only those factors that are rotations of the hinge, or with only those that are not rates */
static struct term with_factors(const struct speller *s, const struct term *t, bool hinge)
{
    struct term kept = *t;
    kept.n = 0;
    for (int i = 0; i < t->n; i++) {
        const struct symbol *symbol = symbol_of(s, t->factor[i]);
        const bool turns = symbol != NULL && symbol->what == Q_HINGE_TURN;
        if (hinge ? turns : rank_of(s, t->factor[i]) != RANK_RATE) kept.factor[kept.n++] = t->factor[i];
    }
    return kept;
}

static int hinge_order(const struct speller *s, const struct term *x, const struct term *y)
{
    const struct term a = with_factors(s, x, true), b = with_factors(s, y, true);
    int i = 0;
    while (i < a.n && i < b.n && a.factor[i] == b.factor[i]) i++;
    return a.n != b.n || i == a.n ? a.n - b.n : a.factor[i] - b.factor[i];
}

static int rate_factor_order(const struct speller *s, const struct term *x, const struct term *y)
{
    const struct term a = with_factors(s, x, false), b = with_factors(s, y, false);
    const int coordinates = coordinates_of(s, &a) - coordinates_of(s, &b);
    return coordinates != 0 ? coordinates : fourier_term_order(&a, &b);
}

static int group_order(const struct speller *s, enum level level, const struct term *x, const struct term *y)
{
    if (level == BY_HINGE) return hinge_order(s, x, y);
    if (level == BY_INERTIA) return inertia_of(s, x) - inertia_of(s, y);
    if (level == BY_RATE_FACTOR) return rate_factor_order(s, x, y);
    if (x->wave != y->wave) return x->wave < y->wave ? -1 : 1;
    return fourier_angles_order(&x->angles, &y->angles);
}

/* Sorts by groups; within a group terms without wave and with few coordinates are first, then the order is fourier_term_order().
   Insertion sort: there are few terms, and most are in order */
static void sort_terms(const struct speller *s, enum level level, struct term *t, int n)
{
    for (int i = 1; i < n; i++) {
        const struct term moved = t[i];
        int k = i;
        for (; k > 0; k--) {
            const struct term *x = &t[k - 1];
            int order = level < LEVELS ? group_order(s, level, x, &moved) : 0;
            if (order == 0) order = (int)x->wave - (int)moved.wave;
            if (order == 0) order = coordinates_of(s, x) - coordinates_of(s, &moved);
            if (order == 0) order = fourier_term_order(x, &moved);
            if (order <= 0) break;
            t[k] = *x;
        }
        t[k] = moved;
    }
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* Returns the number of pieces that are added: 1 for a product. */
static int write_terms(FILE *file, struct speller *s, struct term *t, int n, enum level level);

/* What was written. NULL: out of memory, and s->failed is set */
static const char *closed_text(struct speller *s, struct text *text)
{
    char *bytes = text_close(text);
    const char *kept = bytes != NULL ? arena_string(&s->e->arena, bytes) : NULL;
    s->failed = s->failed || kept == NULL;
    free(bytes);
    return kept;
}

/* For free(). NULL: out of memory, and s->failed is set */
static struct term *copied_terms(struct speller *s, const struct term *t, int n)
{
    struct term *copy = malloc((size_t)(n + 1) * sizeof *copy);
    if (copy != NULL) memcpy(copy, t, (size_t)n * sizeof *copy);
    s->failed = s->failed || copy == NULL;
    return copy;
}

/* A sum as text. plain: without variables, the text that identifies a phrase */
static const char *written_terms(struct speller *s, const struct term *t, int n, enum level level, bool plain,
                                 int *pieces)
{
    struct text text;
    const bool before = s->plain;
    struct term *copy = copied_terms(s, t, n);
    s->plain = plain;
    if (text_open(&text) != NULL && copy != NULL) *pieces = write_terms(text.stream, s, copy, n, level);
    s->plain = before;
    free(copy);
    return closed_text(s, &text);
}

/* The phrase with this text; a new one if there is none. NULL: out of memory, and s->failed is set */
static struct phrase *phrase_of(struct speller *s, const char *text)
{
    struct phrase *phrase = s->phrases;
    while (phrase != NULL && strcmp(phrase->text, text) != 0) phrase = phrase->next;
    if (phrase != NULL) return phrase;
    phrase = arena_allocate(&s->e->arena, 1, sizeof *phrase);
    s->failed = s->failed || phrase == NULL;
    if (phrase == NULL) return NULL;
    *phrase = (struct phrase){.text = text, .next = s->phrases};
    return s->phrases = phrase;
}

/* Returns the number of the variable */
static int add_variable(struct speller *s, const char *definition)
{
    const char **larger = realloc(s->variable, (size_t)(s->n_variables + 1) * sizeof *larger);
    s->failed = s->failed || larger == NULL;
    if (larger == NULL) return 0;
    s->variable = larger;
    larger[s->n_variables] = definition;
    return ++s->n_variables;
}

/* Writes a variable in place of the sum if it occurs more than once */
static bool write_as_variable(FILE *file, struct speller *s, struct term *t, int n, enum level level)
{
    enum { LONG_PHRASE = 12 }; /* symbols of a sum that may become a variable */
    int symbols = 0, pieces;
    for (int i = 0; i < n; i++) symbols += t[i].n + t[i].angles.n;
    if (s->plain || n < 3 || symbols < LONG_PHRASE) return false;
    const char *text = written_terms(s, t, n, level, true, &pieces);
    struct phrase *phrase = text != NULL ? phrase_of(s, text) : NULL;
    if (phrase == NULL) return false;
    if (s->counting) phrase->count++;
    if (s->counting || phrase->count < 2) return false;
    if (phrase->variable == 0) phrase->variable = add_variable(s, written_terms(s, t, n, level, false, &pieces));
    write_variable(file, s, phrase->variable);
    return true;
}

static void write_group(FILE *file, struct speller *s, struct term *t, int n, enum level level)
{
    if (write_as_variable(file, s, t, n, level)) return;
    int pieces = 0;
    const char *text = written_terms(s, t, n, level, s->plain, &pieces);
    if (text != NULL) fprintf(file, pieces > 1 || text[0] == '-' ? "(%s)" : "%s", text);
}

static int group_end(const struct speller *s, enum level level, const struct term *t, int n, int from)
{
    int end = from + 1;
    if (level == LEVELS) return end;
    while (end < n && group_order(s, level, &t[from], &t[end]) == 0) end++;
    return end;
}

static bool share_factors(const struct term *t, int n)
{
    const struct term common = common_factors(t, n);
    return common.n > 0 || common.wave != FLAT;
}

/* The sign before a piece of a sum; a line may be broken there */
static void write_sign(FILE *file, const struct speller *s, bool minus, int *pieces)
{
    if (*pieces == 0) fputs(minus ? "-" : "", file);
    else fprintf(file, "%s%c ", s->plain ? " " : "\n", minus ? '-' : '+');
    (*pieces)++;
}

/* A group divided by its common factors, as text; NULL: there are no common factors, or only one term */
static const char *rest_of(struct speller *s, const struct term *t, int n, enum level level)
{
    int pieces;
    if (n < 2 || !share_factors(t, n)) return NULL;
    struct term *rest = copied_terms(s, t, n);
    if (rest == NULL) return NULL;
    sort_terms(s, level, rest, n);
    const struct term common = common_factors(rest, n);
    for (int i = 0; i < n; i++) divide_term(&common, &rest[i]);
    const char *text = written_terms(s, rest, n, level, true, &pieces);
    free(rest);
    return text;
}

/* a c + b c becomes (a + b) c. The first group, of `size` terms, is a c; the following groups that have the same c move to the front.
   Sets the factors a, b, ...; returns the number of terms of these groups */
static int gather_factors(struct speller *s, struct term *t, int n, int size, enum level level, struct term *factor,
                          int *n_factors)
{
    const char *rest = level == BY_INERTIA ? rest_of(s, t, size, level + 1) : NULL;
    int used = size;
    *n_factors = 0;
    if (rest == NULL) return size;
    sort_terms(s, level + 1, t, size);
    factor[(*n_factors)++] = common_factors(t, size);
    for (int from = size, end; from < n; from = end) {
        end = group_end(s, level, t, n, from);
        const char *other = end - from == size ? rest_of(s, t + from, size, level + 1) : NULL;
        if (other != NULL && strcmp(rest, other) == 0) {
            sort_terms(s, level + 1, t + from, size);
            factor[(*n_factors)++] = common_factors(t + from, size);
            for (int i = 0; i < size; i++) { /* rotate to the front */
                const struct term moved = t[from + i];
                memmove(t + used + 1, t + used, (size_t)(from + i - used) * sizeof *t);
                t[used++] = moved;
            }
        }
    }
    return used;
}

/* (a + b) c; t are the terms of a c */
static void write_gathered(FILE *file, struct speller *s, struct term *factor, int n_factors, struct term *t, int n,
                           enum level level)
{
    const struct term common = factor[0];
    for (int i = 0; i < n; i++) divide_term(&common, &t[i]);
    if (share_factors(factor, n_factors)) write_terms(file, s, factor, n_factors, BY_INERTIA);
    else write_group(file, s, factor, n_factors, BY_INERTIA);
    write_times(file, s);
    write_group(file, s, t, n, level);
}

/* Groups with their signs. Factors that all terms of a group share are taken out; otherwise the group is written term by term */
static void write_groups(FILE *file, struct speller *s, struct term *t, int n, enum level level, int *pieces)
{
    struct term *factor = malloc((size_t)n * sizeof *factor);
    s->failed = s->failed || factor == NULL;
    for (int from = 0, end; factor != NULL && from < n; from = end) {
        end = group_end(s, level, t, n, from);
        const bool flat = level == BY_WAVE && t[from].wave == FLAT;
        if (end - from > 1 && (flat || !share_factors(t + from, end - from))) {
            sort_terms(s, level + 1, t + from, end - from);
            write_groups(file, s, t + from, end - from, level + 1, pieces);
            continue;
        }
        int n_factors;
        const int size = end - from;
        end = from + gather_factors(s, t + from, n - from, size, level, factor, &n_factors);
        if (n_factors > 1) {
            const bool minus = factor[0].c < 0;
            for (int i = 0; minus && i < n_factors; i++) factor[i].c = -factor[i].c;
            for (int i = 0; minus && i < size; i++) t[from + i].c = -t[from + i].c;
            write_sign(file, s, minus, pieces);
            write_gathered(file, s, factor, n_factors, t + from, size, level + 1);
            continue;
        }
        sort_terms(s, level + 1, t + from, end - from);
        const bool minus = t[from].c < 0;
        for (int i = from; minus && i < end; i++) t[i].c = -t[i].c;
        write_sign(file, s, minus, pieces);
        if (end - from > 1) write_terms(file, s, t + from, end - from, level + 1);
        else if (!write_product(file, s, &t[from])) fputc('1', file);
    }
    free(factor);
}

static int write_terms(FILE *file, struct speller *s, struct term *t, int n, enum level level)
{
    int pieces = 0;
    if (n == 0) {
        fputc('0', file);
        return 1;
    }
    sort_terms(s, level, t, n);
    const struct term common = n > 1 ? common_factors(t, n) : (struct term){.c = 1};
    if (common.n > 0 || common.wave != FLAT || fabs(common.c) != 1) {
        for (int i = 0; i < n; i++) divide_term(&common, &t[i]);
        fputs(common.c < 0 ? "-" : "", file);
        if (write_product(file, s, &common)) write_times(file, s);
        write_group(file, s, t, n, level);
        return 1;
    }
    write_groups(file, s, t, n, level, &pieces);
    return pieces;
}

const char *spelling_sum(struct speller *s, const struct sum *sum)
{
    struct text text;
    struct term *t = copied_terms(s, sum->term, sum->n);
    if (text_open(&text) != NULL && t != NULL) {
        const int n = fourier_collect_squares(t, sum->n);
        if (!write_as_variable(text.stream, s, t, n, BY_HINGE)) write_terms(text.stream, s, t, n, BY_HINGE);
    }
    free(t);
    return closed_text(s, &text);
}

/* ---- nodes of the graph ------------------------------------------------------------------------------------------ */

static void write_node_number(FILE *file, double value, bool divisor, const void *context)
{
    const struct speller *s = context;
    int numerator, denominator;
    const bool bracket = divisor && fraction(value, &numerator, &denominator) && denominator > 1;
    if (bracket) fputc('(', file);
    write_number(file, s->format, value);
    if (bracket) fputc(')', file);
}

static void write_node_input(const struct printer *p, int input)
{
    spelling_input(p->file, p->context, input);
}

static bool write_node_name(const struct printer *p, int i)
{
    const struct speller *s = p->context;
    if (s->node_variable == NULL || s->node_variable[i] == 0) return false;
    write_variable(p->file, s, s->node_variable[i]);
    return true;
}

const char *spelling_expr(struct speller *s, expr e)
{
    struct text text;
    const struct printer p = {text_open(&text), &s->e->g, s->format->operation, write_node_number, write_node_input,
                              write_node_name,  s};
    if (p.file != NULL) code_write_expression(&p, e);
    return closed_text(s, &text);
}

void spelling_statements(struct speller *s, int n_outputs, const expr *output)
{
    const struct graph *g = &s->e->g;
    struct code code = {.g = g, .n_outputs = n_outputs, .output = output};
    s->node_variable = arena_allocate(&s->e->arena, (size_t)g->n, sizeof *s->node_variable);
    if (!code_make(&code) || s->node_variable == NULL) s->failed = true;
    for (int i = 0; !s->failed && i < g->n; i++)
        if (code.place[i].named) s->node_variable[i] = add_variable(s, spelling_expr(s, 2 * i));
    code_free(&code);
}
