"""The bench: it counts what it says it counts, and the recursion grows with the number of links, not faster."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import arms  # noqa: E402
import baseline  # noqa: E402
import bounds  # noqa: E402
import builds  # noqa: E402
import callgrind  # noqa: E402
import integration_page  # noqa: E402
import integration_parts  # noqa: E402
import measure  # noqa: E402
import opcount  # noqa: E402
import report  # noqa: E402
import work_precision  # noqa: E402

# Of n numbers, n = 10: squares n mul, n add; cubics n times 3 mul, 3 add, 1 sub; at the end 1 div, 1 mul, 1 add, 1 root.
KNOWN = r"""
#include <math.h>
#include <stdio.h>
enum { N = 10, CALLS = 3 };
double measured_known(const double *a);
double unmeasured(const double *a);
static inline double square(double x) { return x * x; }
static __attribute__((noipa)) double cubic(double x) { return ((x * 3 + 1) * x - 2) * x + 5; }
__attribute__((noipa)) double measured_known(const double *a)
{
    double s = 0;
    for (int i = 0; i < N; i++) s += square(a[i]);
    for (int i = 0; i < N; i++) s -= cubic(-a[i]);
    s /= a[0];
    return sqrt(s * s + 1) * (SINE);
}
__attribute__((noipa)) double unmeasured(const double *a) { return cubic(a[0]) * a[1] / a[2]; }
int main(void)
{
    double a[N], sum = 0;
    for (int i = 0; i < N; i++) a[i] = 1.5 + i;
    for (int i = 0; i < CALLS; i++) sum += measured_known(a) + unmeasured(a);
    printf("%g\n", sum);
    return 0;
}
"""
N, CALLS = 10, 3


def count_known(folder, *flags, sine="1"):
    source, program = folder / "known.c", folder / "known"
    source.write_text(KNOWN.replace("SINE", sine), encoding="utf-8")
    subprocess.run(["gcc", "-g", "-fno-math-errno", *flags, str(source), "-o", str(program), "-lm"], check=True)
    return opcount.count([str(program)], CALLS).as_dict()


@pytest.mark.parametrize("flags", [
    ["-O1"],
    ["-O2", "-ffp-contract=off", "-fno-tree-vectorize"],
    ["-O2", "-no-pie"],
    ["-O3", "-fPIE", "-pie"],
    ["-O3", "-ffp-contract=fast", "-march=x86-64-v3"],
], ids=" ".join)
def test_known_program_is_counted_exactly(tmp_path, flags):
    """Whatever the compiler makes of it (packed, fused, position independent, inlined or not), the arithmetic is the source's."""
    answer = count_known(tmp_path, *flags)
    assert [answer[kind] for kind in opcount.KINDS] == [4 * N + 1, 5 * N + 1, 1, 1]
    cubic = answer["functions"]["cubic"]
    assert cubic["own"] == cubic["inclusive"] == {"mul": 3 * N, "add": 3 * N}
    assert answer["functions"]["measured_known"]["inclusive"]["mul"] == 4 * N + 1
    assert answer["functions"]["square"]["own"]["mul"] == N
    assert "unmeasured" not in answer["functions"] and "main" not in answer["functions"]


def test_library_stands_apart(tmp_path):
    answer = count_known(tmp_path, "-O2", "-fno-tree-vectorize", sine="sin(s)")
    assert [answer[kind] for kind in opcount.KINDS] == [4 * N + 2, 5 * N + 1, 1, 1]
    assert sum(times for name, times in answer["library_calls"].items() if "sin" in name) == 1
    assert answer["library"]["mul"] > 0


