"""Counts the C code of this tree and of an earlier one: python tests/arch/count.py [REVISION]"""

import io
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import NamedTuple

from c_source import c_files, functions, read, without_comments
from functions import functions_of, repetitions
from rules import PRODUCT_FOLDERS

BEFORE = "a8e59dd"
FOLDERS = [*PRODUCT_FOLDERS, "drives", "symbolic", "scene", "viewer"]  # with those of earlier revisions
NOT_COUNTED = ("view", "scene", "viewer", "modelDescription")          # in the sum that is bounded


class Count(NamedTuple):
    files: int = 0
    code: int = 0      # lines with code, lines with code and a comment among them
    comments: int = 0  # lines with nothing but a comment
    blanks: int = 0
    functions: int = 0

    def __add__(self, other): return Count(*(a + b for a, b in zip(self, other)))


def count_source(source):
    code = [bool(line.strip()) for line in without_comments(source).splitlines()]
    text = [bool(line.strip()) for line in source.splitlines()]
    return Count(1, sum(code), sum(text) - sum(code), len(text) - sum(text), len(functions(source)))


def count(root, folder):
    return sum((count_source(read(file)) for file in c_files(root, [folder])), Count())


def check_out(root, revision, into):
    """The product's folders, as far as they are in that revision."""
    git = lambda *words: subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True).stdout
    listed = git("ls-tree", "-d", "--name-only", revision).decode().split()
    archive = git("archive", revision, *(folder for folder in FOLDERS if folder in listed))
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar: tar.extractall(into, filter="data")


def table(title, root):
    """Rows of text: the folders, their sum, and the largest of what the rules bound."""
    counts = {folder: count(root, folder) for folder in FOLDERS}
    counts = {folder: numbers for folder, numbers in counts.items() if numbers.files}
    total = lambda folders: sum((counts[folder] for folder in folders), Count())
    counts["all"], counts["without view, modelDescription"] = total(counts), total(set(counts) - set(NOT_COUNTED))
    yield f"{title:31}" + "".join(f"{name:>11}" for name in (*Count._fields, "lines"))
    for name, numbers in counts.items():
        lines = numbers.code + numbers.comments + numbers.blanks
        yield f"{name:31}" + "".join(f"{number:11}" for number in (*numbers, lines))
    longest = max(functions_of(root), key=lambda found: found[1].lines)
    yield f"longest function: {longest[1].lines} lines, {longest[1].name}() of {longest[0]}"
    most, a, b = (repetitions(root, 5) or [(0, None, None)])[0]
    yield "most lines that two functions share: " + (f"{most}, {a.name}() of {a.place} and {b.name}() of {b.place}" if most
                                                      else "5 or fewer")


def main(arguments):
    if len(arguments) > 1 or any(argument.startswith("-") for argument in arguments):
        print("usage: count.py [REVISION]    default: " + BEFORE, file=sys.stderr)
        return 2
    root, revision = Path(__file__).resolve().parents[2], (arguments or [BEFORE])[0]
    with tempfile.TemporaryDirectory() as before:
        try:
            check_out(root, revision, before)
        except subprocess.CalledProcessError as error:
            print(f"revision {revision}: {error.stderr.decode().strip()}", file=sys.stderr)
            return 1
        print("\n".join([*table(revision, Path(before)), "", *table("working tree", root)]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
