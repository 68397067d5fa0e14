"""The results as Markdown tables that are also readable on a terminal."""

import bounds
from opcount import KINDS, number

CALLED = {"forward": "forward dynamics", "inverse": "inverse dynamics", "derivatives": "full Jacobian"}
COMMAND = "build/out/venv/bin/python bench/run.py --write-docs"


def table(head, rows):
    """An aligned Markdown table; the first column is text, the others are numbers."""
    cells = [list(map(str, row)) for row in (head, *rows)]
    width = [max(3, *(len(row[i]) for row in cells)) for i in range(len(head))]
    line = lambda row: "| " + " | ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, width))) + " |"
    rule = "| " + " | ".join("-" * w if i == 0 else "-" * (w - 1) + ":" for i, w in enumerate(width)) + " |"
    return "\n".join([line(cells[0]), rule, *map(line, cells[1:])])


def growth(results):
    rows = [(row["elastic"], row["links"], row["n"], f"{row['forward']:.0f}", f"{row['composite']:.0f}",
             f"{row['composite'] / row['forward']:.2f}", f"{row['forward_ns']:.0f}", f"{row['composite_ns']:.0f}",
             f"{row['composite_ns'] / row['forward_ns']:.2f}") for row in results["growth"]]
    return table(("elastic per link", "links", "n", "recursive, instr.", "composite, instr.", "ratio", "recursive, ns",
                  "composite, ns", "ratio"), rows)


def exponents(results):
    return table(("elastic per link", "links", "recursive", "composite"),
                 [(fit["elastic"], f"{fit['from']} to {fit['to']}", f"{fit['forward']:.3f}", f"{fit['composite']:.3f}")
                  for fit in results["exponents"]])


def times(row, other):
    """Nanoseconds of the forward dynamics, of another algorithm, and their ratio; empty if they were not measured."""
    if "forward_ns" not in row: return "", "", ""
    return f"{row['forward_ns']:.0f}", f"{row[f'{other}_ns']:.0f}", f"{row[f'{other}_ns'] / row['forward_ns']:.2f}"


def rivals(results):
    return table(("build", "elastic per link", "recursive, instr.", "composite, instr.", "ratio", "at least", "recursive, ns",
                  "composite, ns", "ratio"),
                 [(row["build"], row["elastic"], f"{row['forward']:.0f}", f"{row['composite']:.0f}",
                   f"{row['composite'] / row['forward']:.2f}", bounds.RATIO[row["elastic"]], *times(row, "composite"))
                  for row in results["rivals"]])


def operations(results):
    called = lambda row: number(sum(times for name, times in row["library_calls"].items() if "sin" in name or "cos" in name))
    rows = [(f"{'recursive' if row['algorithm'] == 'forward' else 'composite'}, {row['terms']}",
             *(number(row[kind]) for kind in KINDS), called(row), f"{row['instructions']:.0f}") for row in results["operations"]]
    rows.append(("Mohan and Saha, table 1", bounds.MOHAN_SAHA["mul"], bounds.MOHAN_SAHA["add"], "", "", "", ""))
    return table(("algorithm, elastic terms", *(bounds.NAMES[kind] for kind in KINDS), "sine and cosine", "instructions"), rows)


def jacobian(results):
    return table(("robot", "build", "forward dynamics, instr.", "full Jacobian, instr.", "ratio", "forward dynamics, ns", "full Jacobian, ns", "ratio"),
                 [(row["robot"], row["build"], f"{row['forward']:.0f}", f"{row['derivatives']:.0f}",
                   f"{row['derivatives'] / row['forward']:.2f}", *times(row, "derivatives"))
                  for row in results["jacobian"]])


def rigid(results):
    hertz = results["machine"]["gigahertz"]
    cycles = lambda ns, ghz: f"{ns * ghz:.0f}" if ghz else ""
    rows = []
    for row in results["rigid"]:
        own, line = row["instructions"], bounds.STRAIGHT_LINE[row["robot"]]
        rows += [(f"{row['robot']}: Limber, release build", f"{own:.0f}", "1.00", f"{row['forward_ns']:.0f}", cycles(row["forward_ns"], hertz)),
                 (f"{row['robot']}: Limber, FMU build", f"{row['fmu_instructions']:.0f}", f"{own / row['fmu_instructions']:.2f}", "", ""),
                 (f"{row['robot']}: Pinocchio, best build", bounds.PINOCCHIO, f"{own / bounds.PINOCCHIO:.2f}",
                  f"{bounds.PINOCCHIO_NS:.0f}", cycles(bounds.PINOCCHIO_NS, bounds.PINOCCHIO_GHZ)),
                 (f"{row['robot']}: Pinocchio, straight-line code", line, f"{own / line:.2f}", "", "")]
    return table(("rigid arm", "instructions", "release / this", "ns", "cycles"), rows)


def distance(results):
    """The ratios of the table, in words."""
    return "\n".join(f"- {row['robot']}: {row['instructions'] / bounds.PINOCCHIO:.2f} times the instructions of Pinocchio's best build, "
                     f"{row['instructions'] / bounds.STRAIGHT_LINE[row['robot']]:.2f} times those of straight-line code."
                     for row in results["rigid"])


