#!/usr/bin/env python3
"""The methods of integration measured: makes docs/integration.md and its figures.

    build/out/venv/bin/python bench/integration.py [PART ...] [--write-docs] [--update-docs] [--quick] [--list]

PART             measures these parts anew and prints them (--list shows the names; none: all that were not measured with this program)
--write-docs     measures what is missing and writes the page
--update-docs    measures the parts that are named, if any, and writes these and what gains.py, exudyn_compare.py and fixed.py measured last into the
                 page; the rest of it stays
--quick          every second tolerance of the work and precision of the methods

Results are kept in build/out/bench/integration.json; they are dropped when the program changes. All parts take about half an hour. The tables
against ff4cbf0 and Exudyn and the cost of fixed steps come from bench/gains.py, bench/exudyn_compare.py and bench/fixed.py: run these before.
CPU seconds are the best of several runs of one thread; instructions and counts are the same in every run."""

import argparse
import hashlib
import json
import sys

import builds
import integration_page
import integration_parts
import runs
import work_precision

FILE = builds.RELEASE / "bench/integration.json"
LIBRARY = builds.RELEASE / "limber"


def note(text): print(text, file=sys.stderr, flush=True)


class Results:
    """{part: result}, kept in a file as long as the program is the same."""

    def __init__(self):
        self.version = hashlib.sha256(LIBRARY.read_bytes()).hexdigest()[:16]
        kept = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}
        self.parts = kept.get("parts", {}) if kept.get("version") == self.version else {}

    def put(self, part, result):
        self.parts[part] = result
        FILE.parent.mkdir(parents=True, exist_ok=True)
        FILE.write_text(json.dumps({"version": self.version, "parts": self.parts}, indent=1) + "\n", encoding="utf-8")


def measure(part, program, results, quick, known=None):
    note(f"== {part}")
    if part != "methods": return results.put(part, integration_parts.PARTS[part](program))
    for result in work_precision.measure(program, note, known, quick): results.put(part, result)


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    parser.add_argument("parts", nargs="*", metavar="PART")
    for option in "--write-docs", "--update-docs", "--quick", "--list": parser.add_argument(option, action="store_true")
    given = parser.parse_args()
    names = ["methods", *integration_parts.PARTS]
    if given.list: sys.exit("\n".join(names))
    unknown = [part for part in given.parts if part not in names]
    if unknown: parser.error(f"no part {', '.join(unknown)}; the parts are {', '.join(names)}")
    given.anew = given.parts
    if given.write_docs or not (given.parts or given.update_docs): given.parts = names
    return given


def main():
    given, results, program = arguments(), Results(), runs.Program("today", LIBRARY)
    complete = len(work_precision.all_problems(program.limber))
    for part in given.parts:
        known = results.parts.get(part)
        if part in given.anew or known is None: measure(part, program, results, given.quick)
        elif part == "methods" and len(known) < complete: measure(part, program, results, given.quick, known)
        if not (given.write_docs or given.update_docs): print(integration_page.section(part, results.parts[part]), flush=True)
    if given.write_docs: integration_page.write(results.parts)
    if given.update_docs: integration_page.write({part: results.parts[part] for part in given.parts})


if __name__ == "__main__":
    main()
