#include "generate/graph/fourier.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A sum that is smaller than this share of its terms is rounding error */
static const double CANCELLED = 1e-13;

/* ---- terms ------------------------------------------------------------------------------------------------------- */

static int order_of(int n, const short *x, int m, const short *y)
{
    for (int i = 0; i < n && i < m; i++)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return n == m ? 0 : n < m ? -1 : 1;
}

int fourier_angles_order(const struct angles *a, const struct angles *b)
{
    const int symbols = order_of(a->n, a->symbol, b->n, b->symbol);
    return symbols != 0 ? symbols : order_of(a->n, a->multiple, b->n, b->multiple);
}

int fourier_term_order(const struct term *x, const struct term *y)
{
    const int factors = order_of(x->n, x->factor, y->n, y->factor);
    if (factors != 0) return factors;
    if (x->wave != y->wave) return x->wave < y->wave ? -1 : 1;
    return fourier_angles_order(&x->angles, &y->angles);
}

static int compare_terms(const void *x, const void *y)
{
    return fourier_term_order(x, y);
}

static void set_failure(struct fourier *f, enum fourier_status status)
{
    if (f->status == FOURIER_OK) f->status = status;
}

/* a + sign b */
static struct angles angles_sum(struct fourier *f, const struct angles *a, const struct angles *b, int sign)
{
    struct angles sum = {0};
    int i = 0, j = 0;
    while (i < a->n || j < b->n) {
        const bool from_a = j == b->n || (i < a->n && a->symbol[i] <= b->symbol[j]),
                   from_b = i == a->n || (j < b->n && b->symbol[j] <= a->symbol[i]);
        const short symbol = from_a ? a->symbol[i] : b->symbol[j];
        const int multiple = (from_a ? a->multiple[i] : 0) + (from_b ? sign * b->multiple[j] : 0);
        i += from_a;
        j += from_b;
        if (multiple == 0) continue;
        if (sum.n == MOST_ANGLES) {
            set_failure(f, FOURIER_TOO_LARGE);
            return sum;
        }
        sum.symbol[sum.n] = symbol;
        sum.multiple[sum.n++] = (short)multiple;
    }
    return sum;
}

/* c times a wave of angles, with the first multiple positive */
static void set_wave(struct term *t, enum wave wave, struct angles angles, double c)
{
    const bool turn = angles.n > 0 && angles.multiple[0] < 0;
    for (int i = 0; turn && i < angles.n; i++) angles.multiple[i] = (short)-angles.multiple[i];
    t->angles = angles;
    t->wave = angles.n == 0 ? FLAT : wave;
    t->c = wave == SINE && turn ? -c : c;
    if (wave == SINE && angles.n == 0) t->c = 0;
}

