"""Plots: forward dynamics over the number of links; work and precision of the methods of integration."""

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "limber"  # the same file in each run
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator  # noqa: E402


def growth(results, file):
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), constrained_layout=True)
    elastic = sorted({row["elastic"] for row in results["growth"]})
    for axis, suffix, unit in zip(axes, ("", "_ns"), ("instructions", "nanoseconds")):
        for colour, m in enumerate(elastic):
            rows = [row for row in results["growth"] if row["elastic"] == m]
            for algorithm, style in (("forward", "o-"), ("composite", "s--")):
                name = "recursive" if algorithm == "forward" else "composite"
                axis.loglog([row["links"] for row in rows], [row[algorithm + suffix] for row in rows], style, color=f"C{colour}",
                            markersize=4, label=f"{name}, {m} elastic per link")
        ticks = sorted({row["links"] for row in results["growth"]})
        axis.set_xticks(ticks, map(str, ticks), minor=False)
        axis.set_xticks([], minor=True)
        axis.set_xlabel("links")
        axis.set_ylabel(f"{unit} per forward dynamics")
        axis.grid(alpha=0.3)
    axes[0].legend(fontsize=7)
    figure.savefig(file, dpi=120)
    plt.close(figure)


# ---- work and precision ----------------------------------------------------------------------------------------------------------

LEAST_ERROR, LARGEST_ERROR = 1e-12, 1  # shown [m]
STYLES = {"auto": ("black", "-", "o"), "cvode": ("C0", "--", "s"), "esdirk": ("C1", "--", "^"), "explicit": ("C2", "--", "v"), "symmetric": ("C3", "--", "D")}
# Rows of bench/gains.py by how their names begin, for each problem of bench/work_precision.py
BEFORE = {"canadarm": "forced Canadarm, 2", "craig-bampton": "forced Canadarm, 6", "foreshortening": "the same", "cibicik": "Cibicik undamped", "lin-lewis": "Lin and Lewis",
          "chain": "chain of 32 links, 1e-05", "held canadarm": "Canadarm, torques held", "held cibicik": "Cibicik, torques held", "dualemps": "DualEMPS driven along a circle", "crane": "crane"}


def curves(axis, each, cost, scale):
    for name, (color, line, marker) in STYLES.items():
        points = [point for point in each["methods"][name] if point.get(cost)]
        axis.loglog([scale * point[cost] for point in points], [point["error"] for point in points], line, color=color, marker=marker, markersize=3.5,
                    linewidth=1.6 if name == "auto" else 1, zorder=3 if name == "auto" else 2)


def before(axis, rows, start, scale):
    found = [row["before"] for row in rows if row["name"].startswith(start) and row["before"]]
    if found: axis.loglog([scale * each["instructions"] for each in found], [each["error"] for each in found], "x", color="0.45", markersize=7, markeredgewidth=2)


def work_precision(results, gains, names, folder):
    """Tip error against CPU time and against instructions: a small plot for each problem, one legend"""
    for cost, scale, unit, file in (("seconds", 1e3, "CPU time [ms]", "time"), ("instructions", 1e-6, "instructions [M]", "instructions")):
        figure, axes = plt.subplots(4, 3, figsize=(10.5, 11.5), constrained_layout=True)
        for axis, (key, each) in zip(axes.flat, results.items()):
            curves(axis, each, cost, scale)
            if cost == "instructions": before(axis, gains, BEFORE[key], scale)
            axis.set_title(each["title"], fontsize=9)
            axis.set_ylim(LEAST_ERROR, LARGEST_ERROR)
            axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
            axis.xaxis.set_minor_formatter(NullFormatter())
            axis.xaxis.set_minor_locator(NullLocator())
            axis.tick_params(labelsize=7)
            axis.tick_params(axis="x", rotation=45)
            axis.grid(alpha=0.3)
        for axis in axes.flat[len(results):]: axis.set_axis_off()
        for axis in axes[:, 0]: axis.set_ylabel("tip error [m]", fontsize=8)
        shown = axes.flat[: len(results)]
        for axis in shown[-3:]: axis.set_xlabel(unit, fontsize=8)
        handles = [plt.Line2D([], [], color=color, linestyle=line, marker=marker, label=names[name]) for name, (color, line, marker) in STYLES.items()]
        if cost == "instructions": handles.append(plt.Line2D([], [], color="0.45", linestyle="", marker="x", markeredgewidth=2, label="ff4cbf0"))
        axes.flat[len(results)].legend(handles=handles, loc="center", fontsize=10, title=f"tip error against {unit}", frameon=False)
        figure.savefig(folder / f"work-precision-{file}.svg", metadata={"Date": None})
        plt.close(figure)
