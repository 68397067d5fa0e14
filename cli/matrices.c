/* limber matrices ROBOT STATE: M, C, K, G, B at a state, as JSON. */
#include "analysis/matrices.h"

#include "analysis/names.h"
#include "cli.h"
#include "json_out.h"
#include "load.h"

static const struct option rows[] = {
    OPTION_ROBOT,
    OPTION_STATE("a JSON file (-: standard input) as for eval; only q and qd are used"),
    OPTION_JSON_ALWAYS,
    OPTION_OUTPUT,
    {"M", .help = "mass matrix, n x n, rows of prescribed joints included"},
    {"C", .help =
              "Coriolis matrix (Christoffel symbols), n x n: C qd are the velocity terms of the bias, without damping "
              "and friction. M_dot - 2 C is skew with elastic_terms full; linear and ruthless drop terms of it"},
    {"K", .help = "stiffness, n x n: strain, joint springs and elastic couplings; constant"},
    {"G", .help = "gravity, n"},
    {"B", .help = "n x numbers in tau, in the order of tau; zero columns for passive and prescribed joints"},
    {"constraint_jacobian", .help = "of a closed robot: a row for every constraint, in the order of `gap` of eval"},
    {"coordinates", .help = "their names"},
    {0}};

static int run(const void *options, struct cli_model *loaded, struct report *report)
{
    const struct model *model = loaded->mechanism.model;
    struct matrices m;
    const enum status status = matrices_at(&loaded->mechanism, &loaded->state.input, report, &m);
    int code = cli_exit_code(status);
    (void)options;
    if (status == STATUS_OK) {
        struct json_object *out = json_object_new_object(), *names = json_object_new_array();
        for (int i = 0; i < model->nv; i++) {
            char name[NAME_SIZE];
            name_coordinate(model, TANGENT, i, name);
            json_object_array_add(names, json_object_new_string(name));
        }
        json_add(out, "coordinates", names);
        json_add(out, "M", json_rows(m.M, m.n, m.n));
        json_add(out, "C", json_rows(m.C, m.n, m.n));
        json_add(out, "K", json_rows(m.K, m.n, m.n));
        json_add_numbers(out, "G", m.G, m.n);
        json_add(out, "B", json_rows(m.B, m.n, m.n_tau));
        if (m.n_rows > 0) json_add(out, "constraint_jacobian", json_rows(m.constraint_jacobian, m.n_rows, m.n));
        code = json_print_finite("matrices", out);
    }
    arena_release(&m.arena);
    return code;
}

const struct command command_matrices = {
    .name = "matrices",
    .summary = "the matrices of M qdd + C qd + K (q - rest) + damping + G = B tau at a state; prints JSON",
    .option = rows,
    .size = sizeof(struct common),
    .run_model = run};
