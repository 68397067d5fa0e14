"""Rules about functions: how long a function may be, and how many lines two functions may share."""

import re
from collections import Counter
from itertools import combinations
from typing import NamedTuple

from c_source import TOKEN, c_files, functions, read
from rules import PRODUCT_FOLDERS

KEYWORDS = set("if else for while do switch case default break continue return goto sizeof const static struct enum union "
               "int double float char void bool unsigned long short size_t restrict NULL true false".split())
BLOCKS = {"if", "else", "for", "while", "do", "switch", "case", "default"}  # what a { may follow and open a block


class Statement(NamedTuple):
    shape: str    # its tokens after renaming
    lines: tuple  # the source lines that it stands on


class Body(NamedTuple):
    place: str
    name: str
    statements: list
    weights: Counter  # of every shape, the lines that it stands on


def functions_of(root):
    """(file, function) of all the C functions of the product."""
    for file in c_files(root, PRODUCT_FOLDERS):
        for function in functions(read(file)): yield file.relative_to(root).as_posix(), function


def long_functions(root, most=60):
    """A function has at most this many lines, from its signature to its closing brace."""
    return [f"{where}:{function.first}: {function.name}() has {function.lines} lines, at most {most} wanted"
            for where, function in functions_of(root) if function.lines > most]


def renamed(tokens):
    """The shape of a statement: names become n, numbers and characters 0, strings s; x->y.z and x[...] become one name,
    since a copy often holds the same quantity in another struct or array."""
    def one(token):
        if token in KEYWORDS: return token
        if token[0] == '"': return "s"
        if token[0] == "'" or re.match(r"\.?\d", token): return "0"
        return "n" if token[0].isalpha() or token[0] == "_" else token

    shape, last = " ".join(map(one, tokens)), None
    while shape != last:
        last, shape = shape, re.sub(r"\bn (?:(?:->|\.) n|\[ [^][]* \])", "n", shape)
    return shape


def statements(function):
    """The statements of a function's body. The head of a block, such as for (...), is a statement of its own. The contents of
    an initializer are data and are left out."""
    found, tokens, lines, depth, data = [], [], set(), 0, 0

    def finish():
        if any(token not in ("else", "do", ";") for token in tokens):
            found.append(Statement(renamed(tokens), tuple(sorted(lines))))
        tokens.clear(), lines.clear()

    body = function.text.find("{") + 1
    line, end = function.first + function.text.count("\n", 0, body), body
    for match in TOKEN.finditer(function.text, body):
        token = match[0]
        line, end = line + function.text.count("\n", end, match.start()), match.start()
        if data > 0: data += (token == "{") - (token == "}")
        elif token == "{" and (depth > 0 or (tokens and tokens[0] not in BLOCKS)): data = 1
        elif token in "{}": finish()
        elif token != "\\":  # that of a macro
            depth += (token in "([") - (token in ")]")
            tokens.append(token)
            lines.add(line)
            if token == ";" and depth == 0: finish()
    return found


def common(a, b):
    """The longest common subsequence of two lists of statements, as pairs."""
    n, m = len(a), len(b)
    longest = [[0] * (m + 1) for _ in range(n + 1)]
    for i in reversed(range(n)):
        for j in reversed(range(m)):
            longest[i][j] = (longest[i + 1][j + 1] + 1 if a[i].shape == b[j].shape
                             else max(longest[i + 1][j], longest[i][j + 1]))
    pairs, i, j = [], 0, 0
    while i < n and j < m:
        if a[i].shape == b[j].shape: pairs, i, j = pairs + [(a[i], b[j])], i + 1, j + 1
        elif longest[i + 1][j] >= longest[i][j + 1]: i += 1
        else: j += 1
    return pairs


def shared_lines(a, b):
    """The number of lines that the common statements occupy, in the function where that is fewer."""
    pairs = common(a, b)
    return min(len({line for pair in pairs for line in pair[side].lines}) for side in (0, 1)) if pairs else 0


def could_share(a, b):
    """An upper bound of shared_lines(): what two bodies have in common in any order."""
    shapes = a.weights.keys() & b.weights.keys()
    return min(sum(body.weights[shape] for shape in shapes) for body in (a, b))


def repetitions(root, most):
    """(shared lines, body, body) of all pairs of functions that share more than this many lines, the largest first."""
    bodies = []
    for where, function in functions_of(root):
        body = statements(function)
        if len({line for statement in body for line in statement.lines}) > most:
            weights = Counter()
            for statement in body: weights[statement.shape] += len(statement.lines)
            bodies.append(Body(f"{where}:{function.first}", function.name, body, weights))
    found = []
    for a, b in combinations(bodies, 2):
        if could_share(a, b) <= most: continue
        if (lines := shared_lines(a.statements, b.statements)) > most: found.append((lines, a, b))
    return sorted(found, key=lambda pair: (-pair[0], pair[1].place, pair[2].place))


def repeated_functions(root, most=15):
    """No two functions share more than this many equal lines after renaming.

    Statements are compared rather than lines, because a longer name wraps a line elsewhere; the lines that they occupy are
    counted. All names are taken as equal, all numbers and all strings too, and a member or an element counts as a name: no
    renaming hides a copy. Two functions share the longest common subsequence of their statements. It may have gaps, because a
    copied sweep is seldom one unbroken run: each copy has a few lines of its own. Signatures, lone braces, else and the
    contents of initializers do not count.

    Short statements can agree by chance. Over more than 15 lines in the same order they hardly do: at ff4cbf0 no pair shares
    more than 14. The outward sweeps of tangent.c and tangent_jacobian.c, which are copies, share 12 there."""
    return [f"{a.place}: {a.name}() shares {lines} lines with {b.name}() of {b.place}, at most {most} wanted"
            for lines, a, b in repetitions(root, most)]
