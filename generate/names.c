#include "generate/names.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table of symbols ---------------------------------------------------------------------------------------- */

const struct quantity_row quantities[QUANTITIES] = {
#define QUANTITY_ROW(id, rank, ...) [Q_##id] = {RANK_##rank, __VA_ARGS__},
    QUANTITY_LIST(QUANTITY_ROW)};

static bool same_symbol(const struct symbol *a, const struct symbol *b)
{
    return a->what == b->what && a->link == b->link && a->i == b->i && a->j == b->j && a->axis == b->axis;
}

expr names_symbol(struct names *names, const struct robot_parts *parts, const struct symbol *symbol)
{
    int k = 0;
    while (k < names->n && !same_symbol(&names->symbol[k], symbol)) k++;
    if (k == names->n) {
        struct symbol *larger = realloc(names->symbol, (size_t)(k + 1) * sizeof *larger);
        if (larger != NULL) names->symbol = larger;
        else names->failed = true;
        if (names->failed) return ZERO;
        names->symbol[names->n++] = *symbol;
    }
    names->symbol[k].definition = symbol->definition;
    return expr_input(parts->g, parts->first[ARGUMENTS] + k);
}

/* In the order of the list of quantities, but inertias link by link */
static int symbol_order(const void *x, const void *y)
{
    int key[2][6];
    for (int of = 0; of < 2; of++) {
        const struct symbol *s = of == 0 ? x : y;
        const bool inertia = quantities[s->what].rank == RANK_INERTIA;
        const int all[6] = {
            inertia ? (int)Q_MASS : (int)s->what, s->link, inertia ? (int)s->what : 0, s->i, s->j, s->axis};
        memcpy(key[of], all, sizeof all);
    }
    for (int k = 0; k < 6; k++)
        if (key[0][k] != key[1][k]) return key[0][k] < key[1][k] ? -1 : 1;
    return 0;
}

void names_sort(struct names *names)
{
    if (names->n > 1) qsort(names->symbol, (size_t)names->n, sizeof *names->symbol, symbol_order);
}

/* ---- which number it is ------------------------------------------------------------------------------------------ */

static bool is_within(const double *at, const double *first, int count, int *index)
{
    const uintptr_t address = (uintptr_t)at, from = (uintptr_t)first;
    if (first == NULL || address < from || address >= from + (size_t)count * sizeof *first) return false;
    *index = (int)((address - from) / sizeof *first);
    return true;
}

/* The number is zero with a rounding error, compared with the largest number of the array */
static bool is_noise(double value, const double *first, int count)
{
    double largest = 0;
    for (int i = 0; i < count; i++) largest = fmax(largest, fabs(first[i]));
    return fabs(value) <= 1e-13 * largest;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-14 * fabs(b);
}

struct search {
    struct names *names;
    const struct robot_parts *parts;
    const double *at;
    int link;
    expr found;
};

/* Sets the symbol that was found; returns true */
static bool found_symbol(struct search *s, enum quantity what, int link, int i, int j, int axis, double value)
{
    const struct symbol symbol = {.what = what, .link = link, .i = i, .j = j, .axis = axis, .value = value};
    s->found = names_symbol(s->names, s->parts, &symbol);
    return true;
}

/* A number in an array of the components of a vector or matrix */
static bool find_component(struct search *s, const double *first, int count, enum quantity what)
{
    int k = 0;
    return is_within(s->at, first, count, &k) && found_symbol(s, what, s->link, -1, -1, count > 1 ? k : -1, *s->at);
}

/* A number in an array that has components for each mode; j: the section. Rounding errors, and numbers that are smaller than `least`,
   become zero */
static bool find_of_modes(struct search *s, const double *first, int modes, int components, double least,
                          enum quantity what, int j)
{
    int k = 0;
    if (!is_within(s->at, first, modes * components, &k)) return false;
    s->found = ZERO;
    return is_noise(*s->at, first, modes * components) || fabs(*s->at) < least ||
           found_symbol(s, what, s->link, k / components, j, components > 1 ? k % components : -1, *s->at);
}

static bool find_properties(struct search *s, const struct mass_properties *body, enum quantity mass,
                            enum quantity center, enum quantity inertia)
{
    return find_component(s, &body->mass, 1, mass) || find_component(s, body->com, 3, center) ||
           find_component(s, body->inertia, 6, inertia);
}

