"""liblimber: installed into a prefix, linked by programs that know nothing else, and equal to the program `limber`."""
import csv
import os
import re
import shutil
import subprocess

import pytest

FUNCTION = re.compile(r"^LIMBER_API [^;]*?\b(limber_\w+)\(", re.MULTILINE)


def run(*words, **environment):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=120, env={**os.environ, **environment})
    assert done.returncode == 0, f"{words}: {done.stderr}{done.stdout}"
    return done.stdout


@pytest.fixture(scope="module")
def prefix(limber, tmp_path_factory):
    """A prefix that was moved after the installation: nothing in it may depend on where it was."""
    folder = tmp_path_factory.mktemp("installed")
    run("cmake", "--install", limber.parent, "--prefix", folder / "first")
    return (folder / "first").rename(folder / "moved")


@pytest.fixture(scope="module")
def libraries(prefix):
    """Where the libraries are: lib, lib64 or lib/TRIPLET."""
    return next(prefix.rglob("liblimber.so")).parent


@pytest.fixture(scope="module")
def header(prefix):
    return (prefix / "include/limber.h").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def simulated(limber, prefix, tmp_path_factory):
    """Rows of `limber simulate` with the torque of the example: time and all outputs, as text."""
    torque = tmp_path_factory.mktemp("torque") / "torque.csv"
    torque.write_text("time,upper_joint.tau\n0,0\n2,4\n")
    robot = prefix / "share/limber/canadarm.json"
    rows = list(csv.reader(run(limber, "simulate", robot, "--until", 2, "--step", 0.01, "--inputs", torque).splitlines()))
    assert len(rows) == 202
    return rows[1:]


def pkg_config(libraries, *options):
    return run("pkg-config", *options, "limber", PKG_CONFIG_PATH=str(libraries / "pkgconfig")).split()


def compare(program, prefix, libraries, simulated):
    """The program's CSV is the beginning of that of `limber simulate`, bit for bit."""
    text = run(program, prefix / "share/limber/canadarm.json", LD_LIBRARY_PATH=str(libraries))
    rows = list(csv.reader(text.splitlines()))
    width = len(rows[0])
    assert width > 30
    assert rows == [row[:width] for row in simulated]


def exported(*command):
    return {line.split()[2] for line in run("nm", *command).splitlines() if len(line.split()) == 3}


def test_exactly_the_functions_of_the_header_are_visible(header, libraries):
    declared = set(FUNCTION.findall(header))
    assert len(declared) > 80
    assert exported("-D", "--defined-only", libraries / "liblimber.so") == declared
    assert exported("-g", "--defined-only", libraries / "liblimber.a") == declared


@pytest.mark.parametrize("compiler, standard", [("gcc", "c99"), ("gcc", "c17"), ("g++", "c++98"), ("g++", "c++17"), ("clang", "c11")])
def test_the_header_compiles_without_a_warning(prefix, tmp_path, compiler, standard):
    if shutil.which(compiler) is None: pytest.skip(f"there is no {compiler}")
    source = tmp_path / ("use.cpp" if "+" in compiler else "use.c")
    source.write_text("#include <limber.h>\n#include <limber.h>\n"
                      "int version(void) { return LIMBER_VERSION_MAJOR + LIMBER_VERSION_MINOR + LIMBER_VERSION_PATCH; }\n")
    run(compiler, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Wstrict-prototypes" if "+" not in compiler else "-Wshadow",
        "-Werror", "-c", source, "-I", prefix / "include", "-o", tmp_path / "use.o")


def test_the_example_is_short(root):
    assert len((root / "examples/embed/canadarm.c").read_text(encoding="utf-8").splitlines()) <= 40


def test_example_by_cmake(root, prefix, libraries, simulated, tmp_path):
    run("cmake", "-S", root / "examples/embed", "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path)
    compare(tmp_path / "canadarm", prefix, libraries, simulated)


@pytest.mark.parametrize("options", [["-march=x86-64", "-O0"], ["-march=native", "-O3", "-ffast-math"]])
def test_example_with_other_flags_than_the_library(root, prefix, libraries, simulated, tmp_path, options):
    """Layouts do not depend on the caller's flags; the library is built for AVX2 where the machine has it."""
    program = tmp_path / "canadarm"
    run("gcc", *options, root / "examples/embed/canadarm.c", *pkg_config(libraries, "--cflags", "--libs"), "-o", program)
    compare(program, prefix, libraries, simulated)


def test_example_with_the_archive(root, prefix, libraries, simulated, tmp_path):
    program = tmp_path / "canadarm"
    flags = [libraries / "liblimber.a" if word == "-llimber" else word
             for word in pkg_config(libraries, "--cflags", "--libs", "--static")]
    run("gcc", "-march=x86-64", root / "examples/embed/canadarm.c", *flags, "-o", program)
    assert "liblimber" not in run("ldd", program)
    compare(program, prefix, libraries, simulated)


def test_the_installed_program_finds_its_libraries(prefix, libraries, tmp_path):
    environment = {name: "" for name in os.environ if name.startswith("LIMBER")}
    out = run(prefix / "bin/limber", "fmu", prefix / "share/limber/canadarm.json", "-o", tmp_path / "x.fmu", **environment)
    assert "canadarm" in out and (tmp_path / "x.fmu").is_file()
    assert (libraries / "limber/limber_fmu.so").is_file()
    out = run(prefix / "bin/limber", "fmu", prefix / "share/limber/canadarm.json", "-o", tmp_path / "y.fmu", "--generated", **environment)
    assert "generated code" in out and (tmp_path / "y.fmu").is_file()
