"""docs/reliability.md: every rule and everything that was found names tests that exist."""

import sys
from pathlib import Path

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
