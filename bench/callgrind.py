"""Runs a program under callgrind and reads the counts.

Counts are deterministic. Only instructions inside the functions that match `inside` are counted, so reading a robot and
making its model are left out."""

import os
import re
import subprocess
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

DEEPEST = 40  # longest call chain that callgrind distinguishes; longer than any here


class Failed(RuntimeError):
    """The program or callgrind failed; the text says why."""


def run(command, inside, *options, out):
    """Runs `command` under callgrind, counting inside the functions that match; writes the profile to `out`, returns standard output."""
    valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--collect-atstart=no",
                f"--toggle-collect={inside}", *options]
    bind_now = dict(os.environ, LD_BIND_NOW="1")  # no symbol lookup inside what is measured
    try:
        answer = subprocess.run([*valgrind, *map(str, command)], capture_output=True, text=True, env=bind_now)
    except FileNotFoundError:
        raise Failed("valgrind is not installed") from None
    if answer.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}: exit code {answer.returncode}\n{answer.stderr.strip()}")
    return answer.stdout


def count(command, inside="measured_*"):
    """(instructions inside the functions that match, standard output of the program)"""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind.out"
        printed = run(command, inside, out=out)
        total = re.search(r"^(?:summary|totals): (\d+)", out.read_text(encoding="utf-8"), re.MULTILINE)
    if not total or int(total[1]) == 0: raise Failed(f"nothing was counted: no function matches {inside}")
    return int(total[1]), printed


def instructions(command, inside="measured_*"):
    return count(command, inside)[0]


class Profile:
    """Per-instruction counts, by calling context.

    A context is a call chain, a tuple of names, callee first. Addresses are relative to the object file, as in its
    disassembly, whether or not it is position independent."""

    def __init__(self):
        self.object = {}                         # context -> path of the object file with the function
        self.ran = defaultdict(Counter)          # context -> address -> times that instruction ran
        self.calls = defaultdict(Counter)        # context -> (address of the call in its caller) -> calls
        self.caller = {}                         # context -> context

    @property
    def instructions(self):
        return sum(sum(counts.values()) for counts in self.ran.values())


def profile(command, inside="measured_*"):
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind.out"
        run(command, inside, "--dump-instr=yes", f"--separate-callers={DEEPEST}", "--compress-strings=no",
            "--compress-pos=no", out=out)
        return read(out)


def read(file):
    """A profile from callgrind's text (Callgrind Format Specification, positions: instr line)."""
    result, ob, context, callee, callee_object, calls = Profile(), None, None, None, None, 0
    for row in Path(file).read_text(encoding="utf-8").splitlines():
        key, _, value = row.partition("=")
        if key == "ob": ob = value
        elif key == "fn":
            context = chain(value)
            result.object[context] = ob
        elif key == "cob": callee_object = value
        elif key == "cfn": callee = chain(value)
        elif key == "calls": calls = int(value.split()[0])
        elif row.startswith("0x"):
            address, _, times = row.split()
            if callee is None: result.ran[context][int(address, 16)] += int(times)
            else:  # the line after calls=: the call itself and its inclusive cost
                result.object.setdefault(callee, callee_object or ob)
                result.caller[callee] = context
                result.calls[callee][int(address, 16)] += calls
                callee = callee_object = None
    return result


def chain(name):
    """callee'caller'its caller -> names, without the suffixes of compiler and linker."""
    return tuple(re.sub(r"(\.(constprop|isra|part|cold|lto_priv)(\.\d+)?)+$|@@.*", "", part) for part in name.split("'"))
