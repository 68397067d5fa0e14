"""Wrong usage of commands: exit code 2, a message that says what is wrong and names the help, and nothing on standard output."""

import subprocess

import pytest
from program import resource

pytestmark = pytest.mark.quick

ROBOTS = {"EMPTY": "", **{name.upper(): resource(name) for name in ("canadarm", "crane")}}
CYCLOID = "inverse CANADARM --profile cycloid --rate 1,1,1 --period 1,1,1 --until 1 --step 0.1"
HELD = "inverse CRANE --profile cycloid --rate 1,1 --period 1,1 --until 1 --step 1"
PAIR = "--input u --output y"
WRONG = {
    "expected ROBOT and STATE": ["eval", "matrices"],
    "expected STATE": ["eval a", "matrices a"],
    "expected ROBOT": ["linearize", "linearize --static", f"zeros {PAIR}", "equations", "static", "modes"],
    "expected --input NAME and --output NAME": ["zeros a"],
    "expected --output NAME": ["zeros a --input u"],
    "expected --input NAME": ["zeros a --output y"],
    "expected -o": ["upgrade a"],
    "expected OLD": ["upgrade -o c"],
    "too many arguments": ["eval a b c", "matrices a b c", "linearize a b", "linearize a -", f"zeros a b {PAIR}", "upgrade a b -o c", "static CRANE CRANE",
                           "modes CANADARM more", "equations CANADARM CANADARM"],
    "unknown option": ["eval a b --nonsense", "matrices a b --nonsense", "matrices a -x", "linearize a --nonsense", f"zeros a {PAIR} --nonsense",
                       "upgrade a --fast -o c", "static CRANE --nonsense", "modes CANADARM --fast", f"{CYCLOID} --soft", "view a --speed 2",
                       "picture CRANE -o a.svg --far", "equations CANADARM --what"],
    "needs a value: --": ["modes CANADARM --joints", f"{CYCLOID} --rtol", "view a --result", "linearize a --python", "linearize a --matlab",
                          "zeros a --input", "zeros a --input u --output", "static CRANE --hold"],
    "needs a value: -o": ["linearize a -o", "upgrade a -o"],
    "--at needs a value: --at STATE": ["static CRANE --at", "linearize a --at", f"zeros a {PAIR} --at"],
    "--interpolate needs a value: --interpolate linear|cubic": ["simulate CANADARM --interpolate"],
    "is given twice": ["static CRANE --hold boom_joint --hold jib_joint", "linearize a -o b -o c"],
    "must not be empty": ["modes EMPTY", "linearize a --at EMPTY", "linearize a -o EMPTY"],
    "choose what a static start holds: leave out --rigid and --start zero": [f"{HELD} --start zero --hold jib_joint", f"{HELD} --rigid --free jib_joint"],
    "give --static too": ["linearize CRANE --hold boom_joint", "modes CRANE --free boom_joint"],
    "leave out --sweep": ["modes CRANE --static --sweep boom_joint=0:1:2"],
    "--joints is locked or free, not 'loose'": ["modes CANADARM --joints loose"],
    "--count takes a positive whole number": [f"modes CANADARM --count {n}" for n in ("0", "2.5", "99999999999999999999")],
    "--sweep": ["modes CANADARM --plot x.svg"],
    "--sweep takes JOINT=a:b:n": [f"modes CANADARM --sweep lower_joint{x}" for x in (
        "", "=0:1", "=0:1:0", "=0:1:", "=:1:3", "=0:1:3x", "=0:inf:3", "=0:1:99999999999")],
    "expected --trajectory CSV or --profile cycloid": ["inverse CANADARM", f"{CYCLOID} --trajectory a.csv"],
    "--profile is cycloid, not 'sine'": ["inverse CANADARM --profile sine"],
    "--profile is defined by further options: give --step H too": [CYCLOID.removesuffix(" --step 0.1")],
    "--step belongs to a profile; a trajectory has rows: give --profile cycloid too": ["inverse CANADARM --trajectory a.csv --step 1"],
    "--rate takes 3 numbers with commas between, one for every joint with a drive": [f"{CYCLOID} --rate 1,1", f"{CYCLOID} --rate 1,1,1,1"],
    "--period: T of lower_joint must be positive": [f"{CYCLOID} --period 1,0,1"],
    "--step takes a positive number, not '0'": [f"{CYCLOID} --step 0"],
    "--until takes a positive number, not 'inf'": [f"{CYCLOID} --until inf"],
    "too many rows": [f"{CYCLOID} --until 1e300"],
    "--start is zero or static, not 'bent'": [f"{CYCLOID} --start bent"],
    "--rigid has no elastic motion": [f"{CYCLOID} --rigid --start zero"],
    "--set takes NAME=VALUE, not 'gravity'": [f"{CYCLOID} --set gravity"],
    "give a file with --at": ["view a --modes --at -"],
    "give --result CSV too": ["view a --inputs a.csv"],
    "locked or free": ["view a --joints loose"],
    "the file is .svg or .png": ["picture CRANE -o a.jpg"],
    "expected -o FILE.svg": ["picture CRANE"],
    "--size takes WIDTHxHEIGHT": ["picture CRANE -o a.svg --size 10x10"],
    "--format is text, latex, sympy or matlab, not 'word'": ["equations CANADARM --format word"],
    "--terms takes a whole number from 0 to 1000000, not '-1'": ["equations CANADARM --terms -1"],
    "full, linear or ruthless": ["equations CANADARM --elastic-terms some", "eval a b --elastic-terms cubic"],
    "recursive or composite": ["eval a b --algorithm quick"],
    "--interpolate is linear or cubic, not 'quintic'": ["simulate CANADARM --until 1 --step 1 --inputs a.csv --interpolate quintic"],
    "--hold keeps inputs constant between rows: leave out --interpolate": [
        f"simulate CANADARM --until 1 --step 1 --inputs a.csv {both}" for both in ("--hold --interpolate cubic", "--interpolate linear --hold")],
    "--bode takes INPUT:OUTPUT": ["report CANADARM -o x.html --bode upper_joint.tau"],
    "--at takes a file": ["report CANADARM -o x.html --at -"],
}


