"""The rules of the house, each a function that returns what breaks it: a list of "file:line: what is wrong".

A rule takes the root of a tree, so that it can be tried on a made-up bad one."""

import re
import subprocess
from pathlib import Path

from c_source import COMMENT_OR_STRING, c_files, functions, line_of, read, without, without_text

# A layer sees itself and those before it.
LAYERS = ["base", "math", "drive", "robot", "flex", "dyn", "mech", "ode", "sim", "companion", "controller", "fmi"]
SEEN = {  # what the folders beside fmu_src see: the highest layer of fmu_src, and other folders
    "analysis": ("sim", []),
    "include": ("base", []),
    "lib": ("sim", ["analysis", "include"]),
    "generate/graph": ("base", []),
    "generate": ("mech", ["generate/graph", "analysis"]),
    "view/scene": ("mech", ["analysis"]),
    "view/page": ("mech", ["view/scene"]),
    "modelDescription": ("fmi", ["view/scene"]),
    "cli": ("controller", ["analysis", "generate", "generate/graph", "modelDescription", "view/scene"]),
}
PRODUCT_FOLDERS = ["fmu_src", "include", "analysis", "lib", "generate", "view", "modelDescription", "cli"]
C_FOLDERS = [*PRODUCT_FOLDERS, "tests", "bench", "examples"]
LONGEST_FILE = 700
SHARED = {("vendor.c.o", "active")}  # behind a lock: who allocates for json-c and SUNDIALS, whose allocators have no argument for it

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
ALLOCATION = re.compile(r"\b(malloc|calloc|realloc|free|aligned_alloc|posix_memalign|strdup|strndup|alloca)\s*\(")
PRINTING = re.compile(r"\b(v?f?printf|f?puts|f?putc|putchar|fwrite|perror|stdout|stderr)\b")


def includes(file):
    """(line, "<" or '"', what) of every include that is not commented out."""
    text = without(COMMENT_OR_STRING, read(file), keep='"')
    return [(line_of(text, match.start()), match[1], match[2]) for match in INCLUDE.finditer(text)]


def include_direction(root):
    """A file of fmu_src includes project headers by layer/name.h, only from its own layer and the ones below."""
    problems = []
    source = root / "fmu_src"
    for file in c_files(root, ["fmu_src"]):
        where = file.relative_to(root)
        layer = file.relative_to(source).parts[0]
        if layer not in LAYERS:
            problems.append(f"{where}:1: {layer} is not a layer; the layers are {', '.join(LAYERS)}")
            continue
        for line, quote, name in includes(file):
            of = name.split("/")[0]
            if quote == "<":
                if (source / name).exists():
                    problems.append(f"{where}:{line}: <{name}> is a header of the project: include it in quotes")
            elif "/" not in name or of not in LAYERS:
                problems.append(f'{where}:{line}: "{name}" should read layer/name.h with one of {", ".join(LAYERS)}')
            elif LAYERS.index(of) > LAYERS.index(layer):
                problems.append(f'{where}:{line}: layer {layer} includes "{name}" of the layer {of} above it')
    return problems


def folder_of(path):
    """The folder of SEEN that a path beside fmu_src lies in; None: none."""
    return max((folder for folder in SEEN if path.startswith(folder + "/")), key=len, default=None)


def home_of(root, folder, name):
    """Where a header lives that a file in `folder` includes: a layer of fmu_src or a folder; None: not in the project."""
    if (root / folder / name).exists(): return folder
    if name.split("/")[0] in LAYERS and (root / "fmu_src" / name).exists(): return name.split("/")[0]
    if folder_of(name) and (root / name).exists(): return folder_of(name)
    return next((home for home in SEEN if (root / home / name).exists()), None)


def folder_direction(root):
    """What the folders beside fmu_src include comes from themselves or from what they may see."""
    problems = []
    for folder, (highest, others) in SEEN.items():
        seen = [folder, *others, *LAYERS[:LAYERS.index(highest) + 1]]
        for file in c_files(root, [folder]):
            if folder_of(file.relative_to(root).as_posix()) != folder: continue
            for line, quote, name in includes(file):
                where, home = f"{file.relative_to(root)}:{line}", home_of(root, folder, name)
                if quote == "<":
                    if home in LAYERS:
                        problems.append(f"{where}: <{name}> is a header of the project: include it in quotes")
                elif home is None: problems.append(f'{where}: "{name}" is no header of the project')
                elif home not in seen:
                    problems.append(f'{where}: {folder} includes "{name}" of {home}; it may see fmu_src up to '
                                    f"{', '.join([highest, *others])}")
    return problems


def printing(root):
    """An analysis returns a status and a result; cli prints."""
    problems = []
    for file in c_files(root, ["analysis"]):
        text = without_text(read(file))
        problems += [f"{file.relative_to(root)}:{line_of(text, match.start())}: {match[1]} in an analysis: return a result "
                     "or report a message" for match in PRINTING.finditer(text)]
    return problems


def foreign_includes(root):
    """SUNDIALS only in fmu_src/ode; json-c only where a robot file or a STATE is read, in the description of a scene and in the command line."""
    homes = [
        ("SUNDIALS", re.compile(r"^(sundials|cvodes?|arkode|idas?|kinsol|nvector|sunmatrix|sunlinsol|sunnonlinsol)/"),
         ["fmu_src/ode/"]),
        ("json-c", re.compile(r"^(json-c/|json(_\w+)?\.h$|arraylist\.h$|linkhash\.h$|printbuf\.h$)"),
         ["fmu_src/robot/", "fmu_src/base/vendor", "analysis/state", "view/scene/describe", "view/page/kernel", "cli/"]),
    ]
    problems = []
    for file in c_files(root, PRODUCT_FOLDERS):
        where = file.relative_to(root).as_posix()
        for line, quote, name in includes(file):
            for library, pattern, allowed in homes:
                if not pattern.match(name) or where.startswith(tuple(allowed)): continue
                if quote == '"' and (file.parent / name).exists(): continue
                problems.append(f"{where}:{line}: {name} of {library} belongs in {' or '.join(allowed)}")
    return problems


