"""docs/reliability.md: every rule and everything that was found names tests that exist; the tests of FMI and of the host run on all FMUs
of the list."""

import json
import re
import subprocess
import sys
from pathlib import Path

from fmus import COMPANIONS, CONTROLLER, LISTED

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/tools"))
import reliability_page  # noqa: E402


def test_every_named_test_exists():
    assert reliability_page.missing_tests(ROOT) == []


def test_a_missing_test_is_noticed(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_a.py").write_text("def test_one(): pass\n")
    (tmp_path / "tests/b.c").write_text("TEST(two) {}\nTEST(three) {}\nint main(void) { RUN(two); }\n")
    found = [name for name in ("tests/test_a.py::test_one", "tests/test_a.py::test_on", "tests/b.c::two", "tests/b.c::three", "tests/c.c::two")
             if reliability_page.has_test(tmp_path, name)]
    assert found == ["tests/test_a.py::test_one", "tests/b.c::two"]


# ---- every FMU --------------------------------------------------------------------------------------------------------------

# Prints the values of the parameters of all tests of some files: {"FILE::NAME": [[value, ...], ...]}
COLLECT = """
import contextlib, json, os, pytest, sys

class Collected:
    tests = {}
    def pytest_collection_finish(self, session):
        for item in session.items:
            values = [str(value) for value in item.callspec.params.values()] if hasattr(item, "callspec") else []
            self.tests.setdefault(item.nodeid.split("[")[0], []).append(values)

with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
    code = pytest.main(["--collect-only", "-q", "-p", "no:xdist", *sys.argv[1:]], plugins=[Collected()])
print(json.dumps(Collected.tests))
sys.exit(code)
"""


def collected(*files, folder=ROOT):
    result = subprocess.run([sys.executable, "-c", COLLECT, *files], cwd=folder, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def left_out(names, tests, every):
    """[(test, FMU)]: what a test does not run on."""
    return [(name, fmu) for name in names for fmu in every if not any(fmu in values for values in tests.get(name, []))]


def test_rules_are_tested_on_all_fmus_of_the_list():
    rules = [rule for rule in reliability_page.load(ROOT)["rule"] if rule["group"] in reliability_page.LISTED_FMUS]
    names = [name for rule in rules for name in rule["test"]]
    assert len(rules) > 20 and all(rule["test"] and ("also" in rule) == ("cases" in rule) for rule in rules)
    assert left_out(names, collected(*sorted({name.split("::")[0] for name in names})), LISTED) == []


def test_an_fmu_that_is_left_out_is_noticed(tmp_path):
    (tmp_path / "test_a.py").write_text("import pytest\n"
                                        "@pytest.mark.parametrize('fmu', ['crane', 'crane-drives'])\ndef test_both(fmu): pass\n"
                                        "@pytest.mark.parametrize('fmu', ['crane-drives'])\ndef test_one(fmu): pass\n"
                                        "def test_none(): pass\n")
    tests = collected("test_a.py", folder=tmp_path)
    found = left_out([f"test_a.py::test_{which}" for which in ("both", "one", "none", "no")], tests, ["crane", "crane-drives"])
    assert found == [("test_a.py::test_one", "crane"), *((f"test_a.py::test_{which}", fmu) for which in ("none", "no")
                                                         for fmu in ("crane", "crane-drives"))]


def test_the_list_has_every_companion(limber):
    """All that `limber drive` can make."""
    usage = subprocess.run([limber, "drive", "--help"], capture_output=True, text=True, check=True).stdout
    assert re.match(r"usage: limber drive ([a-z|]+) \[ROBOT\]", usage)[1].split("|") == [*COMPANIONS, CONTROLLER]