@pytest.mark.parametrize("line, words", [(line, words) for words, lines in WRONG.items() for line in lines])
def test_wrong_usage(limber_sanitized, tmp_path, line, words):
    command, *rest = [ROBOTS.get(word, word) for word in line.split()]
    done = subprocess.run([limber_sanitized, command, *rest], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == "" and list(tmp_path.iterdir()) == []
    assert words in done.stderr and f"limber {command} --help" in done.stderr, done.stderr


@pytest.mark.parametrize("command, words", [
    ("eval", ["STATE"]), ("matrices", ["Coriolis", "ruthless"]), ("linearize", ["--at", "--static", "--python", "--matlab", "operating_point"]),
    ("zeros", ["--input", "--output", "minimum_phase", "1e-6", "eps"]), ("upgrade", ["usage: limber upgrade "])])
def test_help(limber, command, words):
    done = subprocess.run([limber, command, "--help"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "") and all(word in done.stdout for word in words)


@pytest.mark.parametrize("line", ["eval CRANE NONE", "eval NONE CRANE", "matrices CRANE NONE", "matrices NONE CRANE", "linearize NONE", "linearize CRANE --at NONE",
                                  "linearize CRANE --python NONE", "linearize CRANE --matlab NONE", "zeros NONE --input u --output y", "modes NONE", CYCLOID.replace("CANADARM", "NONE"),
                                  f"{CYCLOID} --elastic NONE", "inverse CANADARM --trajectory NONE"])
def test_files_that_are_missing_or_cannot_be_written(limber_sanitized, tmp_path, line):
    nowhere = tmp_path / "none" / "file"
    words = [(ROBOTS | {"NONE": nowhere}).get(word, word) for word in line.split()]
    done = subprocess.run([limber_sanitized, *words], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.returncode == 1 and str(nowhere) in done.stderr
