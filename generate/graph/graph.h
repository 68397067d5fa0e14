/* Expressions as a graph in which equal expressions are one node. Numbers are folded, zeros and ones removed and signs moved outward
   when a node is made; so a recursion written for the general case costs nothing where a robot has zeros. Nodes are made once and
   never changed; the operands of a node have smaller numbers than the node. */
#ifndef SYMBOLIC_GRAPH_H
#define SYMBOLIC_GRAPH_H

#include <stdbool.h>
#include <stddef.h>

/* 2 x node + 1 if the sign is changed. The first two nodes are the numbers 0 and 1. */
typedef int expr;
enum { ZERO = 0, ONE = 2 };

enum operation {
    NUMBER,
    ARGUMENT, /* of the function                                 */
    ADD,
    SUB,
    MUL,
    DIV,
    ANGLE,       /* rotation_scale(a, b), below                  */
    ANGLE_SLOPE, /* its derivative with respect to b             */
    SIN,
    COS,
    SQRT,
    TANH,
    RAMP,    /* max(0, a)                                       */
    STEP,    /* 1 if a > 0, else 0: the derivative of RAMP      */
    STUMPFF, /* S_k(a) = sum over j of (-a)^j/(2j + k)!         */
    OPERATIONS
};

struct vertex {
    enum operation operation;
    union {
        struct {
            expr a, b; /* operands; of ARGUMENT a is its number, of STUMPFF b is k */
        };
        expr operand[2];
    };
    double value; /* of NUMBER, not negative                           */
};

struct graph {
    struct vertex *node;
    int n, capacity;
    int *table; /* hash table of nodes, 0: free */
    int table_size;
    bool failed; /* out of memory: every further expression is ZERO */
};

/* Starts a graph. False: out of memory; then it has not even ZERO. */
bool graph_make(struct graph *g);
void graph_free(struct graph *g);

static inline const struct vertex *vertex_of(const struct graph *g, expr e)
{
    return &g->node[e / 2];
}

static inline bool changes_sign(expr e)
{
    return e % 2 != 0;
}

static inline expr negative(expr e)
{
    return e == ZERO ? ZERO : e ^ 1;
}

expr expr_number(struct graph *g, double value);
expr expr_input(struct graph *g, int which);
expr expr_add(struct graph *g, expr a, expr b);
expr expr_sub(struct graph *g, expr a, expr b);
expr expr_mul(struct graph *g, expr a, expr b);
expr expr_div(struct graph *g, expr a, expr b);
expr expr_scale(struct graph *g, double factor, expr a);
/* One operand: SIN to STEP. */
expr expr_function(struct graph *g, enum operation operation, expr a);
expr expr_stumpff(struct graph *g, int k, expr a);
/* The rotation vector of a quaternion (w, v) is s v, s = expr_angle(w, v.v), |s v| <= pi; ANGLE_SLOPE is for its derivative. With y = v.v
       s = 2 sign(w) atan2(|v|, |w|)/|v|,   ds/dw = -2/(w^2 + y),   ds/dy = (w/(w^2 + y) - s/2)/y */
expr expr_angle(struct graph *g, enum operation operation, expr w, expr square);

/* a + b c and a - b c */
expr expr_add_product(struct graph *g, expr a, expr b, expr c);
expr expr_sub_product(struct graph *g, expr a, expr b, expr c);

/* The node `e` made again in a graph, with new operands: for passes that rewrite. */
expr expr_rebuilt(struct graph *g, const struct vertex *node, expr a, expr b);

/* Number of operands: 0, 1 or 2. */
int expr_operand_count(enum operation operation);

/* How often each node is used by the outputs, directly or not, for free(); NULL: out of memory. */
int *graph_count_uses(const struct graph *g, int n_outputs, const expr *output);

/* ---- Stumpff functions ------------------------------------------------------------------------------------------- */

/* Functions of a rotation vector, smooth in y = |theta|^2 and without cancellation:
       S_k(y) = sum over j of (-y)^j/(2j + k)!,   S_k = 1/k! - y S_(k+2),   dS_k/dy = (k S_(k+2) - S_(k+1))/2
   S_0 = cos phi, S_1 = sin phi/phi, S_2 = (1 - cos phi)/phi^2, S_3 = (phi - sin phi)/phi^3, y = phi^2. */

/* Terms of the series that are accurate to rounding for y < STUMPFF_SMALL, and those for y < STUMPFF_LARGE. */
enum { STUMPFF_FEW = 6, STUMPFF_MANY = 17 };
#define STUMPFF_SMALL 0.25
#define STUMPFF_LARGE 10.0

/* 1/k! */
double expr_inverse_factorial(int k);
double expr_stumpff_value(int k, double y);

#endif
