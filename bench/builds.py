"""The builds that are measured (README.md), and the flags that they are compiled with."""

import json
import platform
import shlex
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RELEASE = ROOT / "build/out"
SCALAR = ROOT / "build/out/scalar"


class Failed(RuntimeError):
    """A build failed; the text is the output of the compiler."""


def build(directory, *options, targets=("bench_kernel",)):
    configure = ["cmake", "-S", ROOT, "-B", directory, *options]
    if not (Path(directory) / "CMakeCache.txt").is_file(): configure += ["-G", "Ninja"]
    for command in configure, ["cmake", "--build", directory, "--target", *targets]:
        answer = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if answer.returncode != 0: raise Failed(f"{directory} does not build\n{answer.stdout}{answer.stderr}")


def fmu_target(directory=RELEASE):
    """The target whose object files an FMU runs on this machine: of its two sets of instructions, the one that kernel_fmu is linked from."""
    return f"fmu_{cached(directory, 'LIMBER_FMU_SET')}"


def release(directory=RELEASE):
    """The release build with the kernels and the command line, whose `limber bench` measures times; the FMU build is part of it."""
    build(directory, targets=("limber_cli", "bench_kernel", "bench_kernel_fmu"))


def fmu(directory=RELEASE):
    """Only the kernel of the FMU build, linked from the object files of limber_fmu that it runs on this machine."""
    build(directory, targets=("bench_kernel_fmu",))


def scalar(directory=SCALAR):
    """No vector instructions, no fused multiply-add; debug information gives the names of inlined functions."""
    build(directory, "-DLIMBER_SCALAR=ON", "-DCMAKE_C_FLAGS=-g")


def commands(directory, target):
    """{source file: compile command as a list} of a target; file names are relative to the root."""
    entries = json.loads((Path(directory) / "compile_commands.json").read_text(encoding="utf-8"))
    return {Path(entry["file"]).relative_to(ROOT).as_posix(): shlex.split(entry["command"]) for entry in entries
            if f"CMakeFiles/{target}.dir/" in entry["command"]}


def flags(words):
    """The flags of a compile command that affect the generated code: no files, folders or warnings."""
    kept, rest = [], iter(words[1:])
    for word in rest:
        if word in ("-o", "-c", "-I", "-isystem"): next(rest)
        elif word == "--param": kept += [word, next(rest)]
        elif word.startswith(("-O", "-m", "-f", "-std", "-D")) and not word.endswith("_EXPORTS"): kept.append(word)
    return kept


def version(compiler):
    return subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout.splitlines()[0]


def compiler(directory=RELEASE, target="limber"):
    """(program, version, flags) that compile a target."""
    words = next(words for file, words in commands(directory, target).items() if file.startswith("fmu_src/dyn/"))
    return words[0], version(words[0]), flags(words)


def flags_of_each(directory, target):
    """A function: file -> its flags in a target. A file not in the target gets the flags of a file of the same name, or the common ones."""
    own = {file: flags(words) for file, words in commands(directory, target).items()}
    by_name = {Path(file).name: words for file, words in own.items()}
    common = compiler(directory, target)[2]
    return lambda file: own.get(file) or by_name.get(Path(file).name, common)


def cached(directory, name):
    """The value of a variable in the CMake cache of a build."""
    rows = (Path(directory) / "CMakeCache.txt").read_text(encoding="utf-8").splitlines()
    return next(row.split("=", 1)[1] for row in rows if row.startswith(f"{name}:"))


def processor():
    """The name of the processor."""
    try:
        rows = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        rows = []
    return next((row.split(":", 1)[1].strip() for row in rows if row.startswith("model name")), platform.processor() or "unknown")
