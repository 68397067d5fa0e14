"""Pages with generated parts. A part stands between <!-- begin NAME: ... --> and <!-- end NAME -->."""

import re


def replace_part(page, name, part, source):
    """The page with a new part; `source` says in the marker where the part comes from."""
    pattern = re.compile(rf"<!-- begin {name}\b.*?-->.*?<!-- end {name} -->", re.DOTALL)
    if len(pattern.findall(page)) != 1: raise ValueError(f"the page must have one part '{name}'")
    begin = f"<!-- begin {name}: generated from {source} by docs/tools/make.py, do not edit -->"
    return pattern.sub(lambda _: f"{begin}\n\n{part.strip()}\n\n<!-- end {name} -->", page)


def table(head, rows):
    """A Markdown table; a bar inside a cell is escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)
