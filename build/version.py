"""The version in all places: python build/version.py            prints it, or says where places differ
                            python build/version.py 0.3.0      sets it, and makes the unreleased entries of CHANGELOG.md those of this version"""

import datetime
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACES = {  # a pattern with the version as its group
    "CMakeLists.txt": r"(?m)^project\(limber VERSION (\S+)",
    "CITATION.cff": r"(?m)^version: (\S+)$",
    "CHANGELOG.md": r"(?m)^## \[(\d\S*)\]",
}
MINOR = {"docs/library.md": r"find_package\(limber (\d+\.\d+)", "examples/embed/CMakeLists.txt": r"find_package\(limber (\d+\.\d+)"}


def versions(root=ROOT):
    found = {name: re.search(pattern, (root / name).read_text(encoding="utf-8"))[1] for name, pattern in (PLACES | MINOR).items()}
    patch = found["CMakeLists.txt"].rpartition(".")[2]
    return {name: f"{version}.{patch}" if name in MINOR else version for name, version in found.items()}


def replace(root, name, pattern, text):
    path = root / name
    changed, count = re.subn(pattern, text, path.read_text(encoding="utf-8"), count=1)
    if count != 1: sys.exit(f"{name}: nothing matches {pattern}")
    path.write_text(changed, encoding="utf-8")


def set_version(new, root=ROOT, today=None):
    old, today = versions(root), today or datetime.date.today().isoformat()
    numbers = lambda version: tuple(map(int, version.split(".")))
    if not re.fullmatch(r"\d+\.\d+\.\d+", new): sys.exit(f"{new}: a version is MAJOR.MINOR.PATCH")
    if any(numbers(new) <= numbers(version) for version in old.values()): sys.exit(f"{new} is not newer than {max(old.values(), key=numbers)}")
    entries = re.search(r"(?ms)^## \[Unreleased\]\n(.*?)(?=^## \[)", (root / "CHANGELOG.md").read_text(encoding="utf-8"))
    if entries is None or not entries[1].strip(): sys.exit("CHANGELOG.md has no entries under ## [Unreleased]")
    replace(root, "CMakeLists.txt", r"(?m)^(project\(limber VERSION )\S+", rf"\g<1>{new}")
    for name in MINOR: replace(root, name, r"(find_package\(limber )\d+\.\d+", rf"\g<1>{new.rpartition('.')[0]}")
    replace(root, "CITATION.cff", r"(?m)^version: .*$", f"version: {new}")
    replace(root, "CITATION.cff", r"(?m)^date-released: .*$", f"date-released: {today}")
    replace(root, "CHANGELOG.md", r"(?m)^## \[Unreleased\]$", f"## [Unreleased]\n\n## [{new}] - {today}")


def main(arguments):
    if len(arguments) > 1 or arguments[:1] in (["-h"], ["--help"]): sys.exit(f"usage: {__doc__}")
    if arguments: set_version(arguments[0])
    found = versions()
    if len(set(found.values())) > 1: sys.exit("the places of the version differ: " + ", ".join(f"{name} {version}" for name, version in found.items()))
    print(found["CMakeLists.txt"])


if __name__ == "__main__": main(sys.argv[1:])
