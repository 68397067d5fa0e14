"""Static functions with one call site: python tests/arch/calls.py [FOLDER...] [--list]

The share of them among all functions of the product, by folder; with --list also their names. A function counts if it is static,
not inline, and its name stands once in its file besides its definition and declarations, in a call."""

import re
import sys
from pathlib import Path

from c_source import c_files, functions, read, without_text
from rules import PRODUCT_FOLDERS


def called_once(file):
    """(functions of the file, those of them that are static and called at one place)"""
    source = read(file)
    found, text, once = functions(source), without_text(source), []
    for function in found:
        signature = function.text.split("{")[0]
        if not re.match(r"\s*static\b(?!.*\binline\b)", signature, re.DOTALL): continue
        uses = re.findall(rf"\b{function.name}\b\s*(\(?)", text)
        declared = len(re.findall(rf"^static\b[^;{{}}()]*\b{function.name}\s*\([^;{{}}]*\)\s*;", text, re.MULTILINE))
        rest = len(uses) - 1 - declared
        if rest == 1 and sum(use == "(" for use in uses) - 1 - declared == 1: once.append(function)
    return found, once


def share(root, folders):
    found = [called_once(file) for file in c_files(root, folders) if file.suffix == ".c"]
    return sum(len(a) for a, _ in found), sum(len(b) for _, b in found)


def main(arguments):
    root, listing = Path(__file__).resolve().parents[2], "--list" in arguments
    folders = [word for word in arguments if word != "--list"] or PRODUCT_FOLDERS
    for folder in folders:
        for file in c_files(root, [folder]) if listing else []:
            for function in called_once(file)[1]: print(f"{file.relative_to(root)}:{function.first}: {function.name}")
        total, once = share(root, [folder])
        print(f"{folder:20} {total:6} functions, {once:5} static with one call site, {100 * once / max(total, 1):.1f} %")
    total, once = share(root, folders)
    print(f"{'all':20} {total:6} functions, {once:5} static with one call site, {100 * once / max(total, 1):.1f} %")
    return 0


if __name__ == "__main__": sys.exit(main(sys.argv[1:]))
