"""The FMU in tools that other people use. Each tool makes the same short run of the Canadarm, with torques that jump. In co-simulation
it is compared with `limber simulate --hold`, at the same communication points and tolerance; in model exchange with an accurate run.
Tools that FMPy's environment does not hold are got once by build/setup.sh tools; where one
cannot be had, its tests are skipped with the reason."""

import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import fmpy
import fmus
import numpy as np
import pytest
from program import Program, columns, read_csv, resource, write_csv

HERE = Path(__file__).resolve().parent
ROBOTS = [file.name for name, file in fmus.ROBOTS.items() if fmus.RUN_ALL or name in ("canadarm", "cibicik-servo-drives", "crane", "crane-drives", "four-bar")]

STEP, HOLD, STEPS = 0.01, 20, 100       # communication step [s], steps between jumps, steps
JUMP = 1e-9                             # [s], a jump in the inputs of limber simulate, which is linear between rows
TORQUES = {"upper_joint.tau": [300.0, -200.0, 100.0, 0.0, -400.0],
           "lower_joint.tau": [-50.0, 100.0, 0.0, 30.0, -100.0],
           "wrist_joint.tau": [5.0, -5.0, 10.0, 0.0, -3.0]}
OUTPUTS = ["upper_joint.q", "lower_joint.q", "wrist_joint.q", "upper_joint.qd", "tip.position[1]", "tip.position[2]",
           "upper.deflection[2]", "lower.deflection[2]", "wrist.deflection[2]"]
TOLERANCE = 1e-10                       # relative, of the runs in co-simulation
SAME = 1e-9                             # of the range of each output: the same steps, other instructions
CLOSE = 1e-6                            # another solver at its tightest tolerance


CANADARM = resource("canadarm")


def write_torques(file):
    """The torques as straight lines from row to row, with jumps."""
    times = [t for k in range(len(TORQUES["wrist_joint.tau"])) for t in (k * HOLD * STEP, (k + 1) * HOLD * STEP - JUMP)]
    return write_csv(file, {"time": times, **{name: np.repeat(values, 2) for name, values in TORQUES.items()}})


def held():
    """The torques of each step."""
    return {name: np.repeat(values, HOLD) for name, values in TORQUES.items()}


@pytest.fixture(scope="session")
def program(limber, tmp_path_factory): return Program(limber, tmp_path_factory.mktemp("program"))


@pytest.fixture(scope="session")
def reference(program):
    """The run by limber simulate: {variable: values after each step}."""
    return after(program.simulate(CANADARM, STEPS * STEP, STEP, 1e-12, inputs=write_torques(program.new(".csv"))))


def simulate_held(program, robot, inputs, until, step, *options):
    """limber simulate --hold with these columns of inputs, at the tools' tolerance"""
    return columns(program.run("simulate", robot, "--until", until, "--step", step, "--hold", "--inputs", write_csv(program.new(".csv"), inputs),
                               "--rtol", TOLERANCE, *options))


@pytest.fixture(scope="session")
def held_run(program):
    return after(simulate_held(program, CANADARM, {"time": np.arange(STEPS) * STEP, **held()}, STEPS * STEP, STEP))


def after(table):
    """What is compared, after each step."""
    assert len(table["time"]) in (STEPS, STEPS + 1)
    return {name: table[name][-STEPS:] for name in ["time", *OUTPUTS]}


def compare(run, reference, close):
    assert np.allclose(run["time"], reference["time"], rtol=0, atol=1e-9)
    for name in reference:
        if name == "time": continue
        error = np.abs(run[name] - reference[name]).max() / np.ptp(reference[name])
        print(f"{name}: {error:.1e} of its range")
        assert error < close, name


@pytest.fixture(scope="session")
def tools(root):
    """tools(name): the folder with the tools, when the named one is there."""
    folder = root / "build/out/tools"
    subprocess.run([root / "build/setup.sh", "tools"], check=True, stdout=subprocess.DEVNULL)

    def of(name):
        missing = folder / f"{name}.missing"
        if missing.exists(): pytest.skip("could not be installed: " + " / ".join(missing.read_text().splitlines()[1:]))
        return folder

    return of


