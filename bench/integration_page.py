"""The page docs/integration.md from the results of bench/integration.py and its template."""

import json
import re

import builds
import plot
import problems
import work_precision

TEMPLATE = builds.ROOT / "bench/integration.template.md"
PAGE = builds.ROOT / "docs/integration.md"
FIGURES = builds.ROOT / "docs/figures"
LEVELS = 1e-5, 1e-6, 1e-7  # of errors at which methods are compared [m]
NAMES = {"auto": "automatic", "cvode": "CVODE", "esdirk": "ESDIRK", "explicit": "explicit", "symmetric": "symmetric"}


def table(head, rows):
    """Markdown; a column is text if its head begins with `<`."""
    align = ["---" if name.startswith("<") else "---:" for name in head]
    lines = [[name.lstrip("<") for name in head], align, *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def milliseconds(seconds): return f"{1e3 * seconds:.3g}"


def millions(instructions): return f"{instructions / 1e6:.3g}" if instructions else ""


def rtol_text(rtol): return f"{rtol:.0e}"


# ---- work and precision --------------------------------------------------------------------------------------------------------


def at_equal_error(results, cost, unit):
    """Costs of all methods at the errors LEVELS"""
    rows = []
    for each in results.values():
        for level in LEVELS:
            found = {name: work_precision.cost_at(points, level, cost) for name, points in each["methods"].items()}
            single = [value for name, value in found.items() if value and name != "auto"]
            if not found["auto"] or not single: continue
            rows.append([each["title"], f"{level:.0e}", *(unit(found[name]) if found[name] else "" for name in NAMES), f"{found['auto'] / min(single):.2f}"])
    return rows


def tolerance_rows(results):
    for each in results.values():
        errors = {point["rtol"]: point["error"] for point in work_precision.good(each["methods"]["auto"])}
        yield [each["title"], *(f"{errors[10.0**-k]:.1e}" if 10.0**-k in errors else "" for k in work_precision.DECADES), f"{each['reference']:.0e}"]


def failures(results):
    texts = [f"{each['title']}, {NAMES[name]}, rtol {rtol_text(point['rtol'])}: {point['failure']}"
             for each in results.values() for name, points in each["methods"].items() for point in points if "failure" in point]
    return "\n\nRuns that failed or took too long:\n\n" + "\n".join(f"- {text}" for text in texts) if texts else ""


def all_counts(each):
    return [point["instructions"] for points in each["methods"].values() for point in work_precision.good(points) if point["instructions"]]


def most_counted(results):
    return max(count for each in results.values() for count in all_counts(each))


def nothing_counted(results):
    titles = [each["title"] for each in results.values() if not all_counts(each)]
    return f" and some problems have none ({'; '.join(titles)})" if titles else ""


def methods(results):
    head = ["<problem", "error [m]", *NAMES.values(), "automatic / best"]
    over = lambda rows: [f"{row[0]} at {row[1]} m ({row[-1]})" for row in rows if float(row[-1]) > 1.5]
    counted, timed = at_equal_error(results, "instructions", millions), at_equal_error(results, "seconds", milliseconds)
    verdict = lambda rows: ("Above 1.5: " + ", ".join(over(rows)) + ".") if over(rows) else "Automatic nowhere costs more than 1.5 times the best single method."
    return (f"Tolerances are powers of ten, 1e-{work_precision.DECADES[0]} to 1e-{work_precision.DECADES[-1]}. Left out: tighter ones after a run of more than {work_precision.SLOW} s of CPU time or an error "
            f"below {work_precision.ENOUGH:g} m. Instructions are counted at every second tolerance and not for costly runs (the costliest that was counted took {most_counted(results) / 1e6:.0f} M), so that "
            f"curves of instructions have fewer points{nothing_counted(results)}. Crosses: ff4cbf0 (`bench/gains.py`).\n\n"
            "Error of the tip [m] with the automatic choice. The error of the reference is the distance between the explicit method at 1e-11 and ESDIRK at 1e-9:\n\n"
            + table(["<problem", *(f"1e-{k}" for k in work_precision.DECADES), "reference"], tolerance_rows(results))
            + "\n\nMillions of instructions at equal error, interpolated between the points of the plot; a run at the loosest tolerance that errs less counts as it is:\n\n" + table(head, counted) + f"\n\n{verdict(counted)}"
            + "\n\nThe same in milliseconds of CPU time (noisy, but with all points):\n\n" + table(head, timed) + f"\n\n{verdict(timed)}" + failures(results))


# ---- other parts -----------------------------------------------------------------------------------------------------------------


def newton(rows):
    cells = lambda each: [each["steps"], f"{each['iterations'] / each['steps']:.2f}", milliseconds(each["seconds"])]
    return table(["<problem", "<method", "steps", "iterations a step", "CPU ms", "exact: steps", "iterations a step", "CPU ms", "ratio of iterations"],
                 [[row["problem"], NAMES[row["method"]], *cells(row["articulated"]), *cells(row["exact"]),
                   f"{row['articulated']['iterations'] / row['exact']['iterations']:.2f}"] for row in rows])


def loops(rows):
    ratios = [row["articulated"]["iterations"] / row["exact"]["iterations"] for row in rows if "loop" in row["problem"]]
    return (f"With loops the articulated matrix needs {min(ratios):.2f} to {max(ratios):.2f} times the iterations of the exact Jacobian (table under Methods).")


def orders(rows):
    found = {(row["order"], row["rtol"]): f"{row['steps']} ({row['error']:.0e})" for row in rows}
    limits, rtols = sorted({key[0] for key in found}), sorted({key[1] for key in found}, reverse=True)
    return table(["max. order", *map(rtol_text, rtols)], [[order, *(found[order, rtol] for rtol in rtols)] for order in limits])


def arkode(result, ours=None):
    if result is None: return "libsundials_arkode is not installed: not measured."
    target = result["target"]
    rows = [[point["table"].removeprefix("ARKODE_"), rtol_text(point["rtol"]), f"{point['steps']:.0f}", f"{point['rhs']:.0f}", f"{point['jacobians']:.0f}", f"{point['error']:.0e}",
             milliseconds(point["seconds"]), millions(point["instructions"])] for point in result["best"]]
    for name, points in (ours or {}).items():
        good = [point for point in work_precision.good(points) if point["error"] <= target]
        best = min(good, key=lambda point: point["seconds"], default=None)
        if best: rows.append([f"Limber, {NAMES[name]}", rtol_text(best["rtol"]), "", "", "", f"{best['error']:.0e}", milliseconds(best["seconds"]), millions(best["instructions"])])
    return (f"ARKODE on the same equation of motion (`bench/arkode.c`), forced Canadarm, 10 s: the cheapest run of each table that errs by at most {target:g} m, of tolerances that are powers of ten. "
            "Implicit tables use the exact dense Jacobian, because ARKODE's residual asks for a forward dynamics in each iteration; Limber's stages take inverse dynamics and the "
            "articulated factors.\n\n" + table(["<table", "rtol", "steps", "right-hand sides", "Jacobians", "error [m]", "CPU ms", "M instructions"], rows))


def inputs(rows):
    rate = lambda row, way: f"{row['seconds'] / row[way]['seconds']:.0f}"
    costs = table(["<robot", "<method", "one step: M instructions", "simulated s per CPU s", "derivatives: M instructions", "simulated s per CPU s", "held: M instructions", "simulated s per CPU s", "held / one step (CPU)"],
                  [[row["robot"], NAMES[row["method"]], *(cell for way in ("smooth", "slopes", "held") for cell in (millions(row[way]["instructions"]), rate(row, way))),
                    f"{row['held']['seconds'] / row['smooth']['seconds']:.1f}"] for row in rows])
    counts = table(["<robot", "<method", "steps", "right-hand sides", "residuals", "factorizations", "restarts"],
                   [[row["robot"], NAMES[row["method"]], *(f"{row['jumps'][key]:.2f}" for key in ("steps", "rhs", "residuals", "factorizations", "restarts"))] for row in rows])
    return costs + "\n\nWhat a communication step of 1 ms with held torques takes on average (`limber simulate --hold`). A jump costs a one-step method one right-hand side; CVODE starts again at order 1:\n\n" + counts


def states(rows):
    micro = lambda seconds: f"{1e6 * seconds:.1f}"
    return table(["<robot", "<method", "plain [us]", "saved at each step [us]", "each step twice [us]", "saved / plain", "twice / plain", "<results bit for bit alike"],
                 [[row["robot"], NAMES[row["method"]], micro(row["plain"]), micro(row["saved"]), micro(row["twice"]), f"{row['saved'] / row['plain']:.2f}", f"{row['twice'] / row['plain']:.2f}",
                   "yes" if row["alike"] else "no"] for row in rows])


def accelerations(rows):
    limit = {1e-6: 1e-2, 1e-8: 1e-4}
    kinds = "qdd", "root_force", "root_moment"
    cells = lambda row: [f"{row[kind]['error']:.1e} ({row[kind]['name']})" for kind in kinds]
    missed = [f"{NAMES[row['method']]} at {rtol_text(row['rtol'])}" for row in rows if any(row[kind]["error"] > limit[row["rtol"]] for kind in kinds)]
    return (table(["rtol", "<method", *(f"<{kind}" for kind in kinds), "equations of motion"],
                  [[rtol_text(row["rtol"]), NAMES[row["method"]], *cells(row), f"{row['equations']:.0e}"] for row in rows])
            + f"\n\nBounds: {limit[1e-6]:.0%} of the range at rtol 1e-6, {limit[1e-8]:g} at 1e-8. " + (f"Not met by {', '.join(missed)}." if missed else "All methods meet them.")
            + "\n\nAccelerations and reactions are not interpolated: they are evaluated from the equations of motion at the reported positions, velocities and inputs. The last column is the largest difference from "
            "the accelerations that `limber eval` gives at the reported state, and between `root_moment` about a joint's axis and its torque, relative to their ranges. Positions that err little can have "
            "accelerations that err much, because a mode of frequency $\\omega$ multiplies the error of its coordinate by $\\omega^2$.")


def fixed(rows):
    cell = lambda value: "unstable" if value is None else f"{value:.1e}"
    cases = list(dict.fromkeys(row["problem"] for row in rows))
    found = {(row["problem"], row["step"], method): cell(row[method]) for row in rows for method in ("esdirk", "symmetric")}
    return table(["step [s]", *(f"{case}, {NAMES[method]} [m]" for case in cases for method in ("esdirk", "symmetric"))],
                 [[f"{step:g}", *(found.get((case, step, method), "") for case in cases for method in ("esdirk", "symmetric"))] for step in sorted({row["step"] for row in rows})])


def energy(rows):
    lines, rising, before = [], [], {}
    for row in rows:
        name = row["robot"]
        if "failure" in row:
            lines.append([name, rtol_text(row["rtol"]), "", "", row["failure"], "", ""])
            continue
        fell = before[name] / row["drift"] if name in before else None
        if fell is not None and fell < 1: rising.append(f"{name} at {rtol_text(row['rtol'])} ({before[name]:.1e} to {row['drift']:.1e})")
        before[name] = row["drift"]
        lines.append([name, rtol_text(row["rtol"]), NAMES[row["method"]], row["steps"], f"{row['seconds']:.2f}", f"{row['drift']:.1e}", f"{fell:.1f}" if fell else ""])
    verdict = ("The drift does not fall everywhere: " + ", ".join(rising) + ".") if rising else "The drift falls with the tolerance wherever it was measured."
    undecided = sorted({row["robot"] for row in rows if "failure" in row})
    if undecided: verdict += f" Runs that were ended: {', '.join(undecided)}."
    return table(["<robot", "rtol", "<method at the end", "steps", "CPU s", "drift", "reduction"], lines) + f"\n\n{verdict}"


def damping(rows):
    rtols = [name for name in rows[0] if name != "method"]
    return table(["<method", *rtols], [[NAMES[row["method"]], *(f"{row[rtol]:+.0e}" for rtol in rtols)] for row in rows])


def chaos(rows):
    return table(["rtol", *(f"{t} s" for t in rows[0]["errors"])], [[rtol_text(row["rtol"]), *(f"{error:.0e}" for error in row["errors"].values())] for row in rows])


SECTIONS = {"methods": methods, "newton": newton, "orders": orders, "arkode": arkode, "inputs": inputs, "states": states, "accelerations": accelerations, "fixed": fixed,
            "energy": energy, "damping": damping, "chaos": chaos, "reason": str}


def section(part, result):
    return f"\n{part}\n\n{SECTIONS[part](result)}"


# ---- results of other scripts -----------------------------------------------------------------------------------------------------------


def stored(name):
    file = builds.RELEASE / "bench" / name
    if not file.is_file(): return None
    text = file.read_text(encoding="utf-8")
    return json.loads(text) if file.suffix == ".json" else text


def figure_cells(figure):
    if figure is None: return ["", "", ""]
    return [f"{figure['instructions'] / 1e6:.1f}", f"{figure['rtol']:.0e}" if figure["rtol"] else "default", f"{figure['error']:.1e}"]


def gains(rows):
    if not rows: return "Not measured: run `bench/gains.py`."
    remark = lambda row: "; ".join([*(f"missed: {text}" for text in row["missed"]), *(f"{what} {value:.2g} (at most {limit:g})" for what, value, limit in row["checks"] if value <= limit)])
    singles = lambda row: ", ".join(f"{NAMES[name]} {figure['instructions'] / 1e6:.0f}" for name, figure in row["methods"].items())
    return table(["<problem", "ff4cbf0 [M]", "rtol", "error [m]", "now [M]", "rtol", "error [m]", "gain", "at least", "<single methods [M]", "<remarks"],
                 [[row["name"], *figure_cells(row["before"]), *figure_cells(row["now"]), f"{row['gain']:.1f}", f"{row['bound']:g}" if row["bound"] else "", singles(row), remark(row)] for row in rows])


def fixed_steps(found):
    """Cost of each step, and errors, from bench/fixed.py"""
    if not found: return "Cost and errors of fixed steps with held inputs: not measured, run `bench/fixed.py`."
    us = lambda seconds: f"{1e6 * seconds:.1f}"
    count = lambda row: row.get("instructions") or {}
    steps = [[row["robot"], row["method"], us(row["time"]["median"]), us(row["time"]["percentile_99_9"]), us(row["time"]["worst"]), f"{row['time']['percentile_99_9'] / row['time']['median']:.2f}",
              *([f"{count(row)['median']:.0f}", f"{count(row)['worst']:.0f}", f"{count(row)['worst'] / count(row)['median']:.2f}"] if count(row) else ["", "", ""])] for row in found["steps"]]
    errors = [[row["robot"], f"{1e3 * row['held']:g}", row["method"], f"{1e3 * row['step']:g}", *([f"{row['tip']:.1e}", f"{row['joint']:.1e}"] if "tip" in row else [row["failure"], ""])]
              for row in found.get("errors", []) if row["step"]]
    taken = found["steps"][0]["steps"] if steps else 0
    return (f"Cost of `fmi2DoStep` with H = `solver.fixed_step` = 1 ms and inputs that change at every step, {taken} steps (`bench/fixed.py`; {found['processor']['model name']}, {found['processor']['cpu MHz']} MHz). "
            "The worst time is also that of the operating system; instructions are not.\n\n"
            + table(["<robot", "<method", "median [us]", "99.9 % [us]", "worst [us]", "99.9 % / median", "median [instructions]", "worst", "worst / median"], steps)
            + ("\n\nErrors with inputs that are held for a time, against a tight tolerance with the same inputs:\n\n"
               + table(["<robot", "held for [ms]", "<method", "step [ms]", "tip [m]", "joints [rad, m]"], errors) if errors else "")
            + ("\n\nMissed: " + "; ".join(found["missed"]) + "." if found["missed"] else "\n\nAll bounds are met."))


def exudyn(text):
    if not text: return "Not measured: run `bench/exudyn_compare.py`."
    return re.sub(r"^## .*\n+", "", text).strip()


# ---- the page ---------------------------------------------------------------------------------------------------------------------------


def constant(place):
    """The value of NAME in fmu_src/ode/FILE.c: `NAME = value` or `[NAME] = value`; place: FILE.NAME"""
    file, name = place.split(".")
    return re.search(rf"\b{name}\]? = ([-+.\de]+)", (builds.ROOT / f"fmu_src/ode/{file}.c").read_text(encoding="utf-8"))[1]


def contents(parts):
    """Texts of what was measured, by placeholder"""
    texts = {part: show(parts[part]) for part, show in SECTIONS.items() if part in parts}
    if "arkode" in parts and "methods" in parts: texts["arkode"] = arkode(parts["arkode"], parts["methods"]["canadarm"]["methods"])
    if "newton" in parts: texts["loops"] = loops(parts["newton"])
    for name, file, show in ("gains", "gains.json", gains), ("exudyn", "exudyn.md", exudyn), ("fixed cost", "fixed.json", fixed_steps):
        if stored(file): texts[name] = show(stored(file))
    return {**texts, "struck": ", ".join(problems.STRUCK)}


PLACEHOLDER = re.compile(r"\{\{([^}]+)\}\}")


def on_page(template, page):
    """Texts that stand on a page made from the template, by placeholder; none if the template has changed"""
    pieces = PLACEHOLDER.split(template.rstrip())  # literal, name, literal, ...
    found = re.fullmatch("(.*?)".join(map(re.escape, pieces[::2])) + "\n", page, re.DOTALL)
    return dict(zip(pieces[1::2], found.groups())) if found else {}


def problem_of(line): return re.split(r" \(|, ff4cbf0", line.split("|")[1])[0].strip()


def joined(before, now):
    """The table of gains with rows of a run that measured some of its problems"""
    if "\n" not in before or "\n" not in now: return now
    head, new = now.splitlines()[:2], {problem_of(line): line for line in now.splitlines()[2:]}
    kept = [new.pop(problem_of(line), line) for line in before.splitlines()[2:]]
    return "\n".join([*head, *kept, *new.values()])


def write(parts):
    """What was not measured anew stays as it is on the page."""
    if "methods" in parts: plot.work_precision(parts["methods"], stored("gains.json") or [], NAMES, FIGURES)
    template, new = TEMPLATE.read_text(encoding="utf-8"), contents(parts)
    old = on_page(template, PAGE.read_text(encoding="utf-8")) if PAGE.is_file() else {}
    if "gains" in new and "gains" in old: new["gains"] = joined(old["gains"], new["gains"])
    texts = {**old, **new}
    fill = lambda found: constant(found[1][2:]) if found[1].startswith("c:") else texts.get(found[1], f"Not measured: `bench/integration.py {found[1]}`.")
    PAGE.write_text(PLACEHOLDER.sub(fill, template).rstrip() + "\n", encoding="utf-8")
