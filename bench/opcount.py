#!/usr/bin/env python3
"""Floating-point operations of one call, counted from the instructions that ran.

    opcount.py ROBOT [full|linear|ruthless] [--algorithm forward|composite|inverse] [--build DIRECTORY] [--json]

Callgrind gives how often each instruction of the scalar build ran, the disassembly gives its kind. A packed instruction counts
once per lane; a fused one counts as a multiplication and an addition; subtractions count as additions; sign changes,
comparisons, conversions and moves do not count. Operations inside sin, cos and other library functions are listed
separately: papers count the calls, not their polynomials."""

import argparse
import json
import platform
import re
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from functools import lru_cache
from pathlib import Path

import arms
import builds
import callgrind

ROOT = Path(__file__).resolve().parent.parent
KINDS = ("mul", "add", "div", "sqrt")
OPERATION = re.compile(r"v?(mul|add|sub|div|sqrt)([sp])([sd])$")
FUSED = re.compile(r"vf(?:n?madd|n?msub|maddsub|msubadd)(?:132|213|231)([sp])([sd])$")
HORIZONTAL = re.compile(r"v?(?:h(?:add|sub)|addsub)p([sd])$")
BITS = {"x": 128, "y": 256, "z": 512}
X87 = re.compile(r"f(i?(?:mul|add|sub|div)r?p?|sqrt)[sltq]?$")
X87_KIND = {"mul": "mul", "add": "add", "sub": "add", "div": "div", "sqrt": "sqrt"}


# ---- operations of an instruction ----------------------------------------------------------------------------------------


def operations(mnemonic, operands=""):
    """Operations of one instruction as a Counter of KINDS; empty if it does no arithmetic."""
    def lanes(packed, precision):
        if packed == "s": return 1
        widest = max((BITS[register] for register in re.findall(r"%([xyz])mm", operands)), default=128)
        return widest // (64 if precision == "d" else 32)

    if m := OPERATION.match(mnemonic):
        kind = {"sub": "add"}.get(m[1], m[1])
        return Counter({kind: lanes(m[2], m[3])})
    if m := FUSED.match(mnemonic):
        return Counter(mul=lanes(m[1], m[2]), add=lanes(m[1], m[2]))
    if m := HORIZONTAL.match(mnemonic):
        return Counter(add=lanes("p", m[1]))
    if m := X87.match(mnemonic):
        return Counter({next(kind for word, kind in X87_KIND.items() if word in m[1]): 1})
    return Counter()


@lru_cache(maxsize=None)
def arithmetic(object_file):
    """{address: operations} of every floating-point instruction in an object file."""
    listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", object_file], check=True, capture_output=True,
                             text=True).stdout
    found = {}
    for m in re.finditer(r"^ *([0-9a-f]+):\t(?:(?:lock|rep\w*|bnd|data16) )*(\S+) *([^\n]*)$", listing, re.MULTILINE):
        if m[2][0] in "vmasdhf" and (count := operations(m[2], m[3])): found[int(m[1], 16)] = count
    return found


def inlined(object_file, addresses):
    """{address: names of the C functions it belongs to}: the inlined ones, innermost first, then the one they are inlined into.

    Without debug information only the last is known."""
    if not addresses: return {}
    addresses = sorted(addresses)
    answer = subprocess.run(["addr2line", "-e", object_file, "-f", "-i", "-a"], input="\n".join(map(hex, addresses)),
                            check=True, capture_output=True, text=True).stdout
    names, rows = {}, iter(answer.splitlines())
    for row in rows:
        if row.startswith("0x"): current = names.setdefault(int(row, 16), [])
        else:
            current.append(callgrind.chain(row)[0])
            next(rows)  # file and line
    return names


# ---- one program -----------------------------------------------------------------------------------------------------


class Count:
    """Operations of a run, per call: in total, in the mathematical library, by C function."""

    def __init__(self, calls):
        self.calls = calls
        self.total = Counter()                   # in the program itself
        self.library = Counter()                 # inside shared libraries
        self.library_calls = Counter()           # name -> calls from the program
        self.own = defaultdict(Counter)          # C function -> operations in its own code, inlined or not
        self.inclusive = defaultdict(Counter)    # C function -> operations in it and in all that it calls
        self.instructions = 0

    def per_call(self, counter):
        return {name: value / self.calls for name, value in counter.items()}

    def as_dict(self):
        functions = {name: {"own": self.per_call(self.own[name]), "inclusive": self.per_call(count)}
                     for name, count in self.inclusive.items()}
        return {"instructions": self.instructions / self.calls, **{kind: self.total[kind] / self.calls for kind in KINDS},
                "library": self.per_call(self.library), "library_calls": self.per_call(self.library_calls),
                "functions": functions}


