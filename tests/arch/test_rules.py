"""The rules hold in this tree, and each of them finds what it is there to find."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import rules


def holds(problems):
    assert not problems, "\n" + "\n".join(problems)


def tree(root, **files):
    """Writes files (name with __ for / and _dot_ for the dot) below root."""
    for name, text in files.items():
        file = root / name.replace("__", "/").replace("_dot_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


# ---- this tree ----------------------------------------------------------------------------------------------------


def test_layers_include_downwards(root):
    assert rules.c_files(root, ["fmu_src"]), "no sources found: the check would prove nothing"
    holds(rules.include_direction(root))


def test_libraries_stay_in_their_homes(root): holds(rules.foreign_includes(root))


def test_memory_comes_from_base(root): holds(rules.allocations(root))


@pytest.mark.parametrize("name", ["liblimber.a", "liblimber_drives.a"])
def test_no_mutable_globals(root, name):
    archive = Path(os.environ.get("LIMBER", root / "build/out/limber")).parent / name
    assert archive.is_file(), f"{archive} is missing: run ./test.sh"
    holds(rules.mutable_globals(archive))


def test_files_stay_short(root): holds(rules.long_files(root))


def test_no_machine_paths(root):
    if not (root / ".git").exists(): pytest.skip("not a git checkout: no list of tracked files")
    holds(rules.machine_paths(root, rules.tracked_files(root)))


def test_formatted(root):
    if shutil.which("clang-format") is None: pytest.skip("clang-format is missing: build/setup.sh installs it")
    holds(rules.unformatted(root, root / ".clang-format"))


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
         fmu_src__extra__new_dot_c="")
    found = [problem.split(": ")[0] for problem in rules.include_direction(tmp_path)]
    assert found == ["fmu_src/dyn/bare.h:1", "fmu_src/dyn/climbs.h:1", "fmu_src/extra/new.c:1", "fmu_src/fmi/angled.c:1",
                     "fmu_src/math/up.c:2"]


def test_foreign_includes_can_fail(tmp_path):
    tree(tmp_path,
         fmu_src__ode__cvode_dot_c="#include <cvode/cvode.h>\n#include <sundials/sundials_types.h>\n",
         fmu_src__robot__read_dot_c="#include <json-c/json.h>\n",
         cli__json_dot_h="",
         cli__eval_dot_c='#include <json-c/json.h>\n#include "json.h"\n',
         fmu_src__sim__sim_dot_c="#include <cvode/cvode.h>\n#include <nvector/nvector_serial.h>\n",
         cli__simulate_dot_c="#include <cvode/cvode.h>\n",
         fmu_src__dyn__model_dot_c="\n#include <json.h>\n#include <json-c/json_object.h>\n")
    found = [problem.split(": ")[0] for problem in rules.foreign_includes(tmp_path)]
    assert found == ["cli/simulate.c:1", "fmu_src/dyn/model.c:2", "fmu_src/dyn/model.c:3", "fmu_src/sim/sim.c:1",
                     "fmu_src/sim/sim.c:2"]


def test_allocations_can_fail(tmp_path):
    tree(tmp_path,
         fmu_src__base__arena_dot_c="void *f(void) { return malloc(1); }\n",
         fmu_src__dyn__good_dot_c='/* malloc( */ const char *s = "free(x) \\" malloc(1)"; // free(x)\n'
                                  "void robot_free(int); void g(void) { robot_free(1); }\n",
         fmu_src__dyn__bad_dot_c="void h(void *p)\n{\n    free (p);\n    p = calloc(1, 2);\n}\n")
    found = [problem.split(": ")[0] for problem in rules.allocations(tmp_path)]
    assert found == ["fmu_src/dyn/bad.c:3", "fmu_src/dyn/bad.c:4"]


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
        assert [problem.split(": ")[0] for problem in rules.machine_paths(tmp_path, [bad])] == ["bad.txt:2"]


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