def allocations(root):
    """Memory in fmu_src comes from fmu_src/base."""
    problems = []
    for file in c_files(root, ["fmu_src"]):
        where = file.relative_to(root).as_posix()
        if where.startswith("fmu_src/base/"): continue
        text = without_text(read(file))
        problems += [f"{where}:{line_of(text, match.start())}: {match[1]}() outside fmu_src/base: take from an arena"
                     for match in ALLOCATION.finditer(text)]
    return problems


def mutable_globals(archive):
    """No object of the library may write to memory that is not handed to it, thread-local or not, but for SHARED.

    Constant tables that hold pointers sit in .data.rel.ro: read-only once loaded, so they are fine."""
    table = subprocess.run(["objdump", "-t", str(archive)], check=True, capture_output=True, text=True).stdout
    problems, member = [], str(archive)
    for row in table.splitlines():
        if m := re.match(r"(\S+):\s+file format", row): member = m[1]
        m = re.match(r"[0-9a-f]+ .{7} (\S+)\s+([0-9a-f]+)\s+(?:\.(?:hidden|internal|protected) )?(\S+)$", row)
        if not m: continue
        section, size, name = m[1], int(m[2], 16), m[3]
        writable = re.match(r"(\.data|\.bss|\.tdata|\.tbss|\.ldata|\.lbss|\*COM\*)", section)
        if (member, name) in SHARED: continue
        if writable and not section.startswith(".data.rel.ro") and size > 0:
            problems.append(f"{member}: {name} is a mutable global of {size} bytes in {section}")
    return problems


def long_files(root):
    """A file that does not fit a few screens has more than one idea."""
    problems = []
    for file in c_files(root, C_FOLDERS):
        lines = len(read(file).splitlines())
        if lines >= LONGEST_FILE:
            problems.append(f"{file.relative_to(root)}:{lines}: {lines} lines, fewer than {LONGEST_FILE} wanted")
    return problems


def tracked_files(root):
    names = subprocess.run(["git", "-C", str(root), "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
    return [root / name for name in names.split("\0") if name and (root / name).is_file()]


def machine_paths(root, files):
    """Nothing refers to the place of somebody's checkout or home."""
    homes = "|".join(["work", "root", "home", "Users"])
    pattern = re.compile(r"(?<![\w.$})\]*-])/(" + homes + r")(?=/|[\s\"'`,;:)]|$)", re.MULTILINE)
    problems = []
    for file in files:
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # not a text
        problems += [f"{file.relative_to(root)}:{line_of(text, match.start())}: path of one machine: /{match[1]}"
                     for match in pattern.finditer(text)]
    return problems


def unformatted(root, style):
    """clang-format would change nothing."""
    files = c_files(root, C_FOLDERS)
    if not files: return []
    result = subprocess.run(["clang-format", f"--style=file:{style}", "--dry-run", "-Werror", *map(str, files)],
                            capture_output=True, text=True)
    if result.returncode == 0: return []
    places = {}
    for file, line in re.findall(r"^(.+?):(\d+):\d+: error: .*clang-format", result.stderr, re.MULTILINE):
        places.setdefault(file, []).append(int(line))
    problems = [f"{Path(file).relative_to(root)}:{lines[0]}: not formatted (lines {sorted(set(lines))}): build/format.sh"
                for file, lines in sorted(places.items())]
    return problems or [result.stderr]


# Prefixes of objects that a header declares beside its own name: columns of the variable table, factorizations, expressions
OBJECTS = {"fmu_src/sim": {"place", "value", "limit", "number", "nominal", "structure"}, "fmu_src/math": {"cholesky", "lu"},
           "generate/graph": {"expr"}, "cli": {"command"}, "lib": {"limber"}, "fmu_src/fmi": {"fmi2"}, "fmu_src/companion": {"instance"},
           "fmu_src/controller": {"instance"}}


def exported_prefixes(root):
    """A function that other files see begins with its module: a file of its folder (or its first or last word), the folder, or an
    object of OBJECTS."""
    problems = []
    for file in c_files(root, PRODUCT_FOLDERS):
        folder = file.parent.relative_to(root).as_posix()
        if file.suffix != ".c" or folder == "view/page": continue
        stems = {other.stem for other in file.parent.glob("*.[ch]")} | {file.parent.name}
        words = {word for stem in stems for word in (stem, stem.replace("onestep", "one_step"), stem.split("_")[0], stem.split("_")[-1])}
        words |= OBJECTS.get(folder, set())
        words |= {word[:-1] for word in words if word.endswith("s")}
        for function in functions(read(file)):
            signature = function.text.split("{")[0]
            if re.search(r"\b(static|INLINE)\b", signature) or function.text.startswith("#") or function.name.isupper() or function.name == "main": continue
            if not any(re.match(rf"{word}(_|$|[A-Z])", function.name) for word in words):
                problems.append(f"{file.relative_to(root)}:{function.first}: {function.name}() does not say its module: "
                                f"{file.stem}_{function.name}() or {file.parent.name}_{function.name}()")
    return problems