/* A number in an array of a uniform beam that is factor mu l^power, or without by_mu factor l^power */
static bool find_uniform(struct search *s, const double *first, int count, double factor, bool by_mu, int power)
{
    struct graph *g = s->parts->g;
    const struct link *link = &s->parts->model->robot->link[s->link];
    int k = 0;
    if (link->type != BODY_BEAM || !is_within(s->at, first, count, &k)) return false;
    const struct beam_properties middle = beam_at(&link->beam, 0.5);
    const double mu = by_mu ? middle.mass_per_length + middle.added_mass_per_length : 1, l = link->beam.length;
    if (!is_near(*s->at, factor * mu * pow(l, power))) return false;
    s->found = ONE;
    if (by_mu) found_symbol(s, Q_LINE_MASS, s->link, -1, -1, -1, mu);
    expr product = expr_scale(g, factor, s->found);
    for (int i = 0; i < power; i++) {
        found_symbol(s, Q_LENGTH, s->link, -1, -1, 0, l);
        product = expr_mul(g, product, s->found);
    }
    s->found = product;
    return true;
}

/* The position of T of a rigid link; the joint of a child at T has the same symbol */
static bool find_positions(struct search *s)
{
    const struct robot_parts *parts = s->parts;
    int k = 0;
    if (find_component(s, parts->model->link[s->link].tip.p, 3, Q_LENGTH)) return true;
    for (int p = 0; p < parts->n; p++) {
        const struct link_part *part = &parts->part[p];
        if (part->link != s->link || !is_within(s->at, part->C.p, 3, &k)) continue;
        const int parent = part->lm->parent;
        const bool tip = parent >= 0 && part->mount < 0 && *s->at == parts->model->link[parent].tip.p[k];
        return found_symbol(s, tip ? Q_LENGTH : Q_OFFSET, tip ? parent : s->link, -1, -1, k, *s->at);
    }
    return false;
}

/* Sections, the hinge first and the tip second: where they are, and how modes move them */
static bool find_sections(struct search *s)
{
    static const enum quantity move[3] = {Q_HINGE_SHAPE, Q_TIP_SHAPE, Q_SECTION_SHAPE},
                               turn[3] = {Q_HINGE_TURN, Q_TIP_TURN, Q_SECTION_TURN};
    const struct link_model *lm = &s->parts->model->link[s->link];
    for (int k = -1; k < lm->n_sections; k++) {
        const struct section *shape = k < 0 ? &lm->body->hinge : &lm->section[k].shape;
        const int kind = k < 0 ? 0 : k == 0 ? 1 : 2, j = k > 0 ? k : -1;
        int i = 0;
        if (k == 0 && find_component(s, shape->x, 3, Q_LENGTH)) return true;
        if (is_within(s->at, shape->x, 3, &i)) {
            s->found = expr_number(s->parts->g, *s->at);
            return true;
        }
        if (find_of_modes(s, shape->Phi, lm->m, 3, 1e-14, move[kind], j) ||
            find_of_modes(s, shape->Lambda, lm->m, 3, 0, turn[kind], j))
            return true;
    }
    return false;
}

/* Integrals of a flexible body. The indices of symmetric matrices ascend. If each mode is one shape, as for a beam, M_ff without
   rotary inertia is G */
static bool find_integrals(struct search *s)
{
    const struct body *body = s->parts->model->link[s->link].body;
    const int n = body->n_shapes, m = body->m;
    int k = 0;
    if (find_uniform(s, &body->mass, 1, 1, true, 1) || find_component(s, &body->mass, 1, Q_MASS) ||
        find_uniform(s, body->c0, 3, 0.5, true, 2) || find_component(s, body->c0, 3, Q_FIRST_MOMENT) ||
        find_uniform(s, body->N0, 6, 1.0 / 3, true, 3) || find_component(s, body->N0, 6, Q_SECOND_MOMENT) ||
        find_of_modes(s, body->s, n, 1, 0, Q_SHAPE_MASS, -1))
        return true;
    s->found = ZERO;
    if (is_within(s->at, body->b, 3 * n, &k))
        return is_noise(*s->at, body->b, 3 * n) || found_symbol(s, Q_SHAPE_MOMENT, s->link, k % n, -1, k / n, *s->at);
    if (is_within(s->at, body->JL, 3 * m, &k)) return found_symbol(s, Q_MODE_SPIN, s->link, k / 3, -1, k % 3, *s->at);
    const bool shapes = is_within(s->at, body->G, n * n, &k);
    if (!shapes && !is_within(s->at, body->Mff0, m * m, &k)) return false;
    const int size = shapes ? n : m, a = k / size < k % size ? k / size : k % size, b = k / size + k % size - a;
    bool gram = shapes || n == m;
    for (int i = 0; !shapes && gram && i < n; i++) gram = body->k[i] == i;
    gram = gram && (shapes || is_near(body->G[n * a + b], *s->at));
    return found_symbol(s, gram ? Q_SHAPE_GRAM : Q_MODE_MASS, s->link, a, b, -1, *s->at);
}

