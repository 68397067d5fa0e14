"""A model description as the standard's text speaks of it: variables by name with their defaults filled in, dependencies by name."""

import re
import xml.etree.ElementTree as ET

BASE = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")
SYMBOLS = {"1": {}, "kg": {"kg": 1}, "m": {"m": 1}, "s": {"s": 1}, "rad": {"rad": 1}, "A": {"A": 1}, "N": {"kg": 1, "m": 1, "s": -2},
           "J": {"kg": 1, "m": 2, "s": -2}, "W": {"kg": 1, "m": 2, "s": -3}, "Pa": {"kg": 1, "m": -1, "s": -2},
           "V": {"kg": 1, "m": 2, "s": -3, "A": -1}, "Ohm": {"kg": 1, "m": 2, "s": -3, "A": -2}, "H": {"kg": 1, "m": 2, "s": -2, "A": -2}}


def dimensions(unit):
    """Exponents of the base units of a unit's name, in the grammar of Modelica: at most one division, by one symbol or a list in
    parentheses."""
    form = re.fullmatch(r"([^/()]+)(?:/(?:([^/().]+)|\(([^/()]+\.[^/()]+)\)))?", unit)
    assert form, f"{unit}: more than one division, or not a unit"
    total = dict.fromkeys(BASE, 0)
    for part, sign in (form[1], 1), (form[2] or form[3], -1):
        for word in (part or "1").split("."):
            symbol, power = re.fullmatch(r"(1|[A-Za-z]+)(\d*)", word).groups()
            for base, exponent in SYMBOLS[symbol].items(): total[base] += sign * int(power or 1) * exponent
    return total


class Variable:
    def __init__(self, node):
        (self.kind,) = [child for child in node if child.tag != "Annotations"]
        self.name, self.description = node.get("name"), node.get("description")
        self.reference = int(node.get("valueReference"))
        self.type = self.kind.tag
        self.causality = node.get("causality", "local")
        self.variability = node.get("variability", "continuous")
        self.given_initial = node.get("initial")
        parameter = self.causality in ("parameter", "input")
        self.initial = self.given_initial or ("exact" if self.causality == "parameter" else None if parameter else "calculated")

    def get(self, attribute):
        return self.kind.get(attribute)


class Description:
    def __init__(self, file):
        self.root = ET.parse(file).getroot()
        self.list = [Variable(node) for node in self.root.iterfind("ModelVariables/ScalarVariable")]
        self.by_name = {v.name: v for v in self.list}
        self.derivatives = [self.list[i] for i in self.indices("Derivatives")]
        self.states = [self.list[int(v.get("derivative")) - 1] for v in self.derivatives]
        self.inputs = [v for v in self.list if v.causality == "input"]
        self.parameters = [v for v in self.list if v.causality == "parameter"]

    def unknowns(self, part):
        return list(self.root.iterfind(f"ModelStructure/{part}/Unknown"))

    def indices(self, part):
        return [int(u.get("index")) - 1 for u in self.unknowns(part)]

    def depends(self, *parts):
        """{unknown: names of what it depends on} of these parts of the ModelStructure."""
        of = {}
        for part in parts:
            for u in self.unknowns(part):
                of[self.list[int(u.get("index")) - 1].name] = {self.list[int(k) - 1].name for k in u.get("dependencies").split()}
        return of
