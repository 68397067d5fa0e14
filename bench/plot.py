"""Instructions and time over the number of links, recursive and composite."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


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
