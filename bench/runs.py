"""Simulations that two programs run alike: by `limber simulate`, or by bench/host.c with FMUs. A run gives the path of the tip and its
cost: CPU seconds, or the instructions of all steps from callgrind (reading, model, initialization and output are left out)."""

import functools
import hashlib
import json
import re
import subprocess
import xml.etree.ElementTree as ET
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import builds
import callgrind
import numpy as np

FOLDER = builds.RELEASE / "bench/gains"
HOST = builds.RELEASE / "bench/host"
METHODS = {"cvode": 1, "esdirk": 2, "explicit": 3, "symmetric": 4}
TIP = [f"tip.position[{i}]" for i in (1, 2, 3)]
STEPS_IN = ("stepper_step", "sim_step")  # the function of `limber` whose calls are the simulation: now, and at ff4cbf0
LONGEST = 900  # time limit of a run that is not counted [s]
USAGE = 2      # exit code


class Refused(RuntimeError):
    """The program does not have this method or option."""


class Broken(RuntimeError):
    """The simulation failed or took too long."""


class Run(NamedTuple):
    tip: np.ndarray   # a row for each output time
    cost: float       # CPU seconds, or instructions
    columns: dict     # {variable: values}; empty for FMUs
    stats: dict       # what the program counts; empty under callgrind


class Program(NamedTuple):
    name: str
    limber: Path

    @property
    def step_function(self):
        symbols = subprocess.run(["nm", self.limber], capture_output=True, text=True, check=True).stdout
        return next(name for name in STEPS_IN if re.search(rf" [tT] {name}$", symbols, re.MULTILINE))

    @functools.cache
    def has(self, robot, options):
        """Whether `limber simulate` accepts the options"""
        try: execute([self.limber, "simulate", robot, "--until", 1e-9, "--step", 1e-9, "--stats", *options])
        except Refused: return False
        return True


def stored(content, suffix):
    """A file with this content, named after it."""
    content = content if isinstance(content, bytes) else content.encode()
    file = FOLDER / f"{hashlib.sha256(content).hexdigest()[:16]}{suffix}"
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not file.is_file(): file.write_bytes(content)
    return file


def execute(command, inside=None, longest=LONGEST):
    """(standard output, cost, what the program counts). `inside`: count instructions inside this function."""
    command = list(map(str, command))
    if inside:
        instructions, printed = callgrind.count(command, inside)
        return printed, instructions, {}
    # not RLIMIT_CPU: under such a limit Linux advances the CPU clock of a process in ticks of milliseconds
    try: done = subprocess.run(command, capture_output=True, text=True, timeout=longest)
    except subprocess.TimeoutExpired: raise Broken(f"takes more than {longest} s") from None
    if done.returncode < 0: raise Broken(f"signal {-done.returncode}")
    if done.returncode == USAGE: raise Refused(done.stderr.strip())
    if done.returncode: raise Broken(done.stderr.strip()[-300:])
    stats = json.loads(done.stderr.splitlines()[-1])
    return done.stdout, stats["cpu_seconds"], stats


# ---- limber simulate ---------------------------------------------------------------------------------------------------------


@dataclass
class Simulated:
    """`options`: given to a program that has them."""
    robot: dict
    until: float
    step: float
    inputs: str = None
    start: dict = None
    settings: dict = field(default_factory=dict)
    options: tuple = ()

    def key(self):
        return hashlib.sha256(repr((self.robot, self.until, self.step, self.inputs, self.start, self.settings)).encode()).hexdigest()[:16]

    def command(self, program, rtol, method):
        words = [program.limber, "simulate", stored(json.dumps(self.robot), ".json"), "--until", self.until, "--step", self.step, "--stats"]
        if rtol: words += ["--rtol", rtol]
        if self.inputs: words += ["--inputs", stored(self.inputs, ".csv")]
        if self.start: words += ["--at", stored(json.dumps(self.start), ".state.json")]
        if method: words += ["--method", method]
        return words + [word for name, value in self.settings.items() for word in ("--set", f"{name}={value}")]

    def run(self, program, rtol=None, method=None, counted=False, longest=LONGEST):
        words = self.command(program, rtol, method)
        if program.has(words[2], self.options): words += self.options
        printed, cost, stats = execute(words, program.step_function if counted else None, longest)
        rows = [line.split(",") for line in printed.splitlines()]
        columns = dict(zip(rows[0], np.array(rows[1:], float).T))
        return Run(np.array([columns[name] for name in TIP]).T, cost, columns, stats)


