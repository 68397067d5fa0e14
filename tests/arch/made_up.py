"""Helpers for the tests of the rules: made-up trees, and the places of the problems found."""


def holds(problems):
    assert not problems, "\n" + "\n".join(problems)


def places(problems):
    """file:line of every problem."""
    return [problem.split(": ")[0] for problem in problems]


def tree(root, **files):
    """Writes files (name with __ for / and _dot_ for the dot) below root."""
    for name, text in files.items():
        file = root / name.replace("__", "/").replace("_dot_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root