static expr symbol_for(struct namer *namer, const struct robot_parts *parts, const double *at)
{
    struct search s = {.names = (struct names *)namer, .parts = parts, .at = at};
    const double *gravity = parts->model->gravity;
    int k = 0;
    if (*at == 0) return ZERO;
    if (is_within(at, gravity, 3, &k)) { /* g > 0 along one axis */
        const bool down = *at < 0 && (gravity[0] != 0) + (gravity[1] != 0) + (gravity[2] != 0) == 1;
        found_symbol(&s, Q_GRAVITY, -1, -1, -1, k, down ? -*at : *at);
        return down ? negative(s.found) : s.found;
    }
    for (s.link = 0; s.link < parts->model->n_links; s.link++) {
        const struct link *link = &parts->model->robot->link[s.link];
        const struct link_model *lm = &parts->model->link[s.link];
        /* of a uniform beam m = mu l, c = l/2, I = mu l^3/12 */
        const struct mass_properties *body = &parts->body[s.link];
        if (is_within(at, lm->joint.motor_inertia, MOST_VELOCITIES, &k))
            found_symbol(&s, Q_MOTOR_INERTIA, s.link, lm->joint.nv > 1 ? k : -1, -1, -1, *at);
        else if (!find_properties(&s, &link->hub, Q_HUB_MASS, Q_HUB_CENTER, Q_HUB_INERTIA) &&
                 !find_properties(&s, &link->payload, Q_PAYLOAD_MASS, Q_PAYLOAD_CENTER, Q_PAYLOAD_INERTIA) &&
                 !find_uniform(&s, &body->mass, 1, 1, true, 1) &&
                 !find_uniform(&s, body->inertia, 6, 1.0 / 12, true, 3) &&
                 !find_uniform(&s, body->com, 1, 0.5, false, 1) &&
                 !find_properties(&s, body, Q_MASS, Q_CENTER, Q_INERTIA) && !find_positions(&s) &&
                 (lm->body == NULL || (!find_integrals(&s) && !find_sections(&s))))
            continue;
        return s.found;
    }
    return expr_number(parts->g, *at);
}

/* ---- rotations of sections --------------------------------------------------------------------------------------- */

/* A rotation about one axis becomes a symbol, an angle; other rotations are not changed */
static void turn_symbol(struct namer *namer, const struct robot_parts *parts, int link, const struct section *at,
                        bool rate, expr theta[3])
{
    static const enum quantity kind[2][3] = {{Q_HINGE_ANGLE, Q_TIP_ANGLE, Q_SECTION_ANGLE},
                                             {Q_HINGE_RATE, Q_TIP_RATE, Q_SECTION_RATE}};
    const struct link_model *lm = &parts->model->link[link];
    int axis, k = -1;
    if (nonzero_count(theta, &axis) != 1) return;
    while (at != &lm->body->hinge && at != &lm->section[++k].shape) continue;
    const struct symbol symbol = {.what = kind[rate][k < 0    ? 0
                                                     : k == 0 ? 1
                                                              : 2],
                                  .link = link,
                                  .i = -1,
                                  .j = k > 0 ? k : -1,
                                  .axis = -1,
                                  .definition = theta[axis]};
    theta[axis] = names_symbol((struct names *)namer, parts, &symbol);
}

void names_make(struct names *names)
{
    *names = (struct names){.namer = {.symbol = symbol_for, .turn = turn_symbol}};
}

