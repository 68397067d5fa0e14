"""C sources as text: the files of a tree, blanking of comments and strings, and a parser that finds the functions.

Macros are not expanded. That is enough for code formatted by clang-format."""

import re
from typing import NamedTuple

COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w*)(?:\\\n|[^\n])*", re.MULTILINE)
TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.])*|->|<<=|>>=|\.\.\.'
                   r"|<<|>>|\+\+|--|&&|\|\||[-+*/%&|^<>=!]=|\S")


class Function(NamedTuple):
    name: str
    first: int  # line of the signature
    last: int   # line of the closing brace
    text: str   # from the signature to the closing brace, without comments

    @property
    def lines(self): return self.last - self.first + 1


def c_files(root, folders):
    """All C sources and headers below these folders."""
    files = [file for folder in folders for file in (root / folder).rglob("*.[ch]")]
    return sorted(file for file in files if "out" not in file.relative_to(root).parts)


def read(file):
    return file.read_text(encoding="utf-8")


def blank(text):
    """Spaces in place of text, lines kept."""
    return re.sub(r"[^\n]", " ", text)


def without(pattern, text, keep=""):
    """text with every match blanked, lines kept; matches that start with one of `keep` stay."""
    return pattern.sub(lambda match: match[0] if keep and match[0].startswith(keep) else blank(match[0]), text)


def without_comments(text):
    return without(COMMENT_OR_STRING, text, keep=('"', "'"))


def without_text(text):
    """Neither comments nor strings nor characters."""
    return without(COMMENT_OR_STRING, text)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def strings(text):
    """(line, literal without its quotes) of every string of C code, #include lines excepted."""
    code = DIRECTIVE.sub(lambda match: blank(match[0]) if match[1] == "include" else match[0], without_comments(text))
    return [(line_of(code, match.start()), match[0][1:-1])
            for match in COMMENT_OR_STRING.finditer(code) if match[0].startswith('"')]


def one_branch(text):
    """text (no comments, no strings) with its directives blanked. Of an #if whose branches do not each close the braces that
    they open, only the first branch stays."""
    pieces, open_ifs, end = [], [], 0  # open_ifs: of every open #if, the pieces at which its branches start
    for match in DIRECTIVE.finditer(text):
        pieces += [text[end:match.start()], blank(match[0])]
        end = match.end()
        if match[1].startswith("if"): open_ifs.append([len(pieces)])
        elif match[1].startswith("el") and open_ifs: open_ifs[-1].append(len(pieces))
        elif match[1] == "endif" and open_ifs:
            starts = open_ifs.pop() + [len(pieces)]
            branches = ["".join(pieces[a:b]) for a, b in zip(starts, starts[1:])]
            if any(branch.count("{") != branch.count("}") for branch in branches):
                for i in range(starts[1], len(pieces)): pieces[i] = blank(pieces[i])
    return "".join(pieces + [text[end:]])


def closing(text, position):
    """Index of the bracket that closes the one at position; the end of the text where none does."""
    opening, depth = text[position], 0
    closing_one = {"{": "}", "(": ")", "[": "]"}[opening]
    for i in range(position, len(text)):
        if text[i] == opening: depth += 1
        elif text[i] == closing_one:
            depth -= 1
            if depth == 0: return i
    return len(text) - 1


def declared_name(signature):
    """Name of the function that a signature declares; None where it declares something else."""
    if not re.search(r"\)\s*(?:__attribute__\s*\(\(.*?\)\)\s*)?$", signature, re.DOTALL): return None
    if re.search(r"(?<![=!<>])=(?!=)", signature): return None  # an initializer
    plain = re.sub(r"__attribute__\s*\(\(.*?\)\)|_Alignas\s*\([^)]*\)", " ", signature, flags=re.DOTALL)
    names = [m[1] for m in re.finditer(r"\b([A-Za-z_]\w*)\s*\(", plain)]
    return names[0] if names else None


def macros(text):
    """(name, start, end) of the macros of several lines that hold statements."""
    for match in DIRECTIVE.finditer(text):
        name = re.match(r"[ \t]*#[ \t]*define[ \t]+(\w+)", match[0])
        if name and "\n" in match[0] and ";" in match[0]: yield name[1], match.start(), match.end() - 1


def definitions(code):
    """(name, start of the signature, closing brace) of the functions in code without comments, strings and directives."""
    start = i = 0  # start: of the declaration that i is in
    while i < len(code):
        if code[i] in ";}": start = i + 1  # a } here is that of an extern "C"
        elif code[i] == "(": i = closing(code, i)
        elif code[i] == "{" and re.fullmatch(r"\s*extern\s*", code[start:i]): start = i + 1
        elif code[i] == "{":
            signature, end = code[start:i], closing(code, i)
            if name := declared_name(signature):
                yield name, start + len(signature) - len(signature.lstrip()), end
                start = end + 1
            i = end
        i += 1


def functions(source):
    """The functions of a C source, and its macros of several lines that hold statements."""
    text, kept = without_text(source), without_comments(source)
    found = [Function(name, line_of(text, start), line_of(text, end), kept[start:end + 1])
             for name, start, end in [*macros(text), *definitions(one_branch(text))]]
    return sorted(found, key=lambda function: function.first)
