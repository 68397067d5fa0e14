"""Every row of docs/validation.md within its bound, and the page has these rows."""

import pytest

import page
from cases import CASES
from program import ROOT, Program
from rows import Row


@pytest.fixture(scope="session")
def found(limber, tmp_path_factory):
    """found(case): its rows and curves, computed once."""
    program, known = Program(limber, tmp_path_factory.mktemp("validation")), {}

    def of(case):
        if case.title not in known: known[case.title] = list(case.of(program))
        return known[case.title]

    return of


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_case(found, case):
    rows = [item for item in found(case) if isinstance(item, Row)]
    for row in rows: print(" | ".join(row.shown()))
    assert any(row.bound is not None for row in rows)
    assert [row for row in rows if not row.holds] == []


def test_the_page_has_these_rows(found):
    """Its text, rows, expected values and bounds are those of the cases; figures may be another machine's."""
    written = (ROOT / "docs/validation.md").read_text(encoding="utf-8")
    assert page.without_figures(written) == page.without_figures(page.text([(case, found(case)) for case in CASES])), \
        "docs/validation.md is not of this state: build/out/venv/bin/python tests/validation/page.py"