def count(command, calls, inside="measured_*"):
    """Operations of `command`, which calls functions that match `inside` `calls` times."""
    if platform.machine() not in ("x86_64", "AMD64"): raise callgrind.Failed("operations can be counted on x86-64 only")
    program = str(Path(command[0]).resolve())
    measured = callgrind.profile([program, *command[1:]], inside)
    result = Count(calls)
    result.instructions = measured.instructions

    # operations of each context by itself, and the C functions they belong to
    mine = [context for context, file in measured.object.items() if file == program]
    names = inlined(program, {address for context in mine for address in measured.ran[context]}
                    | {address for context, caller in measured.caller.items() if measured.object.get(caller) == program
                       for address in measured.calls[context]})
    below = {}  # context -> operations of it and what it calls, in the program only
    for context, file in measured.object.items():
        known = arithmetic(file) if measured.ran[context] and Path(file).is_file() else {}
        below[context] = own = Counter()
        for address, times in measured.ran[context].items():
            if address not in known: continue
            done = Counter({kind: n * times for kind, n in known[address].items()})
            if file != program:
                result.library.update(done)
                continue
            own.update(done)
            result.own[names[address][0]].update(done)
            for name in dict.fromkeys(names[address]): result.inclusive[name].update(done)
        if file == program: result.total.update(own)
        elif measured.ran[measured.caller.get(context)] and measured.object[measured.caller[context]] == program:
            result.library_calls[context[0]] += sum(measured.calls[context].values())

    # callees first: add the operations of each context to the C functions that call it, in proportion to the calls
    for context in sorted(mine, key=len, reverse=True):
        caller = measured.caller.get(context)
        if not measured.ran[caller] or measured.object[caller] != program: continue  # outside the measured functions
        calls_here = sum(measured.calls[context].values())
        below[caller].update(below[context])
        for address, times in measured.calls[context].items():
            share = Counter({kind: n * times / calls_here for kind, n in below[context].items()})
            for name in dict.fromkeys(names.get(address, [caller[0]])): result.inclusive[name].update(share)
    return result


# ---- the kernel --------------------------------------------------------------------------------------


def count_robot(kernel, robot, terms=None, algorithm="forward", calls=4):
    return count([kernel, robot, algorithm, calls, *([terms] if terms else [])], calls)


def number(value):
    """Without decimals if it is whole; a mean over states may not be."""
    return f"{value:.0f}" if abs(value - round(value)) < 0.005 else f"{value:.1f}"


def show(result):
    per = lambda counter, kind: number(counter[kind] / result.calls)
    print(f"{result.instructions / result.calls:.0f} instructions, mean of {result.calls} states")
    heads = ("multiplications", "additions", "divisions", "square roots")
    print(f"{'':34}" + "".join(f"{head:>17}" for head in heads))
    print(f"{'one call':34}" + "".join(f"{per(result.total, kind):>17}" for kind in KINDS))
    print(f"{'inside libraries, not counted':34}" + "".join(f"{per(result.library, kind):>17}" for kind in KINDS))
    called = ", ".join(f"{number(times / result.calls)} {name}" for name, times in result.library_calls.most_common())
    print(f"library calls: {called or 'none'}\n")
    print(f"{'C function':34}{'with what it calls':>22}{'by itself':>22}")
    print(f"{'':34}{'mul':>11}{'add':>11}{'mul':>11}{'add':>11}{'div':>9}{'sqrt':>9}")
    for name, below in sorted(result.inclusive.items(), key=lambda item: -item[1]["mul"] - item[1]["add"]):
        if not any(below.values()): continue
        own = result.own[name]
        print(f"{name:34}{per(below, 'mul'):>11}{per(below, 'add'):>11}" + "".join(
            f"{per(own, kind):>{width}}" for kind, width in zip(KINDS, (11, 11, 9, 9))))


def main():
    parser = argparse.ArgumentParser(description="Floating-point operations of one call, counted from the instructions that ran.")
    parser.add_argument("robot", type=Path, help="a robot file, or arm:LINKS:Y:Z for a generated arm")
    parser.add_argument("terms", nargs="?", choices=["full", "linear", "ruthless"], help="default: those of the robot file")
    parser.add_argument("--algorithm", choices=["forward", "composite", "inverse"], default="forward")
    parser.add_argument("--build", type=Path, default=ROOT / "build/out/scalar",
                        help="a scalar build; the default one is rebuilt if needed, any other is used as it is")
    parser.add_argument("--json", action="store_true", help="everything, per call, as JSON")
    options = parser.parse_args()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a reader may stop early
    try:
        if options.build == ROOT / "build/out/scalar": builds.scalar(options.build)
        result = count_robot(options.build / "bench/kernel", arms.file(options.robot), options.terms, options.algorithm)
    except (callgrind.Failed, builds.Failed) as failure:
        sys.exit(f"opcount.py: {failure}")
    if options.json: print(json.dumps(result.as_dict(), indent=1))
    else: show(result)


if __name__ == "__main__":
    main()