/* cos a cos b = (cos(a - b) + cos(a + b))/2,  sin a sin b = (cos(a - b) - cos(a + b))/2,  sin a cos b = (sin(a - b) + sin(a + b))/2 */
static int multiply_terms(struct fourier *f, const struct term *x, const struct term *y, struct term product[2])
{
    if (x->wave == COSINE && y->wave == SINE) return multiply_terms(f, y, x, product);
    const double c = x->c * y->c;
    product[0] = (struct term){0};
    if (x->n + y->n > MOST_FACTORS) set_failure(f, FOURIER_TOO_LARGE);
    for (int i = 0, j = 0; f->status == FOURIER_OK && (i < x->n || j < y->n);)
        product->factor[product->n++] =
            j == y->n || (i < x->n && x->factor[i] <= y->factor[j]) ? x->factor[i++] : y->factor[j++];
    if (x->wave == FLAT || y->wave == FLAT) {
        const struct term *wave = x->wave == FLAT ? y : x;
        set_wave(&product[0], wave->wave, wave->angles, c);
        return 1;
    }
    product[1] = product[0];
    const enum wave wave = x->wave == y->wave ? COSINE : SINE;
    const double second = x->wave == SINE && y->wave == SINE ? -c / 2 : c / 2;
    set_wave(&product[0], wave, angles_sum(f, &x->angles, &y->angles, -1), c / 2);
    set_wave(&product[1], wave, angles_sum(f, &x->angles, &y->angles, 1), second);
    return 2;
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

static struct sum sum_of(struct fourier *f, int n)
{
    struct sum s = {.n = n, .term = NULL};
    if (f->status == FOURIER_OK) s.term = malloc((size_t)(n > 0 ? n : 1) * sizeof *s.term);
    if (s.term == NULL) {
        set_failure(f, FOURIER_NO_MEMORY);
        s.n = 0;
    }
    return s;
}

/* Sorts the terms and adds those that differ only in the number */
static void collect_terms(struct fourier *f, struct sum *s)
{
    int n = 0;
    if (s->n > 1) qsort(s->term, (size_t)s->n, sizeof *s->term, compare_terms);
    for (int i = 0; i < s->n;) {
        double c = 0, size = 0;
        const int first = i;
        for (; i < s->n && fourier_term_order(&s->term[first], &s->term[i]) == 0; i++) {
            c += s->term[i].c;
            size += fabs(s->term[i].c);
        }
        if (fabs(c) <= CANCELLED * size) continue;
        s->term[n] = s->term[first];
        s->term[n++].c = c;
    }
    s->n = n;
    if (n > f->most_terms) set_failure(f, FOURIER_TOO_LARGE);
}

static struct sum sum_added(struct fourier *f, const struct sum *a, const struct sum *b, double sign_a, double sign_b)
{
    struct sum s = sum_of(f, a->n + b->n);
    for (int i = 0; i < s.n; i++) {
        s.term[i] = i < a->n ? a->term[i] : b->term[i - a->n];
        s.term[i].c *= i < a->n ? sign_a : sign_b;
    }
    collect_terms(f, &s);
    return s;
}

static struct sum sum_product(struct fourier *f, const struct sum *a, const struct sum *b, double sign)
{
    enum { MOST_PRODUCTS = 2000000 };
    if ((double)a->n * b->n > MOST_PRODUCTS) set_failure(f, FOURIER_TOO_LARGE);
    struct sum s = sum_of(f, f->status == FOURIER_OK ? 2 * a->n * b->n : 0);
    int n = 0;
    for (int i = 0; s.n > 0 && i < a->n; i++)
        for (int j = 0; j < b->n; j++) {
            struct term product[2];
            const int count = multiply_terms(f, &a->term[i], &b->term[j], product);
            for (int k = 0; k < count; k++) {
                s.term[n] = product[k];
                s.term[n++].c *= sign;
            }
        }
    s.n = n;
    collect_terms(f, &s);
    return s;
}

static struct sum sum_of_term(struct fourier *f, struct term term)
{
    struct sum s = sum_of(f, term.c != 0);
    if (s.n > 0) s.term[0] = term;
    return s;
}

/* Of an angle a + o, a integer multiples of symbols, o a number:  cos(a + o) = cos o cos a - sin o sin a,
   sin(a + o) = cos o sin a + sin o cos a */
static struct sum sum_wave(struct fourier *f, const struct sum *a, enum wave wave, double sign)
{
    struct angles angles = {0};
    double offset = 0;
    for (int i = 0; i < a->n; i++) {
        const struct term *t = &a->term[i];
        const bool number = t->wave == FLAT && t->n == 0;
        if (number) offset = t->c;
        else if (t->wave != FLAT || t->n != 1 || t->c != round(t->c) || fabs(t->c) > 1000)
            set_failure(f, FOURIER_OTHER_FUNCTION);
        if (number || f->status != FOURIER_OK) continue;
        const struct angles one = {.n = 1, .symbol = {t->factor[0]}, .multiple = {(short)t->c}};
        angles = angles_sum(f, &angles, &one, 1);
    }
    struct sum s = sum_of(f, f->status == FOURIER_OK ? 2 : 0);
    if (s.n == 0) return s;
    memset(s.term, 0, 2 * sizeof *s.term);
    set_wave(&s.term[0], wave, angles, sign * cos(offset));
    set_wave(&s.term[1], wave == COSINE ? SINE : COSINE, angles, (wave == COSINE ? -sign : sign) * sin(offset));
    if (s.term[1].c == 0) s.n = 1;
    collect_terms(f, &s);
    return s;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

enum fourier_status fourier_make(const struct graph *g, int n_outputs, const expr *output, int most_terms,
                                 struct fourier *f)
{
    *f = (struct fourier){.most_terms = most_terms, .n = g->n, .sum = calloc((size_t)g->n, sizeof *f->sum)};
    int *uses = graph_count_uses(g, n_outputs, output);
    if (f->sum == NULL || uses == NULL) set_failure(f, FOURIER_NO_MEMORY);
    for (int i = 0; i < g->n && f->status == FOURIER_OK; i++) {
        const struct vertex *node = &g->node[i];
        const int operands = expr_operand_count(node->operation);
        const struct sum *a = operands > 0 ? &f->sum[node->a / 2] : NULL,
                         *b = operands > 1 ? &f->sum[node->b / 2] : NULL;
        const double sign_a = changes_sign(node->a) ? -1 : 1, sign_b = changes_sign(node->b) ? -1 : 1;
        if (uses[i] == 0) continue;
        switch (node->operation) {
        case NUMBER: f->sum[i] = sum_of_term(f, (struct term){.c = node->value}); break;
        case ARGUMENT:
            if (node->a > SHRT_MAX) set_failure(f, FOURIER_TOO_LARGE);
            f->sum[i] = sum_of_term(f, (struct term){.c = 1, .n = 1, .factor = {(short)node->a}});
            break;
        case ADD: f->sum[i] = sum_added(f, a, b, sign_a, sign_b); break;
        case SUB: f->sum[i] = sum_added(f, a, b, sign_a, -sign_b); break;
        case MUL: f->sum[i] = sum_product(f, a, b, sign_a * sign_b); break;
        case SIN: f->sum[i] = sum_wave(f, a, SINE, sign_a); break;
        case COS: f->sum[i] = sum_wave(f, a, COSINE, 1); break;
        default: set_failure(f, FOURIER_OTHER_FUNCTION);
        }
    }
    free(uses);
    return f->status;
}

void fourier_free(struct fourier *f)
{
    for (int i = 0; f->sum != NULL && i < f->n; i++) free(f->sum[i].term);
    free(f->sum);
    f->sum = NULL;
}

struct sum fourier_sum(struct fourier *f, expr e)
{
    const struct sum none = {0};
    return sum_added(f, &f->sum[e / 2], &none, changes_sign(e) ? -1 : 1, 1);
}

struct sum fourier_derivative(struct fourier *f, const struct sum *a, int x)
{
    struct sum s = sum_of(f, a->n);
    int n = 0;
    for (int i = 0; i < s.n; i++) {
        const struct term *t = &a->term[i];
        struct term *d = &s.term[n];
        int power = 0;
        *d = *t;
        d->n = 0;
        for (int k = 0; k < t->n; k++) {
            if (t->factor[k] == x) power++;
            if (t->factor[k] != x || power > 1) d->factor[d->n++] = t->factor[k];
        }
        d->c *= power;
        n += power > 0;
    }
    s.n = n;
    collect_terms(f, &s);
    return s;
}

struct sum fourier_replaced(struct fourier *f, const struct sum *a, int symbol, const struct sum *by)
{
    struct sum factor = fourier_derivative(f, a, symbol), product = sum_product(f, &factor, by, 1),
               rest = sum_of(f, a->n);
    int n = 0;
    for (int i = 0; i < rest.n; i++) {
        bool with = false;
        for (int k = 0; k < a->term[i].n; k++) with = with || a->term[i].factor[k] == symbol;
        if (!with) rest.term[n++] = a->term[i];
    }
    rest.n = n;
    const struct sum sum = sum_added(f, &rest, &product, 1, 1);
    free(factor.term);
    free(product.term);
    free(rest.term);
    return sum;
}

int fourier_collect_squares(struct term *t, int n)
{
    for (int i = 0; i < n; i++) {
        if (t[i].wave != COSINE) continue;
        int flat = 0;
        while (flat < n && (t[flat].wave != FLAT || fabs(t[flat].c) != fabs(t[i].c) ||
                            order_of(t[flat].n, t[flat].factor, t[i].n, t[i].factor) != 0))
            flat++;
        bool even = true;
        for (int k = 0; k < t[i].angles.n; k++) even = even && t[i].angles.multiple[k] % 2 == 0;
        if (flat == n || !even) continue;
        for (int k = 0; k < t[i].angles.n; k++) t[i].angles.multiple[k] /= 2;
        t[i].wave = t[flat].c == t[i].c ? COSINE_SQUARED : SINE_SQUARED;
        t[i].c = 2 * t[flat].c;
        n--;
        memmove(t + flat, t + flat + 1, (size_t)(n - flat) * sizeof *t);
        if (flat < i) i--;
    }
    return n;
}