# ---- FMUs ---------------------------------------------------------------------------------------------------------------------


class Fmu:
    """An FMU that the program made, unpacked: library, guid, resources, {name: (value reference, type)}."""

    def __init__(self, program, kind, source):
        made_from = (program.limber.stat().st_mtime_ns, str(program.limber), kind, str(source))
        folder = FOLDER / f"fmu-{hashlib.sha256(repr(made_from).encode()).hexdigest()[:16]}"
        if not (folder / "complete").is_file():
            folder.mkdir(parents=True, exist_ok=True)
            subprocess.run([program.limber, kind, source, "-o", folder / "made.fmu"], check=True, capture_output=True)
            with zipfile.ZipFile(folder / "made.fmu") as archive: archive.extractall(folder)
            (folder / "complete").touch()
        description = ET.parse(folder / "modelDescription.xml").getroot()
        self.guid, self.resources = description.get("guid"), (folder / "resources").as_uri()
        self.library = folder / f"binaries/linux64/{description.find('CoSimulation').get('modelIdentifier')}.so"
        self.variables = {each.get("name"): (each.get("valueReference"), each[0].tag.lower()) for each in description.iter("ScalarVariable")}

    def reference(self, name):
        return self.variables[name][0]


@dataclass
class Hosted:
    """Coupled FMUs, stepped in the order of `components`: {name: (command of limber, its source, {parameter: value})}.
    `inputs`: {(component, variable): column of the table}; `controls`: (component, input, q, qd, Kp, Kd, columns of r and its rate)"""
    components: dict
    h: float
    steps: int
    every: int
    connections: list = ()
    slopes: bool = False
    passes: int = 0
    table: np.ndarray = None
    inputs: dict = field(default_factory=dict)
    controls: list = ()
    recorded: tuple = ()

    def key(self):
        table = b"" if self.table is None else self.table.tobytes()
        rest = {name: value for name, value in vars(self).items() if name != "table"}
        sources = [Path(source).read_text() for _, source, _ in self.components.values() if Path(source).is_file()]
        text = re.sub(r"PosixPath\('[^']*'\)", "", repr((sorted(rest.items()), sources)))
        return hashlib.sha256(text.encode() + table).hexdigest()[:16]

    def parameter_lines(self, i, fmu, parameters, method):
        if method and "solver.method" not in fmu.variables: raise Refused("no solver.method")
        given = {**parameters, **({"solver.method": METHODS[method]} if method else {})}
        for name, value in given.items():
            reference, kind = fmu.variables[name]
            yield f"{kind} {i} {reference} {float(value)!r}"

    def job(self, program, rtol, method):
        fmus = {name: Fmu(program, kind, source) for name, (kind, source, _) in self.components.items()}
        at = lambda component, name: f"{list(fmus).index(component)} {fmus[component].reference(name)}"
        yield f"step {self.h!r} {self.steps} {self.every}"
        yield f"couple 1 {int(self.slopes)} {self.passes}"
        for i, (name, fmu) in enumerate(fmus.items()):
            yield f"fmu {fmu.library} {fmu.guid} {fmu.resources} {rtol or 0!r}"
            yield from self.parameter_lines(i, fmu, self.components[name][2], method)
        for start, end in self.connections: yield f"connect {at(*start)} {at(*end)}"
        if self.table is not None: yield f"table {self.table.shape[1]} {stored(np.ascontiguousarray(self.table, float).tobytes(), '.table')}"
        for (component, name), column in self.inputs.items(): yield f"input {at(component, name)} {column}"
        for component, into, q, qd, kp, kd, r, rate in self.controls:
            yield f"control {at(component, into)} {fmus[component].reference(q)} {fmus[component].reference(qd)} {kp!r} {kd!r} {r} {rate}"
        for component, name in self.recorded: yield f"record {at(component, name)}"

    def run(self, program, rtol=None, method=None, counted=False, longest=LONGEST):
        job = stored("\n".join(self.job(program, rtol, method)) + "\n", ".job")
        printed, cost, stats = execute([HOST, job], "measured_*" if counted else None, longest)
        return Run(np.array([line.split(",") for line in printed.splitlines()], float), cost, {}, stats)