void names_free(struct names *names)
{
    free(names->symbol);
    names->symbol = NULL;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* The name needs the axis: another component of the same vector or matrix is used */
static bool needs_axis(const struct names *names, const struct symbol *symbol)
{
    for (int k = 0; k < names->n; k++) {
        struct symbol other = names->symbol[k];
        if (!names->symbol[k].used || other.axis == symbol->axis) continue;
        other.axis = symbol->axis;
        if (same_symbol(&other, symbol)) return true;
    }
    return false;
}

static const char *axis_text(const struct symbol *symbol)
{
    static const char *const matrix[] = {"xx", "yy", "zz", "xy", "xz", "yz"}, *const vector[] = {"x", "y", "z"};
    const bool tensor = symbol->what == Q_INERTIA || symbol->what == Q_HUB_INERTIA ||
                        symbol->what == Q_PAYLOAD_INERTIA || symbol->what == Q_SECOND_MOMENT;
    return tensor ? matrix[symbol->axis] : vector[symbol->axis];
}

/* A letter with its indices, from 1. A letter l_c of LaTeX with index 1 is l_{c,1} */
static void write_letter(FILE *file, bool latex, const char *letter, int n, const int *index, const char *axis)
{
    const char *lower = latex ? strchr(letter, '_') : NULL;
    const char *separator = latex ? "," : "_";
    fprintf(file, "%.*s", lower != NULL ? (int)(lower - letter) : (int)strlen(letter), letter);
    if (n == 0 && axis == NULL && lower == NULL) return;
    fputs(latex ? "_{" : "_", file);
    if (lower != NULL) fputs(lower + 1, file);
    for (int i = 0; i < n; i++) fprintf(file, "%s%d", i == 0 && lower == NULL ? "" : separator, index[i] + 1);
    if (axis != NULL) fprintf(file, "%s%s", n == 0 && lower == NULL ? "" : separator, axis);
    if (latex) fputc('}', file);
}

/* q_2, or q_2_1 if the joint has several coordinates, and eta_2_1; rates have a d after the letter */
void write_input_name(FILE *file, const struct robot_parts *parts, const struct names *names, int input, bool latex)
{
    static const char *const letter[2][2][2] = {{{"q", "qd"}, {"eta", "etad"}},
                                                {{"q", "\\dot q"}, {"\\eta", "\\dot\\eta"}}};
    const struct model *model = parts->model;
    const bool rate = input >= parts->first[ARG_QD];
    const int at = rate ? input - parts->first[ARG_QD] : input;
    int index[3], n = 0, link = 0;
    if (input >= parts->first[ARGUMENTS]) {
        const struct symbol *symbol = &names->symbol[input - parts->first[ARGUMENTS]];
        const int given[3] = {symbol->link, symbol->i, symbol->j};
        for (int k = 0; k < 3; k++)
            if (given[k] >= 0) index[n++] = given[k];
        write_letter(file, latex, latex ? quantities[symbol->what].latex : quantities[symbol->what].text, n, index,
                     symbol->axis >= 0 && needs_axis(names, symbol) ? axis_text(symbol) : NULL);
        return;
    }
    while (at >= (rate ? model->link[link].eta_v : model->link[link].eta_q) + model->link[link].m) link++;
    const struct link_model *lm = &model->link[link];
    const int k = at - (rate ? lm->v : lm->q), joint = rate ? lm->joint.nv : lm->joint.nq;
    const bool elastic = k >= joint;
    index[0] = link;
    index[1] = elastic ? k - joint : k;
    write_letter(file, latex, letter[latex][elastic][rate], elastic || joint > 1 ? 2 : 1, index, NULL);
}

void write_meaning(FILE *file, const struct robot_parts *parts, const struct symbol *symbol)
{
    for (const char *at = quantities[symbol->what].meaning; *at != '\0'; at++) {
        if (*at != '%') {
            fputc(*at, file);
            continue;
        }
        at++;
        if (*at == 'L') fputs(parts->model->robot->link[symbol->link].name, file);
        else if (*at == 'C') fputs(parts->model->robot->coupling[symbol->i].name, file);
        else fprintf(file, "%d", (*at == 'i' ? symbol->i : symbol->j) + 1);
    }
    if (symbol->axis >= 0) fprintf(file, " (%s)", axis_text(symbol));
}
