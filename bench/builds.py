"""The builds that are measured: the release build in build/out, the scalar one that operations are counted in."""

import json
import platform
import shlex
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RELEASE = ROOT / "build/out"
SCALAR = ROOT / "build/out/scalar"


class Failed(RuntimeError):
    """The compiler's words."""


def build(directory, *options, targets=("bench_kernel",)):
    configure = ["cmake", "-S", ROOT, "-B", directory, *options]
    if not (Path(directory) / "CMakeCache.txt").is_file(): configure += ["-G", "Ninja"]
    for command in configure, ["cmake", "--build", directory, "--target", *targets]:
        answer = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if answer.returncode != 0: raise Failed(f"{directory} does not build\n{answer.stdout}{answer.stderr}")


def release(directory=RELEASE):
    """The build that users get; its command line keeps the time."""
    build(directory, targets=("limber_cli", "bench_kernel"))


def scalar(directory=SCALAR):
    """No vector instructions, no fused multiply-add; debug information names the C functions that were inlined."""
    build(directory, "-DLIMBER_SCALAR=ON", "-DCMAKE_C_FLAGS=-g")


def compiler(directory=RELEASE):
    """(program, version, flags) of a build, as its compile commands have them."""
    commands = json.loads((Path(directory) / "compile_commands.json").read_text(encoding="utf-8"))
    words = shlex.split(next(entry["command"] for entry in commands if "/fmu_src/dyn/" in entry["file"]))
    version = subprocess.run([words[0], "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    kept = [word for before, word in zip(words, words[1:])
            if word.startswith(("-O", "-m", "-f", "-std", "--param")) or before == "--param"]
    return words[0], version, kept


def processor():
    """Its name."""
    try:
        rows = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        rows = []
    return next((row.split(":", 1)[1].strip() for row in rows if row.startswith("model name")), platform.processor() or "unknown")
