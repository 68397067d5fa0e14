"""The equations of drives as text for generated code: drive_text.py FOLDER OUT NAME...

FOLDER: fmu_src, OUT: a C file that defines drive_texts of generate/drives.h, NAME: drives of fmu_src/drive."""

import json
import sys
from pathlib import Path

HEADERS = ["base/limit.h", "drive/drive.h", "drive/laws.h", "drive/supply.h"]


def lines(folder, files):
    """Without their includes of the project: the headers are one file."""
    text = "".join((folder / file).read_text(encoding="utf-8") for file in files)
    return [line for line in text.splitlines(True) if not line.startswith('#include "')]


def main(folder, out, *names):
    license = ["/* Part of Limber:\n\n", *(Path(folder) / "../LICENSE").read_text(encoding="utf-8").splitlines(True), "*/\n\n"]
    texts = {"": license + lines(Path(folder), HEADERS), **{name: lines(Path(folder), [f"drive/{name}.c"]) for name in names}}
    source = '#include "generate/drives.h"\n\n'
    for name, text in texts.items():
        source += f"static const char *const {name}_lines[] = {{\n" + "".join(f"    {json.dumps(line)},\n" for line in text) + "    NULL};\n"
    rows = "".join(f'    {{"{name}", {name}_lines}},\n' for name in texts)
    Path(out).write_text(source + f"const struct drive_text drive_texts[] = {{\n{rows}    {{NULL, NULL}}}};\n", encoding="utf-8")


if __name__ == "__main__": main(*sys.argv[1:])