@pytest.mark.parametrize("mnemonic, operands, expected", [
    ("mulsd", "%xmm0,%xmm1", {"mul": 1}),
    ("mulpd", "(%rax),%xmm1", {"mul": 2}),
    ("vmulpd", "(%rax),%ymm1,%ymm2", {"mul": 4}),
    ("vaddps", "%ymm0,%ymm1,%ymm2", {"add": 8}),
    ("subsd", "%xmm0,%xmm1", {"add": 1}),
    ("vaddsubpd", "%xmm0,%xmm1,%xmm2", {"add": 2}),
    ("vfmadd231sd", "%xmm0,%xmm1,%xmm2", {"mul": 1, "add": 1}),
    ("vfnmadd132pd", "(%rax),%ymm1,%ymm2", {"mul": 4, "add": 4}),
    ("sqrtsd", "%xmm0,%xmm0", {"sqrt": 1}),
    ("vdivpd", "%xmm0,%xmm1,%xmm2", {"div": 2}),
    ("fmulp", "%st,%st(1)", {"mul": 1}),
    ("fsqrt", "", {"sqrt": 1}),
    ("add", "%rax,%rbx", {}), ("sub", "$0x8,%rsp", {}), ("addl", "$1,(%rax)", {}), ("imul", "%rax,%rbx", {}),
    ("mul", "%rcx", {}), ("div", "%rcx", {}), ("divq", "(%rax)", {}), ("paddd", "%xmm0,%xmm1", {}),
    ("xorpd", "%xmm0,%xmm1", {}), ("andpd", "%xmm0,%xmm1", {}), ("comisd", "%xmm0,%xmm1", {}), ("cvtsi2sd", "%eax,%xmm1", {}),
    ("maxsd", "%xmm0,%xmm1", {}), ("movapd", "%xmm0,%xmm1", {}), ("fld", "%st(0)", {}),
])
def test_what_an_instruction_does(mnemonic, operands, expected):
    assert dict(opcount.operations(mnemonic, operands)) == expected


def test_nothing_counted_is_a_failure(tmp_path):
    with pytest.raises(callgrind.Failed, match="nothing was counted"):
        callgrind.instructions(["/bin/true"], "no_such_function")


@pytest.fixture(scope="module")
def release():
    if not (builds.RELEASE / "bench/kernel").is_file(): pytest.fail("build/out/bench/kernel is missing: run ./test.sh")
    return builds.RELEASE


@pytest.mark.parametrize("elastic", [0, 4])
def test_instructions_grow_linearly_in_links(release, tmp_path, elastic):
    robots = {links: arms.write(links, *measure.MODES[elastic], tmp_path) for links in (8, 16, 32)}
    rows = [{"links": links, "elastic": elastic, **{a: measure.instructions(release, robot, a) for a in measure.ALGORITHMS}}
            for links, robot in robots.items()]
    fit = measure.exponents(rows, elastic)
    assert fit["forward"] < bounds.EXPONENT < fit["composite"]


def test_full_jacobian_costs_few_forward_dynamics(release):
    """d(qdd)/d(q, qd) of Cibicik and Egeland's arm; differences would take 33 forward dynamics."""
    count = {a: measure.instructions(release, ROOT / "resources/cibicik.json", a) for a in ("forward", "derivatives")}
    assert count["derivatives"] <= bounds.JACOBIAN * count["forward"]


def test_command_measures_derivatives(limber):
    answer = subprocess.run([limber, "bench", str(ROOT / "resources/cibicik.json"), "--json"], capture_output=True, text=True, timeout=60)
    found = json.loads(answer.stdout)
    assert list(found) == ["forward_ns", "composite_ns", "inverse_ns", "derivatives_ns"]
    assert found["derivatives_ns"] > found["forward_ns"] > 0


def test_quick_run(tmp_path):
    """Tables, results, plot; the exit code says whether a bound is missed, and the text says which."""
    answer = subprocess.run([sys.executable, str(ROOT / "bench/run.py"), "--quick", "--out", str(tmp_path)],
                            capture_output=True, text=True, timeout=300)
    assert answer.returncode in (0, 1) and answer.stderr == "", answer.stderr
    results = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    missed = [bound["what"] for bound in results["bounds"] if not bound["met"]]
    assert answer.returncode == (1 if missed else 0)
    assert [row for row in answer.stdout.splitlines() if row.startswith("MISSED")] == [
        row for row in answer.stdout.splitlines() for what in missed if row.startswith(f"MISSED {what}:")]
    assert answer.stdout.count("MISSED ") >= len(missed)
    assert all(row["forward_ns"] > 0 and row["forward"] > 0 for row in results["growth"])
    assert results["baseline"]["problem"] or all(row["difference"] <= bounds.SAME for row in results["baseline"]["rows"])
    assert (tmp_path / "growth.png").stat().st_size > 0


