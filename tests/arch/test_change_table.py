"""docs/architecture.md says where a change goes, and the files that it names exist."""

import change_table
import pytest
from made_up import holds, places, tree

# ---- this tree ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [change_table.change_table, change_table.page_files, change_table.identifiers])
def test_rule_holds(root, rule): holds(rule(root))


# ---- made-up trees ------------------------------------------------------------------------------------------------


ROWS = [f"| a {change} | `cli/main.c`, a file in `drives` |" for change in change_table.CHANGES]


def page(rows):
    head = "# Architecture\n\n## Where a change goes\n\n| change | files |\n| --- | --- |\n"
    return head + "\n".join(rows) + "\n\n## Next\n"


@pytest.fixture
def made_up(tmp_path):
    return lambda text: tree(tmp_path, cli__main_dot_c="", drives__servo_dot_c="", fmu_src__sim__instance_dot_h="",
                             docs__architecture_dot_md=text)


def test_full_table_is_fine(made_up):
    with_value = ROWS[:8] + ['| a floating base | a `"free"` joint: no code |'] + ROWS[9:]
    for rows in ROWS, with_value: assert change_table.change_table(made_up(page(rows))) == []


def test_missing_changes_are_found(made_up):
    for i, change in enumerate(change_table.CHANGES):
        [problem] = change_table.change_table(made_up(page(ROWS[:i] + ROWS[i + 1:])))
        assert change in problem
    for text in "", "# Architecture\n\n## Elsewhere\n\n" + "\n".join(ROWS):
        assert len(change_table.change_table(made_up(text))) == 10


@pytest.mark.parametrize("files", ["`cli/main.c`, `cli/gone.c`", "`gone`", "`sim/instance.h`", "somewhere"])
def test_missing_file_is_found(made_up, files):
    rows = ROWS[:3] + [f"| another integrator | {files} |"] + ROWS[4:]
    assert places(change_table.change_table(made_up(page(rows)))) == ["docs/architecture.md:10"]


def test_page_files_can_fail(made_up):
    root = made_up("`sim/instance.h`, `cli/main.[ch]`, `cli/m*.c`, `fmu_src/sim`, `fmi2DoStep`, `rad/s`, `ode/`\n"
                   "`sim/gone.c`\n`fmu_src/gone`\n`cli/gone.[ch]`\n" + page(ROWS))
    assert places(change_table.page_files(root)) == [f"docs/architecture.md:{line}" for line in (2, 3, 4)]


def test_identifiers_can_fail(tmp_path):
    tree(tmp_path, docs__architecture_dot_md="`model_make` and `model_gone()`\n", fmu_src__dyn__model_dot_c="int model_make(void);\n")
    assert places(change_table.identifiers(tmp_path)) == ["docs/architecture.md:1"]
