#!/usr/bin/env python3
"""Measures the dynamics algorithms: against an earlier commit, growth with links, recursive against composite, operations, rigid arms.

    run.py [--quick] [--baseline-only] [--write-docs [FILE]] [--out DIRECTORY] [--release DIRECTORY] [--scalar DIRECTORY]

Prints the tables and writes results.json and growth.png to build/out/bench. Exit code 1 if a bound is missed (the last lines say
which), 2 if something could not be measured."""

import argparse
import json
import sys
import time
from pathlib import Path

import baseline
import bounds
import builds
import callgrind
import measure
import peers
import report


def parse():
    parser = argparse.ArgumentParser(description="Measures the dynamics algorithms; see bench/README.md.")
    parser.add_argument("--quick", action="store_true", help="few robots, about a minute")
    parser.add_argument("--baseline-only", action="store_true", help=f"only the comparison with commit {baseline.NAME}")
    parser.add_argument("--write-docs", nargs="?", type=Path, const=builds.ROOT / "docs/performance.md", metavar="FILE",
                        help="write docs/performance.md as well")
    parser.add_argument("--out", type=Path, default=builds.RELEASE / "bench", help="folder for results and robots")
    parser.add_argument("--release", type=Path, default=builds.RELEASE, help="folder of the release build")
    parser.add_argument("--scalar", type=Path, default=builds.SCALAR, help="folder of the scalar build")
    options = parser.parse_args()
    if options.write_docs and (options.quick or options.baseline_only): parser.error("--write-docs needs a full run, without --quick or --baseline-only")
    return options


def main():
    options, start = parse(), time.monotonic()
    try:
        if options.baseline_only: return baseline_only(options)
        builds.release(options.release)
        builds.scalar(options.scalar)
        results = measure.Study(options.release, options.scalar, options.out, options.quick).run()
        results["baseline"] = compare(options)
    except (builds.Failed, callgrind.Failed, measure.Failed) as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 2
    results["bounds"] = bounds.check(results)
    print(report.text(results))

    (options.out / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    written = [options.out / "results.json"]
    try:
        import plot
        plot.growth(results, options.out / "growth.png")
        written.append(options.out / "growth.png")
    except ImportError:
        print("\nno plot: matplotlib is not installed", file=sys.stderr)
    if options.write_docs:
        options.write_docs.parent.mkdir(parents=True, exist_ok=True)
        options.write_docs.write_text(peers.keep(report.markdown(results)), encoding="utf-8")
        written.append(options.write_docs)

    print(f"\n{time.monotonic() - start:.0f} s; wrote {', '.join(map(shown, written))}")
    missed = [bound for bound in results["bounds"] if not bound["met"]]
    for bound in missed: print(report.missed(bound))
    return 1 if missed else 0


def compare(options):
    robots = baseline.ROBOTS[1::2] if options.quick else baseline.ROBOTS
    return baseline.compare(options.release, builds.RELEASE / "baseline", robots)


def baseline_only(options):
    builds.fmu(options.release)
    results = {"baseline": compare(options)}
    print(report.baseline(results))
    return 0 if all(bound["met"] for bound in bounds.against_baseline(results["baseline"])) else 1


def shown(path):
    return str(path.relative_to(builds.ROOT) if path.is_relative_to(builds.ROOT) else path)


if __name__ == "__main__":
    sys.exit(main())
