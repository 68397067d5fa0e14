"""The rules hold in this tree, and each of them finds what it is there to find."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import rules
from made_up import holds, places, tree


# ---- this tree ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule, folders", [
    (rules.include_direction, ["fmu_src"]), (rules.folder_direction, rules.SEEN), (rules.printing, ["analysis"]),
    (rules.foreign_includes, rules.PRODUCT_FOLDERS), (rules.allocations, ["fmu_src"]), (rules.long_files, rules.C_FOLDERS),
    (rules.exported_prefixes, rules.PRODUCT_FOLDERS)], ids=lambda value: getattr(value, "__name__", ""))
def test_rule_holds(root, rule, folders):
    for folder in folders: assert rules.c_files(root, [folder]), f"no sources in {folder}: the check would prove nothing"
    holds(rule(root))


def test_no_mutable_globals(root):
    archive = Path(os.environ.get("LIMBER", root / "build/out/limber")).parent / "liblimber.a"
    assert archive.is_file(), f"{archive} is missing: run ./test.sh"
    holds(rules.mutable_globals(archive))


def test_no_machine_paths(root):
    if not (root / ".git").exists(): pytest.skip("not a git checkout: no list of tracked files")
    holds(rules.machine_paths(root, rules.tracked_files(root)))


def test_formatted(root):
    if shutil.which("clang-format") is None: pytest.skip("clang-format is missing: build/setup.sh installs it")
    holds(rules.unformatted(root, root / ".clang-format"))


def test_errors_are_not_folded_with_fmax(root):
    """fmax(worst, NAN) is worst: a law that returns NaN would hold."""
    for file in rules.c_files(root, ["tests/c", "tests/oracle"]): assert "fmax(" not in rules.without_text(rules.read(file)), file


def test_spelling(root):
    if not (root / ".git").exists(): pytest.skip("not a git checkout: no list of tracked files")
    done = subprocess.run([Path(sys.executable).parent / "codespell", "--config", "build/codespell.cfg", *rules.tracked_files(root)],
                          cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_one_version(root):
    """build/version.py finds the same version everywhere, and sets it everywhere."""
    done = subprocess.run([sys.executable, root / "build/version.py"], capture_output=True, text=True)
    assert done.returncode == 0 and re.fullmatch(r"\d+\.\d+\.\d+\n", done.stdout), done.stderr


def test_version_is_set_everywhere(root, tmp_path):
    sys.path.insert(0, str(root / "build"))
    import version
    for name in (*version.PLACES, *version.MINOR):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        text = (root / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text.replace("## [Unreleased]\n", "## [Unreleased]\n\n### Added\n\n- A thing.\n"), encoding="utf-8")
    version.set_version("7.8.9", tmp_path, "2030-01-02")
    assert set(version.versions(tmp_path).values()) == {"7.8.9"}
    assert "## [Unreleased]\n\n## [7.8.9] - 2030-01-02\n\n### Added" in (tmp_path / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "date-released: 2030-01-02\n" in (tmp_path / "CITATION.cff").read_text(encoding="utf-8")
    with pytest.raises(SystemExit, match="not newer"): version.set_version("7.8.9", tmp_path)


# ---- made-up trees ------------------------------------------------------------------------------------------------


def test_include_direction_can_fail(tmp_path):
    tree(tmp_path,
         fmu_src__math__good_dot_c='#include "base/status.h"\n#include "math/vec.h"\n#include <math.h>\n'
                                   '/* #include "sim/sim.h" */\n// #include "fmi/fmi.h"\n',
         fmu_src__math__up_dot_c='#include <math.h>\n  #  include "dyn/model.h"\n',
         fmu_src__dyn__bare_dot_h='#include "model.h"\n',
         fmu_src__dyn__climbs_dot_h='#include "../sim/sim.h"\n',
         fmu_src__dyn__model_dot_h="",
         fmu_src__fmi__angled_dot_c="#include <dyn/model.h>\n",
         fmu_src__extra__new_dot_c="",
         fmu_src__sim__uses_dot_c='#include "mech/mechanism.h"\n#include "analysis/linear.h"\n#include "companion/companion.h"\n',
         fmu_src__mech__mechanism_dot_h='#include "dyn/model.h"\n#include "ode/integrator.h"\n',
         analysis__linear_dot_h="", fmu_src__companion__companion_dot_h="")
    assert places(rules.include_direction(tmp_path)) == [
        "fmu_src/dyn/bare.h:1", "fmu_src/dyn/climbs.h:1", "fmu_src/extra/new.c:1", "fmu_src/fmi/angled.c:1",
        "fmu_src/math/up.c:2", "fmu_src/mech/mechanism.h:2", "fmu_src/sim/uses.c:2", "fmu_src/sim/uses.c:3"]


def test_folder_direction_can_fail(tmp_path):
    headers = ["fmu_src/sim/instance.h", "fmu_src/fmi/calls.h", "fmu_src/companion/companion.h", "analysis/linear.h",
               "include/limber.h", "modelDescription/package.h", "cli/options.h"]
    names = ["sim/instance.h", "fmi/calls.h", "companion/companion.h", "analysis/linear.h", "limber.h", "package.h", "options.h"]
    everything = "#include <math.h>\n" + "".join(f'#include "{name}"\n' for name in names)
    tree(tmp_path, **{name.replace("/", "__").replace(".", "_dot_"): "" for name in headers},
         **{f"{folder.replace('/', '__')}__a_dot_c": everything for folder in rules.SEEN})
    below_sim = {"generate/graph": (2, 3, 4, 5, 6, 7, 8), "generate": (2, 3, 4, 6, 7, 8), "view/scene": (2, 3, 4, 6, 7, 8),
                 "view/page": (2, 3, 4, 5, 6, 7, 8)}
    assert sorted(places(rules.folder_direction(tmp_path))) == sorted(
        f"{folder}/a.c:{line}" for folder, lines in {
            "analysis": (3, 4, 6, 7, 8), "include": (2, 3, 4, 5, 7, 8), "lib": (3, 4, 7, 8), **below_sim,
            "modelDescription": (5, 6, 8), "cli": (3, 6)}.items() for line in lines)


def test_folder_direction_knows_the_headers(tmp_path):
    tree(tmp_path, fmu_src__sim__instance_dot_h="", analysis__instance_dot_h="", cli__own_dot_h="",
         cli__a_dot_c='#include "own.h"\n#include "instance.h"\n#include "nowhere.h"\n#include <sim/instance.h>\n'
                      '// #include "gone.h"\n')
    assert places(rules.folder_direction(tmp_path)) == ["cli/a.c:3", "cli/a.c:4"]


def test_printing_can_fail(tmp_path):
    tree(tmp_path,
         cli__prints_dot_c='void f(void) { printf("x"); }\n',
         analysis__good_dot_c='/* printf( */ void f(char *s) { snprintf(s, 3, "puts(stderr)"); report_warning(s); }\n',
         analysis__bad_dot_c='void f(void)\n{\n    printf("x");\n    fprintf(stderr, "x");\n    puts("x");\n}\n',
         analysis__header_dot_h="int show(FILE *file);\nvoid f(void) { show(stdout); }\n")
    assert places(rules.printing(tmp_path)) == ["analysis/bad.c:3", "analysis/bad.c:4", "analysis/bad.c:4",
                                                "analysis/bad.c:5", "analysis/header.h:2"]


def test_foreign_includes_can_fail(tmp_path):
    tree(tmp_path,
         fmu_src__ode__cvode_dot_c="#include <cvode/cvode.h>\n#include <sundials/sundials_types.h>\n",
         fmu_src__robot__read_dot_c="#include <json-c/json.h>\n",
         cli__json_dot_h="",
         cli__eval_dot_c='#include <json-c/json.h>\n#include "json.h"\n',
         analysis__state_dot_c="#include <json-c/json.h>\n",
         analysis__linear_dot_c="#include <json-c/json.h>\n",
         fmu_src__sim__sim_dot_c="#include <cvode/cvode.h>\n#include <nvector/nvector_serial.h>\n",
         cli__simulate_dot_c="#include <cvode/cvode.h>\n",
         fmu_src__dyn__model_dot_c="\n#include <json.h>\n#include <json-c/json_object.h>\n")
    assert places(rules.foreign_includes(tmp_path)) == [
        "analysis/linear.c:1", "cli/simulate.c:1", "fmu_src/dyn/model.c:2", "fmu_src/dyn/model.c:3", "fmu_src/sim/sim.c:1",
        "fmu_src/sim/sim.c:2"]


def test_allocations_can_fail(tmp_path):
    tree(tmp_path,
         fmu_src__base__arena_dot_c="void *f(void) { return malloc(1); }\n",
         fmu_src__dyn__good_dot_c='/* malloc( */ const char *s = "free(x) \\" malloc(1)"; // free(x)\n'
                                  "void robot_free(int); void g(void) { robot_free(1); }\n",
         fmu_src__dyn__bad_dot_c="void h(void *p)\n{\n    free (p);\n    p = calloc(1, 2);\n}\n")
    assert places(rules.allocations(tmp_path)) == ["fmu_src/dyn/bad.c:3", "fmu_src/dyn/bad.c:4"]


def test_mutable_globals_can_fail(tmp_path):
    tree(tmp_path,
         good_dot_c='const int table[2] = {1, 2};\nstatic const char *const names[] = {"a", "b"};\n'
                    "const char *name(int i) { return names[i]; }\n",
         bad_dot_c="int counted;\nint started = 1;\n_Thread_local int per_thread;\n"
                   "__attribute__((visibility(\"hidden\"))) int concealed;\n"
                   "const char *text = \"pointer that moves\";\n"
                   "int next(void) { static int inside; return ++inside + counted; }\n")
    for name in "good", "bad":
        subprocess.run(["gcc", "-std=c11", "-O2", "-fPIC", "-c", f"{name}.c"], cwd=tmp_path, check=True)
        subprocess.run(["ar", "rcs", f"{name}.a", f"{name}.o"], cwd=tmp_path, check=True)
    assert rules.mutable_globals(tmp_path / "good.a") == []
    problems = rules.mutable_globals(tmp_path / "bad.a")
    found = sorted(problem.split(": ")[1].split()[0].split(".")[0] for problem in problems)
    assert found == ["concealed", "counted", "inside", "per_thread", "started", "text"]
    assert all(problem.startswith("bad.o: ") for problem in problems)


def test_long_files_can_fail(tmp_path):
    tree(tmp_path, tests__c__short_dot_c="\n" * 699, tests__c__long_dot_c="\n" * 700)
    assert [problem.split(":")[0] for problem in rules.long_files(tmp_path)] == ["tests/c/long.c"]


@pytest.mark.parametrize("text", ["see {}/main/file", "PATH={}", '"{}/x"', "cd {}\n"])
def test_machine_paths_can_fail(tmp_path, text):
    for home in "work", "root":
        bad = tmp_path / "bad.txt"
        bad.write_text("first line\n" + text.format("/" + home))
        assert places(rules.machine_paths(tmp_path, [bad])) == ["bad.txt:2"]


def test_machine_paths_leave_others_alone(tmp_path):
    good = tmp_path / "good.txt"
    good.write_text("model/work struct, $dir/root, ../work, /proc/cpuinfo, /workbench, power/work, {root}/x\n")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\xff " + b"/" + b"work/")
    assert rules.machine_paths(tmp_path, [good, tmp_path / "picture.png"]) == []


def test_unformatted_can_fail(tmp_path, root):
    if shutil.which("clang-format") is None: pytest.skip("clang-format is missing: build/setup.sh installs it")
    tree(tmp_path, fmu_src__math__good_dot_c="int f(int a)\n{\n    if (a) return 1;\n    return 2;\n}\n")
    assert rules.unformatted(tmp_path, root / ".clang-format") == []
    tree(tmp_path, cli__bad_dot_c="int f(int a) {\n  return a;\n}\n")
    assert [problem.split(":")[0] for problem in rules.unformatted(tmp_path, root / ".clang-format")] == ["cli/bad.c"]


def test_exported_prefixes_can_fail(tmp_path):
    tree(tmp_path, fmu_src__dyn__model_dot_c="void model_make(void)\n{\n}\n\nstatic int start(void)\n{\n}\n\nint dyn_tip(void)\n{\n}\n\nvoid apply(void)\n{\n}\n")
    assert places(rules.exported_prefixes(tmp_path)) == ["fmu_src/dyn/model.c:13"]
