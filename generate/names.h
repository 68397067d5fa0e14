/* Symbols for the numbers of a robot: which number is what, its name, unit and meaning. A number that has no name stays a number. */
#ifndef GENERATE_NAMES_H
#define GENERATE_NAMES_H

#include <stdio.h>

#include "generate/parts.h"

/* Order of the factors of a term. Every term of M has an inertia. */
enum rank { RANK_INERTIA, RANK_GRAVITY, RANK_PARAMETER, RANK_WAVE, RANK_COORDINATE, RANK_RATE };

/* What a symbol stands for: its rank, name in text and in LaTeX, unit, meaning. %L: the link; %i, %j: mode numbers; %C: the coupling of number i. */
#define QUANTITY_LIST(X)                                                                                             \
    X(GRAVITY, GRAVITY, "g", "g", "m/s^2", "gravity")                                                                \
    X(LENGTH, PARAMETER, "l", "l", "m", "tip of link '%L' from its joint")                                           \
    X(CENTER, PARAMETER, "lc", "l_c", "m", "center of mass of link '%L' from its joint")                             \
    X(OFFSET, PARAMETER, "d", "d", "m", "joint of link '%L' from the frame that carries it")                         \
    X(MASS, INERTIA, "m", "m", "kg", "mass of link '%L'")                                                            \
    X(INERTIA, INERTIA, "I", "I", "kg.m^2", "moment of inertia of link '%L' about its center of mass")               \
    X(HUB_MASS, INERTIA, "mh", "m_h", "kg", "mass of the hub of link '%L'")                                          \
    X(HUB_CENTER, PARAMETER, "ch", "c_h", "m", "center of mass of the hub of link '%L'")                             \
    X(HUB_INERTIA, INERTIA, "Ih", "I_h", "kg.m^2", "moment of inertia of the hub of link '%L'")                      \
    X(PAYLOAD_MASS, INERTIA, "mp", "m_p", "kg", "mass of the payload at the tip of link '%L'")                       \
    X(PAYLOAD_CENTER, PARAMETER, "cp", "c_p", "m", "center of mass of the payload of link '%L' from the tip")        \
    X(PAYLOAD_INERTIA, INERTIA, "Ip", "I_p", "kg.m^2", "moment of inertia of the payload of link '%L'")              \
    X(LINE_MASS, INERTIA, "mu", "\\mu", "kg/m", "mass per length of link '%L'")                                      \
    X(FIRST_MOMENT, INERTIA, "S", "S", "kg.m", "first mass moment of link '%L': int r dm")                           \
    X(SECOND_MOMENT, INERTIA, "N", "N", "kg.m^2", "second mass moment of link '%L': int r r' dm")                    \
    X(SHAPE_MASS, INERTIA, "alpha", "\\alpha", "kg", "int phi_%i dm of link '%L'")                                   \
    X(SHAPE_MOMENT, INERTIA, "beta", "\\beta", "kg.m", "int x phi_%i dm of link '%L'")                               \
    X(SHAPE_GRAM, INERTIA, "gamma", "\\gamma", "kg", "int phi_%i phi_%j dm of link '%L'")                            \
    X(MODE_MASS, INERTIA, "nu", "\\nu", "kg", "modal mass (%i, %j) of link '%L' with rotary inertia, undeformed")    \
    X(MODE_SPIN, INERTIA, "sigma", "\\sigma", "kg.m", "int J psi_%i dx of link '%L', spin momentum of the mode")     \
    X(MODE_STIFFNESS, PARAMETER, "kappa", "\\kappa", "N/m", "modal stiffness (%i, %j) of link '%L'")                 \
    X(TIP_SHAPE, PARAMETER, "phi", "\\phi", "1", "translation of the tip of link '%L' by eta_%i")                    \
    X(TIP_TURN, PARAMETER, "psi", "\\psi", "1/m", "rotation of the tip of link '%L' by eta_%i")                      \
    X(HINGE_SHAPE, PARAMETER, "phi0", "\\bar\\phi", "1", "translation of the hinge of link '%L' by eta_%i")          \
    X(HINGE_TURN, PARAMETER, "psi0", "\\bar\\psi", "1/m", "rotation of the hinge of link '%L' by eta_%i")            \
    X(SECTION_SHAPE, PARAMETER, "phis", "\\tilde\\phi", "1", "translation of section %j of link '%L' by eta_%i")     \
    X(SECTION_TURN, PARAMETER, "psis", "\\tilde\\psi", "1/m", "rotation of section %j of link '%L' by eta_%i")       \
    X(MOTOR_INERTIA, INERTIA, "Jm", "J_m", "kg.m^2 or kg", "inertia of the motor of the joint of link '%L'")         \
    X(SPRING, PARAMETER, "k", "k", "N.m/rad or N/m", "stiffness of the joint of link '%L'")                          \
    X(COUPLING_STIFFNESS, PARAMETER, "kc", "k_c", "N.m/rad or N/m", "stiffness of coupling '%C'")                    \
    X(TIP_ANGLE, PARAMETER, "theta", "\\theta", "rad", "rotation of the tip of link '%L'")                           \
    X(HINGE_ANGLE, PARAMETER, "theta0", "\\bar\\theta", "rad", "rotation of the hinge of link '%L'")                 \
    X(SECTION_ANGLE, PARAMETER, "thetas", "\\tilde\\theta", "rad", "rotation of section %j of link '%L'")            \
    X(TIP_RATE, RATE, "thetad", "\\dot\\theta", "rad/s", "rate of the rotation of the tip of link '%L'")             \
    X(HINGE_RATE, RATE, "thetad0", "\\dot{\\bar\\theta}", "rad/s", "rate of the rotation of the hinge of link '%L'") \
    X(SECTION_RATE, RATE, "thetads", "\\dot{\\tilde\\theta}", "rad/s",                                               \
      "rate of the rotation of section %j of link '%L'")

#define QUANTITY_ENUM(id, ...) Q_##id,
enum quantity { QUANTITY_LIST(QUANTITY_ENUM) QUANTITIES };

extern const struct quantity_row {
    enum rank rank;
    const char *text, *latex, *unit, *meaning;
} quantities[QUANTITIES];

struct symbol {
    enum quantity what;
    int link, i, j; /* -1: no index                                              */
    int axis;       /* component: 0 to 5 of a symmetric matrix, x to z of a vector; -1: none */
    double value;
    bool used;       /* in the equations that are written */
    expr definition; /* of angles and their rates: a sum in other symbols; else ZERO */
};

struct names {
    struct namer namer; /* first: the callbacks get its address */
    int n;
    struct symbol *symbol;
    bool failed;
};

void names_make(struct names *names);
void names_free(struct names *names);

/* The symbol of a quantity as input of the graph, made where it is new. */
expr names_symbol(struct names *names, const struct robot_parts *parts, const struct symbol *symbol);
/* Sorts the symbols as the list of quantities, inertias by links. The inputs of graphs made before are then wrong. */
void names_sort(struct names *names);

void write_meaning(FILE *file, const struct robot_parts *parts, const struct symbol *symbol);

/* Name of an input of the graph: a coordinate, a rate, a symbol. */
void write_input_name(FILE *file, const struct robot_parts *parts, const struct names *names, int input, bool latex);

#endif
