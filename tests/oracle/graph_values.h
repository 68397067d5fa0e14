/* Values of the expressions of a graph at given inputs. */
#ifndef ORACLE_GRAPH_VALUES_H
#define ORACLE_GRAPH_VALUES_H

#include <math.h>

#include "generate/graph/graph.h"

/* The rotation vector of a quaternion (w, v) is rotation_scale(w, v.v) v */
static inline double rotation_scale(double w, double y)
{
    const double n = sqrt(y), s = n > 0 ? 2 * atan2(n, fabs(w)) / n : 2 / fabs(w);
    return w < 0 ? -s : s;
}

/* Its derivative with respect to y:  2/w^3 (-1/3 + 2 x/5 - 3 x^2/7 + ...) where x = y/w^2 is small */
static inline double rotation_scale_slope(double w, double y)
{
    const double x = y / (w * w);
    if (!(x < 0.01)) return (w / (w * w + y) - rotation_scale(w, y) / 2) / y;
    double sum = 0;
    for (int j = 9; j > 0; j--) sum = j / (2.0 * j + 1) - x * sum;
    return -2 * sum / (w * w * w);
}

static inline double value_at(const double *value, expr e)
{
    return changes_sign(e) ? -value[e / 2] : value[e / 2];
}

/* Of all nodes; value has g->n numbers. */
static inline void graph_evaluate(const struct graph *g, const double *inputs, double *value)
{
    for (int i = 0; i < g->n; i++) {
        const struct vertex *node = &g->node[i];
        const int count = expr_operand_count(node->operation);
        const double a = count > 0 ? value_at(value, node->a) : 0, b = count > 1 ? value_at(value, node->b) : 0;
        switch (node->operation) {
        case NUMBER: value[i] = node->value; break;
        case ARGUMENT: value[i] = inputs[node->a]; break;
        case ADD: value[i] = a + b; break;
        case SUB: value[i] = a - b; break;
        case MUL: value[i] = a * b; break;
        case DIV: value[i] = a / b; break;
        case ANGLE: value[i] = rotation_scale(a, b); break;
        case ANGLE_SLOPE: value[i] = rotation_scale_slope(a, b); break;
        case SIN: value[i] = sin(a); break;
        case COS: value[i] = cos(a); break;
        case SQRT: value[i] = sqrt(a); break;
        case TANH: value[i] = tanh(a); break;
        case RAMP: value[i] = a > 0 ? a : 0; break;
        case STEP: value[i] = a > 0 ? 1 : 0; break;
        case STUMPFF: value[i] = expr_stumpff_value(node->b, a); break;
        case OPERATIONS: break;
        }
    }
}

#endif
