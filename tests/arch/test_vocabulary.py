"""Joint types and kinds of variables are each known in one place only; words that the glossary replaces are not used."""

import pytest
import vocabulary
from made_up import holds, places, tree

# ---- this tree ----------------------------------------------------------------------------------------------------


def test_joint_types_stay_in_the_joint_file(root): holds(vocabulary.joint_types(root))


def test_kinds_stay_in_the_table(root): holds(vocabulary.kinds(root))


def test_other_meanings_are_needed(root):
    """An exception that is no longer used must be removed."""
    for file, literal in vocabulary.OTHER_MEANINGS:
        assert f'"{literal}"' in (root / file).read_text(), f'"{literal}" is no longer in {file}'


def test_replaced_words_are_not_used(root): holds(vocabulary.replaced(root))


# ---- made-up trees ------------------------------------------------------------------------------------------------


def test_joint_types_can_fail(tmp_path):
    tree(tmp_path,
         fmu_src__robot__joint_dot_h="enum joint_type { JOINT_FIXED, JOINT_REVOLUTE, JOINT_PLANAR, JOINT_TYPE_COUNT };\n",
         fmu_src__robot__joint_dot_c='const char *name[] = {"fixed", "revolute", "planar"};\n',
         fmu_src__robot__read_joint_dot_c='void f(void) { complain("a revolute joint", JOINT_REVOLUTE); }\n',
         fmu_src__robot__robot_dot_h="struct joint { enum joint_type type; };\n",
         fmu_src__dyn__good_dot_c="/* revolute: JOINT_REVOLUTE */ // \"spherical\"\nint joint_types = JOINT_LIMIT;\n",
         fmu_src__dyn__bad_dot_c="int a = joint == JOINT_REVOLUTE;\nint b = joint == JOINT_PLANAR || joint == JOINT_FREE;\n",
         drives__good_dot_c='const char *a = "fixed parameter, free text", *b = "joint that is fixed", *c = "refixed";\n',
         cli__bad_dot_c='const char *a = "fixed";\nconst char *b = "of a Revolute joint", *c = "a free joint";\n'
                        'const char *d = "planar";\nconst char *e = "two fixed joints";\n#define X "spherical_joint"\n',
         analysis__bad_dot_c='const char *a = "x", *b = "cylindrical";\n',
         modelDescription__description_dot_c='const char *a[] = {"fixed", "tunable"};\n')
    assert places(vocabulary.joint_types(tmp_path)) == [
        "analysis/bad.c:1", "cli/bad.c:1", "cli/bad.c:2", "cli/bad.c:2", "cli/bad.c:3", "cli/bad.c:4", "cli/bad.c:5",
        "fmu_src/dyn/bad.c:1", "fmu_src/dyn/bad.c:2", "fmu_src/dyn/bad.c:2", "fmu_src/robot/robot.h:1"]


@pytest.mark.parametrize("code", [
    "if (kind == KIND_Q) f();", "if (KIND_Q != kind) f();", "if (kind >= (enum kind)KIND_Q) f();", "f((KIND_Q) == kind);",
    "while (kind <\n KIND_COUNT) f();", "switch (x) {\ncase KIND_Q: f();\n}", "int mask = 1 << KIND_Q;",
    "static f *const table[] = {[KIND_Q] = f};", "f(a->kind == b->kind);", "switch (x) {\ncase ROW_OUTPUT: f();\n}"])
def test_kinds_can_fail(tmp_path, code):
    table = 'enum kind { KIND_Q,\n ROW_OUTPUT };\nint f(int kind) { switch (kind) { case KIND_Q: return x == KIND_Q; } }\n'
    tree(tmp_path, fmu_src__sim__variables_dot_h=table, fmu_src__sim__variables_rows_dot_c=table,
         modelDescription__bad_dot_c="\n" + code)
    assert [place.split(":")[0] for place in places(vocabulary.kinds(tmp_path))] == ["modelDescription/bad.c"]


def test_kinds_may_be_named(tmp_path):
    tree(tmp_path, fmu_src__sim__outputs_dot_c='/* kind == KIND_Q */ const char *s = "case KIND_Q:";\n'
         "void f(void) { put(sim, KIND_Q, 0 < 1); x = first[KIND_Q][i] >= 0; at->KIND_Q = 1; y[3] = (KIND_Q); }\n"
         "enum kind g(int n) { return n > 1 ? KIND_Q : KIND_QD; }\n")
    assert vocabulary.kinds(tmp_path) == []


def test_replaced_words_can_fail(tmp_path):
    glossary = "| term |\n\n## Words that are replaced\n\n| do not write | write |\n| --- | --- |\n| room | capacity |\n| give up, give_back | stop |\n| turn (noun) | rotation |\n"
    tree(tmp_path, docs__glossary_dot_md=glossary, docs__a_dot_md="`room` and mushroom\nIt gives up; they give up.\n",
         cli__a_dot_c="int a; /* turn */\nint text_room;\nvoid give_back(void);\n")
    assert places(vocabulary.replaced(tmp_path)) == ["cli/a.c:2", "cli/a.c:3", "docs/a.md:2"]