def rigid_operations(results):
    return table(("rigid arm", *(bounds.NAMES[kind] for kind in KINDS), "instructions, scalar build"),
                 [(row["robot"], *(number(row[kind]) for kind in KINDS), f"{row['scalar_instructions']:.0f}") for row in results["rigid"]])


def baseline(results):
    found = results["baseline"]
    if found["problem"]: return f"MISSED: {found['problem']}"
    rows = [(row["robot"], CALLED[row["algorithm"]], f"{row['baseline']:.0f}", f"{row['now']:.0f}", f"{row['now'] / row['baseline']:.4f}",
             f"<= {bounds.BASELINE}", verdict(bound)) for row, bound in zip(found["rows"], bounds.against_baseline(found), strict=True)]
    return table(("robot", "algorithm", found["commit"], "now", "ratio", "wanted", ""), rows)


def verdict(bound):
    return "met" if bound["met"] else f"MISSED, {bound['problem']}" if "problem" in bound else "MISSED"


def value(bound):
    if bound["value"] is None: return "none"
    return f"{bound['value']:.3f}" if bound["value"] < 100 else f"{bound['value']:.0f}"


def required(results):
    return table(("bound", "value", "wanted", ""),
                 [(b["what"], value(b), f"{b['sense']} {b['bound']}", verdict(b)) for b in results["bounds"]])


def missed(bound):
    return f"MISSED {bound['what']}: {bound.get('problem') or format(bound['value'], '.5g')}, wanted {bound['sense']} {bound['bound']}"


def sections(results):
    """(title, text) of all tables, in order."""
    machine = results["machine"]
    hertz = f", {machine['gigahertz']:.2f} GHz while measuring" if machine["gigahertz"] else ""
    here = (f"- processor: {machine['processor']}{hertz}\n- compiler: {machine['compiler']}\n"
            f"- release build: `{machine['flags']['release']}`\n- FMU build: `{machine['flags']['FMU']}`\n- scalar build: `{machine['flags']['scalar']}`\n"
            f"- instruction counts: {machine['valgrind']}, callgrind")
    return [
        ("Bounds", required(results)),
        ("This machine", here),
        (f"Against commit {results['baseline']['commit']}",
         "Instructions of one call of the functions that an FMU calls, in the FMU build, now and at that commit: same compiler, flags,\n"
         "robots and random states, counted in one run. The full Jacobian includes one forward dynamics. A row is valid if the results of\n"
         f"both agree to a relative {bounds.SAME:g}.\n\n" + baseline(results)),
        ("Growth with the number of links",
         "Forward dynamics of uniform spatial arms: clamped-free beams, joint axes alternating between z and y, gravity, all elastic\n"
         "terms. Elastic coordinates per link: 2 are two bending modes along y, 4 are two along y and two along z, 8 are four along y and\n"
         "four along z. Recursive is the articulated-body algorithm; composite is the mass matrix by composite bodies and its Cholesky\n"
         "factorization. Release build.\n\n"
         + growth(results)
         + f"\n\nExponents p in instructions ~ links^p, by least squares in logarithms. Linear growth is 1; the bound for the recursion is {bounds.EXPONENT}.\n\n"
         + exponents(results)),
        ("Recursive against composite",
         "The 8-link arm with 5 (three along y, two along z) and 10 (five along each) elastic coordinates per link, all elastic terms.\n\n" + rivals(results)),
        ("Operations of one forward dynamics",
         "The 8-link arm with two bending modes in each of two planes. Operations are counted from execution counts of the instructions\n"
         "of the scalar build (callgrind) and their disassembly. Subtractions count as additions; sign changes and comparisons do not\n"
         "count; sines and cosines are counted as calls. `bench/opcount.py` shows which functions the operations are in.\n\n"
         + operations(results)),
        ("Exact derivatives",
         "The full Jacobian, d(qdd)/dq and d(qdd)/dqd, by a recursion of their own (theory.md, All derivatives of a tree); robots with loops or actuators by tangents of the\n"
         "forward recursion. It starts from the state alone, so it includes one\n"
         f"forward dynamics. The bound is {bounds.JACOBIAN:.0f} times one forward dynamics, for Cibicik and Egeland's arm.\n\n" + jacobian(results)),
        ("Rigid arms",
         "Articulated-body forward dynamics of `resources/chain-7.json` and `resources/twisted-7.json`, next to published figures of\n"
         "Pinocchio 4.1 (clang, AVX2; not measured here, times on a 3.5 GHz core). The release build uses AVX2 as well, the FMU build\n"
         "does not. Straight-line code is generated for one robot, without loops or branches; the difference is the cost of a general\n"
         "recursion that reads its model from memory. Cycles are time multiplied by clock rate.\n\n" + rigid(results) + "\n\n" + distance(results) + "\n\nOperations of the same calls, scalar build:\n\n" + rigid_operations(results)),
    ]


def text(results):
    return "\n\n".join(f"== {title}\n\n{body}" for title, body in sections(results))


def markdown(results):
    head = ("# Performance\n\n"
            f"Generated by `{COMMAND}`; do not edit.\n\n"
            "Instruction and operation counts are exact and the same in every run with the same compiler. Times are from one machine, the\n"
            "best of many batches at random states; their ratios are from the same run. `bench/README.md` describes the builds.\n")
    return head + "".join(f"\n## {title}\n\n{body}\n" for title, body in sections(results))
