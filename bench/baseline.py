"""Instructions of the functions that an FMU calls, now and at an earlier commit, counted in one run.

The commit is unpacked below build/out/baseline and compiled with the compiler and flags of today's limber_fmu, as its compile
commands give them. Both programs read the robot files of that commit and draw the same random states; sums of inputs and
results show whether they computed the same."""

import hashlib
import io
import math
import subprocess
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import builds
import callgrind
import measure

COMMIT = "ff4cbf003b549d76872bb41e431bade697f04865"
NAME = COMMIT[:7]
ROBOTS = ("chain-7", "twisted-7", "canadarm", "cibicik")
ALGORITHMS = ("forward", "inverse", "derivatives")
PARTS = ("fmu_src", "cli/random_state.h", "resources")        # what the kernel needs
LAYERS = ("base", "math", "robot", "flex", "dyn", "loop")  # folders of its fmu_src that the kernel needs
KERNEL = builds.ROOT / "bench/baseline/kernel.c"
HARNESS = builds.ROOT / "bench/harness.h"
CALLS = 4                                                  # states over which a count is averaged


class NotInHistory(RuntimeError):
    """The commit is not in this clone."""


def git(*arguments):
    return subprocess.run(["git", "-C", builds.ROOT, *arguments], capture_output=True)


def unpack(folder, name=NAME, parts=PARTS):
    """Unpacks `parts` of the commit (all if empty) as `folder`/`name`. The repository and its index stay untouched."""
    if git("cat-file", "-e", f"{COMMIT}^{{commit}}").returncode != 0:
        raise NotInHistory(f"{NAME} is not in this clone's history: fetch it with git fetch --unshallow")
    tree = Path(folder) / name
    if (tree / "complete").is_file(): return tree
    archive = git("archive", "--format=tar", COMMIT, *parts)
    if archive.returncode != 0: raise builds.Failed(f"git archive {NAME}: {archive.stderr.decode().strip()}")
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files: files.extractall(tree)
    (tree / "complete").touch()
    return tree


# ---- the program of the commit -----------------------------------------------------------------------------------------------------


def run(command):
    answer = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if answer.returncode != 0: raise builds.Failed(f"{NAME} does not build\n{' '.join(map(str, command))}\n{answer.stderr}")


def build(tree, release):
    """The kernel of the commit, compiled as limber_fmu is in the build `release`; rebuilt if compiler, flags or kernel change."""
    compiler, version, _ = builds.compiler(release, builds.fmu_target(release))
    flags_of = builds.flags_of_each(release, builds.fmu_target(release))
    sources = [file for layer in LAYERS for file in sorted((tree / "fmu_src" / layer).glob("*.c"))]
    flags = {file: flags_of(file.relative_to(tree).as_posix()) for file in sources} | {KERNEL: flags_of("bench/baseline/kernel.c")}
    recipe = repr((compiler, version, [(file.name, words) for file, words in flags.items()], KERNEL.read_text(), HARNESS.read_text()))
    folder = tree / f"build-{hashlib.sha256(recipe.encode()).hexdigest()[:12]}"
    program = folder / "kernel"
    if program.is_file(): return program
    folder.mkdir(exist_ok=True)
    objects = {file: folder / f"{file.parent.name}-{file.stem}.o" for file in flags}
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda file: run([compiler, *flags[file], "-w", "-I", tree, "-I", tree / "fmu_src", "-c", file, "-o", objects[file]]), flags))
    linked = folder / "kernel.new"
    run([compiler, *objects.values(), builds.cached(release, "JSONC_ARCHIVE"), "-lm", "-o", linked])
    return linked.rename(program)


# ---- the comparison --------------------------------------------------------------------------------------------------


def difference(ours, theirs):
    """The larger relative difference of the two sums that each program prints."""
    ours, theirs = (list(map(float, printed.split())) for printed in (ours, theirs))
    if not all(map(math.isfinite, ours + theirs)): raise callgrind.Failed(f"results are not finite: {ours} now, {theirs} at {NAME}")
    return max(abs(a - b) / max(abs(b), 1e-300) for a, b in zip(ours, theirs, strict=True))


def compare(release, folder, robots=ROBOTS):
    """{commit, rows, problem}: one row per robot and algorithm, or the problem that prevented the comparison."""
    try:
        tree = unpack(folder)
    except NotInHistory as missing:
        return {"commit": NAME, "rows": [], "problem": str(missing)}
    programs = {"baseline": build(tree, release), "now": Path(release) / "bench/kernel_fmu"}
    of = lambda *command: (lambda: callgrind.count(command))
    jobs = {(robot, algorithm, which): of(program, tree / f"resources/{robot}.json", algorithm, CALLS)
            for robot in robots for algorithm in ALGORITHMS for which, program in programs.items()}
    counted = measure.side_by_side(jobs, f"against {NAME}")
    rows = []
    for robot in robots:
        for algorithm in ALGORITHMS:
            (before, theirs), (now, ours) = (counted[robot, algorithm, which] for which in ("baseline", "now"))
            rows.append({"robot": robot, "algorithm": algorithm, "baseline": before / CALLS, "now": now / CALLS,
                         "difference": difference(ours, theirs)})
    return {"commit": NAME, "rows": rows, "problem": None}
