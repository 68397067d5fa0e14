"""What a validation case gives: rows that are judged by the tests and printed on docs/validation.md, and curves for its figures.

A case is a function of the program that yields rows; @case puts it on the list. Nothing else is needed for a new one but an
import in cases.py."""

from dataclasses import dataclass

import numpy as np

ROUNDING = 1e-12  # an error below is not a figure, and differs from machine to machine
CASES = []


@dataclass
class Case:
    title: str
    source: str
    text: str
    of: object  # function of a Program, gives rows and curves


def case(title, source, text):
    """Makes a case of a function of a Program."""

    def put(function):
        CASES.append(Case(title, source, " ".join(text.split()), function))
        return function

    return put


@dataclass
class Row:
    what: str
    expected: str
    ours: str
    error: float | None = None
    bound: float | None = None  # None: a figure that is shown and not judged
    unit: str = ""

    @property
    def holds(self):
        return self.bound is None or bool(self.error <= self.bound)

    def shown(self):
        """The cells of the page. Errors have one digit: more would not be the same everywhere."""
        if self.bound is None: return self.what, self.expected, self.ours, "", ""
        unit = f" {self.unit}" if self.unit else ""
        error = "0" if self.error == 0 else "rounding" if self.error < ROUNDING else number(self.error) + unit
        return self.what, self.expected, self.ours, error, number(self.bound) + unit


@dataclass
class Curves:
    """A figure: lines by label as (x, y, style), style as matplotlib has it; a label that begins with _ is not in the legend, its
    line is thin. Several panels side by side."""
    file: str
    caption: str
    panels: list  # of (title, x label, y label, {label: (x, y, style)})


def number(x):
    """One digit: 4e-5, 0.05, 2"""
    text = f"{x:.0e}" if x != 0 and not 1e-2 <= abs(x) < 10 else f"{x:.1g}"
    return text.replace("e-0", "e-").replace("e+0", "e")


def written(values, form):
    texts = [format(float(value), form) for value in np.atleast_1d(values)]
    return " ".join(text.lstrip("-") if float(text) == 0 else text for text in texts)  # no -0


def near(what, expected, ours, form, absolute=None, relative=None, unit=""):
    """ours is the expected number (or all of several) within an absolute bound in `unit`, or a relative one."""
    size = np.abs(ours - np.asarray(expected, float))
    error = size.max() if relative is None else (size / np.abs(expected)).max()
    return Row(what, written(expected, form), written(ours, form), float(error), relative if absolute is None else absolute,
               unit if relative is None else "relative")


def small(what, error, bound, unit="relative", expected=""):
    """An error that has been measured against something that is not one number."""
    return Row(what, expected, "", float(error), bound, unit)


def count(what, expected, ours):
    """A whole number that must be right."""
    return Row(what, str(expected), str(ours), abs(ours - expected), 0)


def at_least(what, least, ours, form=".1f"):
    """ours is the least value or more; the error is least/ours."""
    return Row(what, f"at least {least:g}", format(ours, form), least / ours, 1)


def figure(what, expected, ours):
    """Shown, not judged."""
    return Row(what, expected, ours)
