"""Faults to plant in C sources: an operator, a constant or a sign that is changed, a statement that is dropped.

A fault is a line of a function and what it becomes. Left out are lines that only allocate or report, and the bounds of loops: the
sanitizers find an array that is too small or a step beyond its end, and the wording of a message is no law."""

import random
import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/arch"))

from c_source import c_files, functions, read, without_text  # noqa: E402

LAYERS = ["dyn", "mech", "ode", "flex", "sim", "fmi"]
NOT_HERE = re.compile(r"arena_|sizeof|report_|status_|snprintf|static|^\s*(#|case|default|return STATUS|\*|/)|\bconst char\b|assert|enum|struct \w+;")

OPERATORS = [(r" \+ ", " - "), (r" - ", " + "), (r" \* ", " / "), (r" / ", " * "), (r" \+= ", " -= "), (r" -= ", " += "),
             (r" < ", " <= "), (r" > ", " >= "), (r" <= ", " < "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "),
             (r" && ", " || "), (r" \|\| ", " && ")]
SIGNS = [(r"(?<=[=(,?:] )-(?=[\w(])", ""), (r"(?<=\()-(?=[\w(])", ""), (r"(?<=return )-(?=[\w(])", ""), (r"(?<= = )(?=[a-zA-Z])", "-")]
CONSTANTS = [(r"(?<![\w.\[])0\.5\b", "0.25"), (r"(?<![\w.\[])2(?![\w.])", "3"), (r"(?<![\w.\[])3(?![\w.])", "4"),
             (r"(?<![\w.\[])1(?![\w.])", "2"), (r"(?<=[\[ +])3(?=[\] +)])", "2"), (r"(?<![\w.])(\d+\.\d+|\d+e-?\d+)", r"(2 * \1)")]
STATEMENT = re.compile(r"^\s*[\w>.\[\]*()\-+ ]+ ([-+*/]?=) .*;\s*$|^\s*\w+\(.*\);\s*$")


class Fault(NamedTuple):
    file: str      # from the root
    function: str
    line: int      # from 1, when it was drawn
    kind: str      # operator, constant, sign, dropped line
    before: str    # the line
    after: str


def changes(line):
    """(kind, the line after the change) of every fault that can be planted in a line of code."""
    for kind, patterns in (("operator", OPERATORS), ("sign", SIGNS), ("constant", CONSTANTS)):
        for pattern, becomes in patterns:
            for match in re.finditer(pattern, line):
                if kind == "operator" and match[0].strip()[0] in "<>" and re.match(r"\s*for \(", line): continue
                yield kind, line[:match.start()] + match.expand(becomes) + line[match.end():]
    if STATEMENT.match(line) and not re.match(r"\s*(const |double |int |size_t |bool |enum |struct )", line):
        yield "dropped line", re.match(r"\s*", line)[0] + ";"


def candidates(root, layer):
    """{kind: faults} of a layer. What differs between source and text without comments and strings stays as it is."""
    found = {}
    for file in c_files(root, [f"fmu_src/{layer}"]):
        source, where = read(file).split("\n"), file.relative_to(root).as_posix()
        code = without_text("\n".join(source)).split("\n")
        for function in functions("\n".join(source)):
            for number in range(function.first, function.last):  # lines of the body
                text = code[number].rstrip()
                if not text or NOT_HERE.search(source[number]) or not source[number].startswith(text): continue
                for kind, after in changes(text):
                    found.setdefault(kind, []).append(
                        Fault(where, function.name, number + 1, kind, source[number], after + source[number][len(text):]))
    return found


def draw(root, seed):
    """Faults without end: layers in turn, kinds at random, a line at random; none twice."""
    chance, seen = random.Random(seed), set()
    pools = {layer: candidates(root, layer) for layer in LAYERS}
    while True:
        for layer in LAYERS:
            kind = chance.choice(["operator", "operator", "constant", "sign", "dropped line"])
            fault = chance.choice(pools[layer][kind])
            if (fault.file, fault.before) in seen: continue
            seen.add((fault.file, fault.before))
            yield fault


def found_again(root, fault):
    """A fault of an earlier tree in this one: the same line in the same layer, if there is exactly one, or one in the same function."""
    layer, places = fault.file.split("/")[1], []
    for file in c_files(root, [f"fmu_src/{layer}"]):
        text = read(file)
        for function in functions(text):
            for number, line in enumerate(text.split("\n")[function.first - 1:function.last], function.first):
                if line.strip() == fault.before.strip(): places.append((file.relative_to(root).as_posix(), function.name, number, line))
    exact = [place for place in places if place[1] == fault.function] or places
    if len(exact) != 1: return None
    file, function, number, line = exact[0]
    indent = line[:len(line) - len(line.lstrip())]
    return fault._replace(file=file, function=function, line=number, before=line, after=indent + fault.after.strip())