@pytest.fixture
def in_casadi(tools, tmp_path):
    """in_casadi(unzipped FMU, ...) runs tools_casadi.py in a process of its own and gives what it finds."""

    def run(fmu, **more):
        result, job = tmp_path / "result.npz", tmp_path / "job.json"
        job.write_text(json.dumps(dict(fmu=str(fmu), result=str(result), step=STEP, outputs=OUTPUTS, parameters={}, torques=[], points=0) | more))
        done = subprocess.run([tools("python") / "venv/bin/python", HERE / "tools_casadi.py", job], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        return np.load(result)

    return run


# ---- FMPy -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", ROBOTS)
def test_fmpy_takes_every_robot(pack, root, robot):
    """A short run with every torque at work is finite and moves. (test_fmi_rules.py validates.)"""
    fmu = str(pack(root / "resources" / robot))
    description = fmpy.read_model_description(fmu, validate=False)
    torques = [v.name for v in description.modelVariables if v.causality == "input" and v.name.endswith(".tau")]
    outputs = [v.name for v in description.modelVariables if v.causality == "output"]
    inputs = np.zeros(2, dtype=[("time", float)] + [(name, float) for name in torques])
    inputs["time"] = 0, 0.1
    for name in torques: inputs[name] = 0.1
    for kind, interval in ("CoSimulation", 0.01), ("ModelExchange", 0.001):  # FMPy's own solver takes 500 steps an interval at most
        run = fmpy.simulate_fmu(fmu, fmi_type=kind, stop_time=0.1, output_interval=interval, relative_tolerance=1e-6, input=inputs,
                                output=outputs, model_description=description)
        assert run["time"][-1] == pytest.approx(0.1)
        assert all(np.isfinite(run[name]).all() for name in outputs)
        assert any(np.ptp(run[name]) > 0 for name in outputs)


@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_fmpy(canadarm_fmu, reference, held_run, kind):
    me = kind == "ModelExchange"  # at 1e-12 it would need more than its 500 steps an interval
    names = list(TORQUES)
    rows = [(t, *values) for k, values in enumerate(zip(*TORQUES.values())) for t in (k * HOLD * STEP, (k + 1) * HOLD * STEP)]
    inputs = np.array(rows, dtype=[("time", float)] + [(name, float) for name in names])  # two rows at a time: a jump
    run = fmpy.simulate_fmu(str(canadarm_fmu), fmi_type=kind, stop_time=STEPS * STEP, output_interval=STEP, input=inputs,
                            relative_tolerance=1e-11 if me else TOLERANCE, output=OUTPUTS, record_events=False)
    assert len(run) == STEPS + 1
    compare({name: run[name][1:] for name in ["time", *OUTPUTS]}, reference if me else held_run, CLOSE if me else SAME)


# ---- co-simulation masters; test_systems.py has ecos and libcosim ------------------------------------------------------------------------------------------


def test_fmi4j(canadarm_fmu, held_run, tools, tmp_path):
    """A Java library."""
    jars = ":".join(map(str, sorted((tools("fmi4j") / "fmi4j").glob("*.jar"))))
    inputs, result = write_csv(tmp_path / "inputs.csv", held()), tmp_path / "run.csv"
    done = subprocess.run(["java", "-cp", jars, HERE / "tools_fmi4j.java", canadarm_fmu, result, str(STEP), str(TOLERANCE), inputs,
                           *OUTPUTS], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    compare(after(read_csv(result)), held_run, SAME)


def without_interpolation(fmu, file):
    """A copy of an FMU that does not declare canInterpolateInputs."""
    with zipfile.ZipFile(fmu) as archive, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as copy:
        for name in archive.namelist():
            content = archive.read(name)
            if name == "modelDescription.xml": content = content.replace(b' canInterpolateInputs="true"', b"")
            copy.writestr(name, content)
    return str(file)


def test_maestro(canadarm_fmu, drive, program, tools, tmp_path):
    """The master of INTO-CPS with an arm and an axis that commands a torque. The inputs it held are in its result. It generates
    code that does not compile for FMUs that interpolate inputs, whence copies that do not say that they do."""
    watched = ["upper_joint.q", "lower_joint.q", "upper_joint.qd", "tip.position[2]", "lower.deflection[2]"]
    model = {"fmus": {"{arm}": without_interpolation(canadarm_fmu, tmp_path / "arm.fmu"),
                      "{axis}": without_interpolation(drive("axis"), tmp_path / "axis.fmu")},
             "connections": {"{axis}.axis.command": ["{arm}.arm.upper_joint.tau"], "{arm}.arm.upper_joint.q": ["{axis}.axis.position"],
                             "{arm}.arm.upper_joint.qd": ["{axis}.axis.rate"]},
             "parameters": {"{arm}.arm.solver.relative_tolerance": TOLERANCE, "{arm}.arm.elastic_terms": 2,
                            "{axis}.axis.position_gain": 3e3, "{axis}.axis.rate_gain": 1e3, "{axis}.axis.move[1].distance": 0.1,
                            "{axis}.axis.move[1].duration": 0.5},
             "logVariables": {"{arm}.arm": watched, "{axis}.axis": ["command"]}, "startTime": 0.0, "endTime": STEPS * STEP,
             "algorithm": {"type": "fixed-step", "size": STEP}, "loggingOn": False, "visible": False}
    (tmp_path / "model.json").write_text(json.dumps(model))
    (jar,) = (tools("maestro") / "maestro").glob("*.jar")
    done = subprocess.run(["java", "-jar", jar, "import", f"-output={tmp_path / 'out'}", "--interpret", "sg1", tmp_path / "model.json"],
                          cwd=tmp_path, capture_output=True, text=True, timeout=300)
    result = tmp_path / "out/outputs.csv"
    assert done.returncode == 0 and result.exists(), done.stdout[-3000:] + done.stderr[-3000:]
    table = read_csv(result)
    run, command = {name: table[f"{{arm}}.arm.{name}"] for name in watched} | {"time": table["time"]}, table["{axis}.axis.command"]
    assert len(command) >= STEPS and np.ptp(command) > 1  # it leaves out the last step if its time is past the end by rounding
    same = simulate_held(program, CANADARM, {"time": run["time"], "upper_joint.tau": command}, run["time"][-1], STEP, "--set", "elastic_terms=2")
    compare(run, {name: same[name] for name in run}, SAME)


def test_container(pack, drive, program, tools, tmp_path):
    """fmu-manipulation-toolbox: the crane and its lift cylinder in one FMU, in FMPy. The force that it held is among its outputs."""
    step, steps, watched = 0.001, 200, ["lift.length", "boom_joint.q", "jib_joint.q", "tip.position[2]"]
    cylinder = drive("cylinder", bulk_modulus=8e8, friction_rate=0.02, viscous=8000.0, pressure_start=4e6, force_start=15918.929)
    shutil.copy(pack(resource("crane")), tmp_path / "crane.fmu")
    shutil.copy(cylinder, tmp_path / "cylinder.fmu")
    parts = {"name": "container.fmu", "step_size": step, "auto_link": False, "auto_input": False, "auto_output": False,
             "auto_parameter": False, "auto_local": False, "sequential": False, "mt": False, "fmu": ["crane.fmu", "cylinder.fmu"],
             "link": [["cylinder.fmu", "force", "crane.fmu", "lift.force"], ["crane.fmu", "lift.length", "cylinder.fmu", "length"],
                      ["crane.fmu", "lift.rate", "cylinder.fmu", "rate"]],
             "input": [["command", "cylinder.fmu", "command"], ["fold", "crane.fmu", "fold.force"]],
             "output": [["cylinder.fmu", "force", "force"], *(["crane.fmu", name, name] for name in watched)],
             "start": [["crane.fmu", "solver.relative_tolerance", TOLERANCE], ["cylinder.fmu", "solver.relative_tolerance", TOLERANCE]]}
    (tmp_path / "parts.json").write_text(json.dumps(parts))
    done = subprocess.run([tools("python") / "venv/bin/fmucontainer", "-container", "parts.json", "-fmu-directory", tmp_path],
                          cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and (tmp_path / "container.fmu").exists(), done.stdout + done.stderr
    inputs = np.array([(0.0, 0.2, -4516.412)], dtype=[("time", float), ("command", float), ("fold", float)])
    run = fmpy.simulate_fmu(str(tmp_path / "container.fmu"), fmi_type="CoSimulation", stop_time=step * steps, step_size=step,
                            output_interval=step, input=inputs, output=["force", *watched])
    assert len(run) == steps + 1 and np.ptp(run["force"]) > 100
    held_forces = {"time": run["time"], "lift.force": run["force"], "fold.force": np.full(steps + 1, -4516.412)}
    same = simulate_held(program, resource("crane"), held_forces, step * steps, step)
    compare({name: run[name] for name in ["time", *watched]}, {name: same[name] for name in ["time", *watched]}, SAME)


# ---- CasADi ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def unzipped(pack, root, tmp_path):
    def of(robot):
        with zipfile.ZipFile(pack(root / "resources" / robot)) as archive: archive.extractall(tmp_path / "fmu")
        return tmp_path / "fmu"

    return of


def test_casadi_run(unzipped, reference, in_casadi):
    """CasADi's integrator over the imported right-hand side."""
    found = in_casadi(unzipped("canadarm.json"), torques=[dict(zip(TORQUES, values)) for values in zip(*held().values())], tolerance=1e-12)
    columns = [*found["states"], *found["outputs"]]
    run = {name: found["run"][:, columns.index(name)] for name in OUTPUTS}
    compare({"time": reference["time"], **run}, reference, CLOSE)


def errors(found, other):
    """Unknowns, and how far another Jacobian is from CasADi's: shares of each unknown's size."""
    moves = np.concatenate([found["nominal"], np.full(len(found["inputs"]), 100.0)])
    unknowns = [*(f"der({name})" for name in found["states"]), *found["outputs"]]
    sizes = np.maximum(np.abs(found["exact"] * moves).max(axis=2), np.abs(found["value"])).max(axis=0)
    vector = [name.split("[")[0] for name in unknowns]  # a component that is always 0 is measured by the others
    force = lambda name: name.replace("root_moment", "root_force")  # and a moment by its force at a metre
    sizes = np.array([max(size for size, other in zip(sizes, vector) if other in (mine, force(mine))) for mine in vector])
    return unknowns, np.abs(found["exact"] - other) * moves / np.where(sizes > 0, sizes, 1)[:, None]


@pytest.mark.parametrize("robot", [name for name in ROBOTS if '"drive"' not in HERE.parents[1].joinpath("resources", name).read_text(encoding="utf-8")])
def test_casadi_jacobians(unzipped, in_casadi, root, robot):
    """Derivatives and outputs by states and inputs, against central differences. CasADi takes the sparsity from the declared
    dependencies, so one that is missing would show as a zero where the difference is not. Without Coulomb friction, whose
    step within 1 mm/s differences do not see. Robots with drives inside are left out: at random states their cylinders have no oil volume and their
    commands are beyond the limits; tests/c/sim_drives_test.c has their derivatives and dependencies."""
    links = json.loads((root / "resources" / robot).read_text(encoding="utf-8"))["links"]
    smooth = {f"{link['joint'].get('name', link['name'])}.coulomb": 0.0 for link in links if "coulomb" in link["joint"]}
    found = in_casadi(unzipped(robot), points=4, torque=100.0, spread=0.5, parameters=smooth)
    exact, difference, pattern = found["exact"], found["difference"], found["pattern"]
    assert np.isfinite(exact).all() and np.isfinite(difference).all()
    unknowns, error = errors(found, difference)
    point, row, column = np.unravel_index(error.argmax(), error.shape)
    of, by = unknowns[row], [*found["states"], *found["inputs"]][column]
    print(f"largest difference {error.max():.1e} of its size: {of} by {by}; {pattern.sum()} of {pattern.size} declared")
    assert error.max() < 1e-6, f"{of} by {by}: {exact[point, row, column]} and not {difference[point, row, column]}"
    assert (exact[:, ~pattern] == 0).all()

    # the rates of positions are the velocities themselves, and no more is declared; positions do not depend on inputs
    n, names = len(found["states"]), list(found["states"])
    for i, name in enumerate(names):
        rate = {".q": ".qd", ".eta": ".etad"}.get("." + name.rpartition(".")[2].split("[")[0])
        if rate is None: continue
        wanted = name.rpartition(".")[0] + rate + name[name.index("[", name.rindex(".")):] if "[" in name else name + "d"
        assert [([*names, *found["inputs"]])[c] for c in np.flatnonzero(pattern[i])] == [wanted]
    for i, name in enumerate(found["outputs"]):
        if name.endswith(".q") or name.startswith("tip.position"): assert not pattern[n + i, n:].any(), name


# ---- fmi-sim ------------------------------------------------------------------------------------------------------------


def test_fmi_sim(canadarm_fmu, held_run, tools, tmp_path):
    """The Rust crate's program. Its only solver for model exchange is Euler's, which needs too short steps."""
    done = subprocess.run([tools("fmi-sim") / "fmi-sim/bin/fmi-sim", "--model", canadarm_fmu, "-i", write_torques(tmp_path / "torques.csv"),
                           "-o", tmp_path / "run.csv", "co-simulation", "--output-interval", str(STEP), "-s", "0", "-f", str(STEPS * STEP),
                           "--tolerance", str(TOLERANCE)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    compare(after(read_csv(tmp_path / "run.csv")), held_run, SAME)
