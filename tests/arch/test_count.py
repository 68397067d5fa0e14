"""The count of lines, files and functions."""

import subprocess

import count
import pytest
from made_up import tree

SOURCE = '/* a\n   comment */\n\nint f(void) /* after */\n{\n    return "/* no comment */"[0]; // behind\n}\n// alone\n'


def test_lines_are_told_apart():
    assert count.count_source(SOURCE) == count.Count(files=1, code=4, comments=3, blanks=1, functions=1)


def test_both_trees_are_counted(tmp_path):
    git = lambda *words: subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x", *words], cwd=tmp_path, check=True,
                                        capture_output=True)
    git("init")
    tree(tmp_path, fmu_src__math__a_dot_c=SOURCE, cli__b_dot_c=SOURCE)
    git("add", "."), git("commit", "-m", "first")
    tree(tmp_path, fmu_src__math__a_dot_c=SOURCE, cli__b_dot_c="int x;\n", analysis__c_dot_c=SOURCE)
    count.check_out(tmp_path, "HEAD", tmp_path / "before")
    row = lambda root, name: next(line for line in count.table("title", root) if line.startswith(name + " ")).split()[-6:]
    assert row(tmp_path / "before", "all") == ["2", "8", "6", "2", "2", "16"]
    assert row(tmp_path, "all") == ["3", "9", "6", "2", "2", "17"]
    with pytest.raises(subprocess.CalledProcessError): count.check_out(tmp_path, "nonsense", tmp_path / "none")
