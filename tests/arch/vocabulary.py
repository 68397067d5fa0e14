"""Rules about names that only one place may use: the joint types and the kinds of variables."""

import re

from c_source import c_files, line_of, read, strings, without_text
from rules import PRODUCT_FOLDERS

# ---- joint types --------------------------------------------------------------------------------------------------

JOINT_FILES = re.compile(r"fmu_src/robot/(joint\.[ch]|read\w*\.c)")  # the joint file and the reader
JOINT_TYPES = ["fixed", "revolute", "prismatic", "universal", "cylindrical", "spherical", "free"]
COMMON_WORDS = ["fixed", "free"]  # ordinary English too: in a longer text only "fixed joint" means a joint type

OTHER_MEANINGS = {  # (file, literal): what it means there
    ("modelDescription/description.c", "fixed"): "variability of an FMI variable",
    ("cli/modes.c", "free"): "value of the option --joints",
}


def joint_type_names(root):
    """The joint types in lower case: those listed above and those of enum joint_type."""
    names = set(JOINT_TYPES)
    for file in c_files(root, ["fmu_src/robot"]):
        for match in re.finditer(r"\benum\s+joint_type\s*\{([^}]*)\}", without_text(read(file))):
            names.update(name.lower() for name in re.findall(r"\bJOINT_(\w+)", match[1]))
    return {name for name in names if not re.search(r"count$|^n_|types?$", name)}


def names_joint_type(literal, names):
    """The joint type that a string names, or None."""
    if literal.lower() in names: return literal.lower()
    words = [name + r"[ -]joints?" if name in COMMON_WORDS else name for name in sorted(names)]
    match = re.search(r"\b(" + "|".join(words) + r")\b", literal.replace("_", " "), re.IGNORECASE)
    return match[1] if match else None


def joint_types(root):
    """Only the joint file and the reader contain an identifier of a joint type or its name as a string."""
    names = joint_type_names(root)
    identifier = re.compile(r"\b(joint_type|" + "|".join("JOINT_" + name.upper() for name in sorted(names)) + r")\b")
    problems = []
    for file in c_files(root, PRODUCT_FOLDERS):
        where = file.relative_to(root).as_posix()
        if JOINT_FILES.fullmatch(where): continue
        source = read(file)
        text = without_text(source)
        found = [(line_of(text, match.start()), match[1]) for match in identifier.finditer(text)]
        found += [(line, f'"{literal}"') for line, literal in strings(source)
                  if names_joint_type(literal, names) and (where, literal) not in OTHER_MEANINGS]
        problems += [f"{where}:{line}: {what} names a joint type: robot/joint.h answers what differs by type"
                     for line, what in sorted(found)]
    return problems


# ---- kinds of variables -------------------------------------------------------------------------------------------

TABLE_FILES = re.compile(r"fmu_src/sim/variables\w*\.[ch]")

COMPARISON = r"(?:==|!=|(?<!-)[<>]=?)"  # << and >> too: a mask of kinds is a comparison with several


def kind_names(root):
    """A pattern of the enumerators of a variable's kind."""
    names = {r"KIND_\w+"}
    for file in c_files(root, ["fmu_src/sim"]):
        for match in re.finditer(r"\benum\s+(?:variable_)?kind\s*\{([^}]*)\}", without_text(read(file))):
            names.update(re.findall(r"(?:^|,)\s*(\w+)", match[1]))
    return "(?:" + "|".join(sorted(names)) + ")"


def kinds(root):
    """A variable's kind is compared or switched on only in the file of the table; its rows carry what differs by kind.

    Reported: an enumerator in a comparison, in a case label or as an index in an initializer (a switch in disguise), and a
    member named kind in a comparison, in folders that see variables: elsewhere it is a kind of element or constraint."""
    kind = kind_names(root)
    cast = r"(?:\(\s*(?:(?:enum\s+)?\w+\s*\))?\s*)*"
    of_kinds = re.compile(rf"\bcase\s+{cast}{kind}\b|[{{,]\s*\[\s*{kind}\b"
                          rf"|\b{kind}\b[\s)]*{COMPARISON}|{COMPARISON}\s*{cast}{kind}\b")
    of_member = re.compile(rf"(?:->|\.)kind\b\s*{COMPARISON}")
    problems = []
    for file in c_files(root, PRODUCT_FOLDERS):
        where = file.relative_to(root).as_posix()
        if TABLE_FILES.fullmatch(where): continue
        text = without_text(read(file))
        found = [*of_kinds.finditer(text)]
        if not where.startswith(("fmu_src/mech/", "generate/")): found += of_member.finditer(text)
        problems += [f"{where}:{line_of(text, match.end())}: '{' '.join(match[0].split())}' tests the kind of a variable: "
                     "put what differs into the rows of sim/variables.c" for match in found]
    return problems


# ---- words that docs/glossary.md replaces ---------------------------------------------------------------------------

PROSE = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "docs", "examples"]


def replaced_words(root):
    """The words of the glossary's table that are replaced in every meaning: without a parenthesis."""
    table = read(root / "docs/glossary.md").split("## Words that are replaced")[1]
    left = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)[2:]
    return [word.strip() for entry in left if "(" not in entry for word in entry.split(",")]


def replaced(root):
    """No comment, name or message of the product, and no page, has one of them. Endings and the parts of an identifier count too."""
    words = replaced_words(root)
    pattern = re.compile(r"(?<![a-zA-Z])(" + "|".join(re.sub(r"[ _]", "[ _]+", word) for word in words) + r")(s|es|d|ed|ing)?(?![a-zA-Z])", re.IGNORECASE)
    files = c_files(root, PRODUCT_FOLDERS)
    for name in PROSE:
        files += sorted((root / name).rglob("*.md")) + sorted((root / name).rglob("*.py")) if (root / name).is_dir() else [root / name]
    problems = []
    for file in files:
        where = file.relative_to(root).as_posix()
        if where == "docs/glossary.md" or not file.is_file(): continue
        text = read(file)
        if file.suffix == ".md": text = re.sub(r"`[^`\n]*`", lambda match: " " * len(match[0]), text)  # names of files and tests
        problems += [f"{where}:{line_of(text, match.start())}: \"{match[0]}\" is replaced by another word: docs/glossary.md" for match in pattern.finditer(text)]
    return problems
