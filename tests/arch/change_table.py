"""Rules about docs/architecture.md: it says where a change goes, and every file that it names exists."""

import re

from c_source import c_files, line_of, read
from rules import PRODUCT_FOLDERS

PAGE = "docs/architecture.md"
HEADING = "Where a change goes"
CHANGES = ["universal joint", "mode shape", "tapered beam", "integrator", "FMI 3", "output variable", "drive", "analysis",
           "floating base", "geometric stiffness of a nodal body"]
QUOTED = re.compile(r"`([^`\n]+)`")


def exists(root, name):
    """Whether a file or folder exists, relative to the root or to fmu_src. Patterns such as read*.c need one match."""
    return any(next(folder.glob(name.strip("/")), None) for folder in (root, root / "fmu_src"))


def change_rows(text):
    """(line, change, files) of the table under the heading, as text."""
    section = re.search(rf"^#+ *{HEADING} *\n(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL)
    if not section: return []
    rows = [(line_of(text, section.start(1) + match.start()), match[1].strip(), match[2].strip())
            for match in re.finditer(r"^\|([^|\n]*)\|([^|\n]*)\|[ \t]*$", section[1], re.MULTILINE)]
    return [row for row in rows if not re.fullmatch(r"[-: ]*", row[1])][1:]  # without the head and the rule below it


def change_table(root):
    """The table has the ten changes, and every path in backticks in its second column exists, relative to the root.

    Text with quotation marks, such as `"free"`, is a value in the robot file and not a path."""
    page = root / PAGE
    rows = change_rows(read(page)) if page.is_file() else []
    problems = [f"{PAGE}:1: the table '{HEADING}' lacks the change '{change}'" for change in CHANGES
                if not any(re.search(rf"\b{change}\b", row[1], re.IGNORECASE) for row in rows)]
    for line, change, files in rows:
        names = [name for name in QUOTED.findall(files) if '"' not in name]
        if not names and not re.search(r"\bno code\b", files):
            problems.append(f"{PAGE}:{line}: no file is named for '{change}'")
        problems += [f"{PAGE}:{line}: {name} of '{change}' does not exist" for name in names if not (root / name).exists()]
    return problems


def page_files(root):
    """The paths outside the table exist too: text in backticks with a folder and an extension, such as sim/outputs.c, and
    folders of fmu_src."""
    page = root / PAGE
    text = read(page) if page.is_file() else ""
    in_table = {row[0] for row in change_rows(text)}
    named = [(line_of(text, match.start()), match[1]) for match in QUOTED.finditer(text)
             if re.fullmatch(r"(?:[\w*.-]+/)+[\w*-]+\.(?:\w+|\[ch\])|fmu_src/\w+", match[1])]
    return [f"{PAGE}:{line}: {name} does not exist" for line, name in named
            if line not in in_table and not exists(root, name)]


def identifiers(root):
    """Every name in backticks on the page that reads like one of C (word_word) stands in a source."""
    page = root / PAGE
    text = read(page) if page.is_file() else ""
    sources = "\n".join(read(file) for file in c_files(root, PRODUCT_FOLDERS))
    known = set(re.findall(r"\w+", sources))
    return [f"{PAGE}:{line_of(text, match.start())}: no source has {match[1]}" for match in QUOTED.finditer(text)
            if re.fullmatch(r"[a-z]\w*_\w+(\(\))?", match[1]) and match[1].rstrip("()") not in known and not exists(root, match[1])]