def test_a_missed_bound_is_named():
    results = {"exponents": [{"elastic": 4, "from": 8, "to": 64, "forward": 1.3, "composite": 2.5}],
               "rivals": [{"elastic": 5, "build": "release", "forward": 1.0, "composite": 3.0}],
               "operations": [{"terms": "ruthless", "algorithm": "forward", "mul": 9874, "add": 7698}],
               "jacobian": [{"robot": "cibicik", "build": "FMU", "forward": 10.0, "derivatives": 120.5}], "rigid": [],
               "baseline": {"commit": "0123456", "problem": None, "rows": [
                   {"robot": "chain-7", "algorithm": "forward", "baseline": 10000.0, "now": 10200.0, "difference": 1e-9},
                   {"robot": "chain-7", "algorithm": "inverse", "baseline": 10000.0, "now": 10201.0, "difference": 0.0},
                   {"robot": "chain-7", "algorithm": "derivatives", "baseline": 10000.0, "now": 9000.0, "difference": 1.1e-9}]}}
    found = bounds.check(results)
    assert [bound["met"] for bound in found] == [False, True, False, True, False, True, False, False]
    assert report.missed(found[6]) == "MISSED instructions / those of 0123456, FMU build, inverse, chain-7: 1.0201, wanted <= 1.02"
    assert "the results differ by 1.1e-09" in report.missed(found[7])
    assert "MISSED" in report.baseline(results) and "invalid" in report.baseline(results)


# ---- against an earlier commit ---------------------------------------------------------------------------------------


def test_without_history_the_comparison_is_missed(tmp_path, monkeypatch):
    """A clone without the commit says how to get it; that counts as a missed bound."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "init", "-q", str(clone)], check=True)
    monkeypatch.setattr(builds, "ROOT", clone)
    found = baseline.compare(builds.RELEASE, tmp_path / "baseline")
    assert found["rows"] == [] and found["problem"].endswith(
        "is not in this clone's history: fetch it with git fetch --unshallow")
    bound, = bounds.against_baseline(found)
    assert not bound["met"] and found["problem"] in report.missed(bound) and found["problem"] in report.baseline({"baseline": found})


def test_flags_of_the_fmu_are_kept():
    """What shapes the code stays: options with a value, definitions; files, folders and warnings go."""
    words = ("cc -Dlimber_fmu_EXPORTS -DN=2 -I/a -I /b -isystem /c -fPIC -Wall -Werror -O3 --param x=800 -march=x86-64 -std=c11 "
             "-ftree-vectorize -o dense.o -c /d/dense.c").split()
    assert builds.flags(words) == "-DN=2 -fPIC -O3 --param x=800 -march=x86-64 -std=c11 -ftree-vectorize".split()


def test_sums_tell_results_apart():
    assert baseline.difference("1 2", "1 2") == 0
    assert baseline.difference("1 2.000002", "1 2") == pytest.approx(1e-6)
    with pytest.raises(ValueError): baseline.difference("1 2", "1")
    with pytest.raises(callgrind.Failed, match="not finite"): baseline.difference("1 nan", "1 2")


# ---- docs/integration.md -----------------------------------------------------------------------------------------------


def test_page_of_integration_has_its_parts():
    """Constants of the template are in the sources; every part that is measured is shown."""
    wanted = re.findall(r"\{\{([^}]+)\}\}", integration_page.TEMPLATE.read_text(encoding="utf-8"))
    for name in wanted:
        if name.startswith("c:"): assert float(integration_page.constant(name[2:])) > 0, name
    assert set(integration_parts.PARTS) | {"methods"} == set(integration_page.SECTIONS) <= set(wanted)


def test_cost_at_equal_error_follows_the_cheapest_points():
    points = [{"error": e, "seconds": c} for e, c in ((1e-2, 1.0), (1e-4, 100.0), (1e-1, 50.0))] + [{"rtol": 1e-9, "failure": "too long"}]
    assert work_precision.cost_at(points, 1e-3, "seconds") == pytest.approx(10)
    assert work_precision.cost_at(points, 1, "seconds") == 1
    assert work_precision.cost_at(points, 1e-5, "seconds") is None
