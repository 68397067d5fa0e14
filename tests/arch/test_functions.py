"""Functions are short, and none is a copy of another."""

import re

import functions
import pytest
from c_source import functions as functions_in
from made_up import holds, places, tree

# ---- this tree ----------------------------------------------------------------------------------------------------


def test_functions_stay_short(root):
    assert sum(1 for _ in functions.functions_of(root)) > 1000, "hardly a function found: the check would prove nothing"
    holds(functions.long_functions(root))


def test_no_function_is_a_copy(root): holds(functions.repeated_functions(root))


# ---- the parser ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source, found", [
    ("int f(int a)\n{\n    return a;\n}\n", [("f", 1, 4)]),
    ("#include <a.h>\n\n/* f() { */\nstatic const double *f(const int a[3],\n    int b)\n{\n}\n", [("f", 4, 7)]),
    ("int table[] = {1, 2};\nstruct s {\n    int (*f)(void);\n} s;\nint g(void) { return 1; }\n", [("g", 5, 5)]),
    ("enum e { A, B };\nint f(void);\nint x = (int){3};\nvoid g(char c)\n{\n    if (c == '{') h(\"}\"); // }\n}\n",
     [("g", 4, 7)]),
    ("#if A\nint f(void)\n{\n#else\nlong f(void)\n{\n#endif\n    return 1;\n}\nint g(void)\n{\n}\n",
     [("f", 2, 9), ("g", 10, 12)]),
    ("#if A\nint f(void)\n{\n}\n#elif B\nint g(void)\n{\n}\n#endif\n", [("f", 2, 4), ("g", 6, 8)]),
    ("extern \"C\" {\nint f(void)\n{\n}\n}\nint g(void)\n{\n}\n", [("f", 2, 4), ("g", 6, 8)]),
    ("#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(void)\n{\n}\n#ifdef __cplusplus\n}\n#endif\nint g(void)\n{\n}\n",
     [("f", 4, 6), ("g", 10, 12)]),
    ("TEST(law)\n{\n}\n__attribute__((unused)) static int f(void)\n{\n}\n", [("TEST", 1, 3), ("f", 4, 6)]),
    ("#define LIST(X) \\\n    X(1, {2}) \\\n    X(3, {4})\n#define RUN(x) \\\n    do { \\\n        x; \\\n    } while (0)\n",
     [("RUN", 4, 7)]),
])
def test_parser_finds_functions(source, found):
    assert [(function.name, function.first, function.last) for function in functions_in(source)] == found


def test_parser_finds_every_closing_brace(root):
    """clang-format puts the closing brace of a function, and of nothing else but extern "C", alone in the first column."""
    for file in functions.c_files(root, functions.PRODUCT_FOLDERS):
        source = file.read_text()
        source = source.replace("#ifdef __cplusplus\n}", "#ifdef __cplusplus\n };")
        lines = [number for number, line in enumerate(source.split("\n"), 1) if line == "}"]
        ends = [function.last for function in functions_in(source) if not function.text.startswith("#")]
        assert ends == lines, file


# ---- made-up trees ------------------------------------------------------------------------------------------------


def test_long_functions_can_fail(tmp_path):
    body = "    a++;\n"
    tree(tmp_path,
         cli__good_dot_c="/* f */\nint f(int a)\n{\n" + 57 * body + "}\n",
         cli__bad_dot_c="int f(int a)\n{\n" + 10 * body + "}\n\nint g(int a)\n{\n" + 58 * body + "}\n",
         lib__macro_dot_h="#define X(a) \\\n    do { \\\n" + 60 * "    a; \\\n" + "    } while (0)\n",
         analysis__signature_dot_c="int f(int a,\n      int b)\n{\n" + 57 * body + "}\n")
    assert places(functions.long_functions(tmp_path)) == ["analysis/signature.c:1", "cli/bad.c:15", "lib/macro.h:1"]


SWEEP = """
/* outward */
static int outward(const struct model *model, struct work *work, const double *qd)
{
    const struct frame world = {.acc = {0, 0, -9.81}};
    for (int i = 0; i < model->n_links; i++) {
        const struct link *lm = &model->link[i];
        struct link_work *w = &work->link[i];
        const struct frame *carrier = lm->parent < 0 ? &world : &work->link[lm->parent].T;
        if (!lm->moves) {
            memset(w->O, 0, sizeof w->O);
            continue;
        }
        cross3(carrier->omega, w->d, w->v);
        add_cross3(carrier->acc, w->d, w->a);
        axpy3(qd[lm->q], w->h, w->omega);
        for (int k = 0; k < 3; k++) w->v[k] += 2 * qd[lm->q] * w->h[k];
        switch (lm->type) {
        case 1: turn(w, lm->axis); break;
        default: shift(w);
        }
        if (w->v[0] > LIMIT) return fail("link %d: rate %g", i, w->v[0]);
        w->energy = 0.5 * dot3(w->v, w->v);
        hand_on(model, work, i);
    }
    return done(work);
}
"""


def renamed_copy(source):
    """Other names, numbers and texts, and the quantities in other structs."""
    keep = functions.KEYWORDS | {"static"}
    source = re.sub(r"w->(\w+)", r"tangent->batch[i].\1", source)
    source = re.sub(r'"[^"]*"', '"other"', source)
    return re.sub(r"[A-Za-z_]\w*|\d+(?:\.\d+)?",
                  lambda m: m[0] if m[0] in keep else "17" if m[0][0].isdigit() else "a_much_longer_" + m[0], source)


def test_repeated_functions_can_fail(tmp_path):
    copy = renamed_copy(SWEEP).replace(";\n", ";\n\n    /* comment */\n").replace(", ", ",\n        ")
    with_more = copy.replace("}\n", "}\n    log_it[3] = *p * 4 - q;\n    if (!r) s();\n", 1)
    tree(tmp_path, fmu_src__dyn__first_dot_c=SWEEP, fmu_src__dyn__second_dot_c=with_more)
    [problem] = functions.repeated_functions(tmp_path)
    assert problem.startswith("fmu_src/dyn/first.c:3: outward() shares 19 lines with a_much_longer_outward() of "
                              "fmu_src/dyn/second.c:3"), problem
    assert functions.repeated_functions(tmp_path, most=19) == []


def test_repeated_functions_leave_others_alone(tmp_path):
    """Half a copy, and tables that look alike."""
    half = "\n".join(renamed_copy(SWEEP).splitlines()[:16]) + "\n    }\n    return 1;\n}\n"
    table = "int f(int a)\n{\n    static const struct row rows[] = {\n"
    table += 20 * '        {"name", 1, 2},\n' + "    };\n    return a;\n}\n"
    tree(tmp_path, fmu_src__dyn__first_dot_c=SWEEP, fmu_src__dyn__half_dot_c=half, cli__a_dot_c=table, cli__b_dot_c=table)
    assert functions.repeated_functions(tmp_path) == []
