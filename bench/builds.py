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
    build(directory, targets=("limber_cli", "bench_kernel", "bench_kernel_fmu"))


def fmu(directory=RELEASE):
    """The kernel alone, made of the objects of limber_fmu."""
    build(directory, targets=("bench_kernel_fmu",))


def scalar(directory=SCALAR):
    """No vector instructions, no fused multiply-add; debug information names the C functions that were inlined."""
    build(directory, "-DLIMBER_SCALAR=ON", "-DCMAKE_C_FLAGS=-g")


def commands(directory, target):
    """{source file: words of its compile command} of a target, source files relative to the root."""
    entries = json.loads((Path(directory) / "compile_commands.json").read_text(encoding="utf-8"))
    return {Path(entry["file"]).relative_to(ROOT).as_posix(): shlex.split(entry["command"]) for entry in entries
            if f"CMakeFiles/{target}.dir/" in entry["command"]}


def flags(words):
    """Those of a compile command that the code depends on: not files, folders or warnings."""
    kept, rest = [], iter(words[1:])
    for word in rest:
        if word in ("-o", "-c", "-I", "-isystem"): next(rest)
        elif word == "--param": kept += [word, next(rest)]
        elif word.startswith(("-O", "-m", "-f", "-std", "-D")) and not word.endswith("_EXPORTS"): kept.append(word)
    return kept


def version(compiler):
    return subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout.splitlines()[0]


def compiler(directory=RELEASE, target="limber"):
    """(program, version, flags) that a target is compiled with."""
    words = next(words for file, words in commands(directory, target).items() if file.startswith("fmu_src/dyn/"))
    return words[0], version(words[0]), flags(words)


def flags_of_each(directory, target):
    """file -> its flags in a target. A file that the target does not have gets those of the file of its name, or the common ones."""
    own = {file: flags(words) for file, words in commands(directory, target).items()}
    by_name = {Path(file).name: words for file, words in own.items()}
    common = compiler(directory, target)[2]
    return lambda file: own.get(file) or by_name.get(Path(file).name, common)


def cached(directory, name):
    """The value of a CMake variable of a build."""
    rows = (Path(directory) / "CMakeCache.txt").read_text(encoding="utf-8").splitlines()
    return next(row.split("=", 1)[1] for row in rows if row.startswith(f"{name}:"))


def processor():
    """Its name."""
    try:
        rows = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        rows = []
    return next((row.split(":", 1)[1].strip() for row in rows if row.startswith("model name")), platform.processor() or "unknown")
