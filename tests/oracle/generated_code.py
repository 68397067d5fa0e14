"""Code of random robots, compiled and run: `./run.sh generated` for 100 of them.

Each generated test program compares its functions with the library to 1e-9 of the largest number of a result."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROBOTS = Path(os.environ["LIMBER"]).resolve().parent / "tests/generated_robots"
WARNINGS = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def compilers():
    return [name for name in ("gcc", "clang") if shutil.which(name)]


def build_and_run(folder, compiler, *options):
    """Compiles all files of a generated robot and runs its test program; returns what is wrong, or None."""
    program = Path(folder) / f"test-{compiler}"
    sources = sorted(map(str, Path(folder).glob("*.c")))
    for command in [compiler, *WARNINGS, *options, *sources, "-lm", "-o", str(program)], [str(program)]:
        answer = subprocess.run(command, capture_output=True, text=True)
        if answer.returncode != 0: return f"{folder}: {command[0]} failed\n{answer.stdout}{answer.stderr}"
    return None


def main(count):
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([ROBOTS, folder, str(count)], check=True)
        for i in range(count):
            problem = build_and_run(Path(folder) / str(i), compilers()[i % len(compilers())], "-O0")
            if problem: print(problem, flush=True)
            failed += problem is not None
    print(f"{count - failed} of {count} generated robots agree with the library to 1e-9")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100))
