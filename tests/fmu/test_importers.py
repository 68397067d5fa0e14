"""The FMU in tools that other people use. Each tool makes the same short run of the Canadarm, with torques that jump, and is
compared with `limber simulate`. Tools that FMPy's environment does not hold are got once by build/setup.sh tools; where one
cannot be had, its tests are skipped with the reason."""

import csv
import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import fmpy
import fmpy.fmi2
import fmpy.validation
import numpy as np
import pytest

HERE = Path(__file__).resolve().parent
ROBOTS = sorted(file.name for file in HERE.parents[1].joinpath("resources").glob("*.json")
                if not file.name.endswith(".schema.json"))

STEP, HOLD, STEPS = 0.01, 20, 100       # communication step [s], steps between jumps, steps
JUMP = 1e-9                             # [s], a jump in the inputs of limber simulate, which is linear between rows
TORQUES = {"upper_joint.tau": [300.0, -200.0, 100.0, 0.0, -400.0],
           "lower_joint.tau": [-50.0, 100.0, 0.0, 30.0, -100.0],
           "wrist_joint.tau": [5.0, -5.0, 10.0, 0.0, -3.0]}
OUTPUTS = ["upper_joint.q", "lower_joint.q", "wrist_joint.q", "upper_joint.qd", "tip.position[1]", "tip.position[2]",
           "upper.deflection[2]", "lower.deflection[2]", "wrist.deflection[2]"]
TOLERANCE = 1e-8                        # relative, of the tools' runs; the reference has 1e-10
CLOSE = 1e-4                            # of the range of each output


def write_torques(file, gap):
    with open(file, "w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["time", *TORQUES])
        for k, values in enumerate(zip(*TORQUES.values())):
            table.writerow([k * HOLD * STEP, *values])
            table.writerow([(k + 1) * HOLD * STEP - gap, *values])
    return file


@pytest.fixture(scope="session")
def reference(limber, root, tmp_path_factory):
    """The run by limber simulate: {output: values after each step}."""
    folder = tmp_path_factory.mktemp("reference")
    subprocess.run([limber, "simulate", root / "resources/canadarm.json", "--until", str(STEPS * STEP), "--step", str(STEP),
                    "--inputs", write_torques(folder / "torques.csv", JUMP), "--rtol", "1e-10", "-o", folder / "run.csv"],
                   check=True)
    return read(folder / "run.csv")


def read(file, at=None):
    """{output: values after each step}; with `at` the last row at each of these times, where the tool writes more."""
    with open(file, newline="") as stream: table = list(csv.DictReader(stream))
    if at is not None:
        times = np.array([float(row["time"]) for row in table])
        table = [table[np.flatnonzero(np.abs(times - t) < 1e-9)[-1]] for t in at]
    rows = STEPS if at is None else len(at)
    assert len(table) in (rows, rows + 1)
    return {name: np.array([float(row[name]) for row in table[-rows:]]) for name in ["time", *OUTPUTS]}


def compare(run, reference, close=CLOSE):
    assert np.allclose(run["time"], reference["time"], rtol=0, atol=1e-9)
    for name in OUTPUTS:
        error = np.abs(run[name] - reference[name]).max() / np.ptp(reference[name])
        print(f"{name}: {error:.1e} of its range")
        assert error < close, name


def held():
    """The torques of each step."""
    return [{name: values[i // HOLD] for name, values in TORQUES.items()} for i in range(STEPS)]


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
def in_tool(tools, tmp_path):
    """in_tool(tool, FMU, suffix of the result, ...) runs tools_TOOL.py in a process of its own and gives the result's path."""

    def run(tool, fmu, suffix, torques=(), parameters={}, **more):
        python = tools("python") / "venv/bin/python"
        result, job = tmp_path / f"result.{suffix}", tmp_path / "job.json"
        job.write_text(json.dumps(dict(fmu=str(fmu), result=str(result), step=STEP, tolerance=TOLERANCE, outputs=OUTPUTS,
                                       parameters=parameters, torques=list(torques), **more)))
        done = subprocess.run([python, HERE / f"tools_{tool}.py", job], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        return result

    return run


# ---- FMPy -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", ROBOTS)
def test_fmpy_takes_every_robot(pack, root, robot):
    """Valid, and a short run with every torque at work is finite and moves."""
    fmu = str(pack(root / "resources" / robot))
    assert fmpy.validation.validate_fmu(fmu) == []
    description = fmpy.read_model_description(fmu)
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
def test_fmpy(canadarm_fmu, reference, kind):
    names = list(TORQUES)
    rows = [(t, *values) for k, values in enumerate(zip(*TORQUES.values())) for t in (k * HOLD * STEP, (k + 1) * HOLD * STEP)]
    inputs = np.array(rows, dtype=[("time", float)] + [(name, float) for name in names])  # two rows at a time: a jump
    run = fmpy.simulate_fmu(str(canadarm_fmu), fmi_type=kind, stop_time=STEPS * STEP, output_interval=STEP, input=inputs,
                            relative_tolerance=TOLERANCE, output=OUTPUTS, record_events=False)
    assert len(run) == STEPS + 1
    compare({name: run[name][1:] for name in ["time", *OUTPUTS]}, reference)


# ---- co-simulation masters ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["ecospy", "libcosimpy"])
def test_master(canadarm_fmu, reference, in_tool, tool):
    """These name no tolerance: it is a parameter."""
    run = in_tool(tool, canadarm_fmu, "csv", torques=held(), parameters={"solver.relative_tolerance": TOLERANCE})
    compare(read(run), reference)


# ---- CasADi ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def unzipped(pack, root, tmp_path):
    def of(robot):
        with zipfile.ZipFile(pack(root / "resources" / robot)) as archive: archive.extractall(tmp_path / "fmu")
        return tmp_path / "fmu"

    return of


def test_casadi_run(unzipped, reference, in_tool):
    """CasADi's integrator over the imported right-hand side."""
    found = np.load(in_tool("casadi", unzipped("canadarm.json"), "npz", torques=held()))
    columns = [*found["states"], *found["outputs"]]
    run = {name: found["run"][:, columns.index(name)] for name in OUTPUTS}
    compare({"time": reference["time"], **run}, reference)


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
def test_casadi_jacobians(unzipped, in_tool, root, robot):
    """Derivatives and outputs by states and inputs, against central differences. CasADi takes the sparsity from the declared
    dependencies, so one that is missing would show as a zero where the difference is not. Without Coulomb friction, whose
    step within 1 mm/s differences do not see. Robots with drives inside are left out: at random states their cylinders have no oil volume and their
    commands are beyond the limits; tests/c/sim_drives_test.c has their derivatives and dependencies."""
    links = json.loads((root / "resources" / robot).read_text(encoding="utf-8"))["links"]
    smooth = {f"{link['joint'].get('name', link['name'])}.coulomb": 0.0 for link in links if "coulomb" in link["joint"]}
    found = np.load(in_tool("casadi", unzipped(robot), "npz", points=4, torque=100.0, spread=0.5, parameters=smooth))
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


@pytest.fixture
def fmpy_instance():
    """of(unzipped FMU) is FMPy's instance for model exchange, started, and its variables by name."""
    started = []

    def of(folder):
        description = fmpy.read_model_description(str(folder))
        instance = fmpy.fmi2.FMU2Model(guid=description.guid, unzipDirectory=str(folder), instanceName="arm",
                                       modelIdentifier=description.modelExchange.modelIdentifier)
        instance.instantiate()
        started.append(instance)
        instance.setupExperiment()
        instance.enterInitializationMode()
        instance.exitInitializationMode()
        instance.newDiscreteStates()
        instance.enterContinuousTimeMode()
        return instance, {v.name: v.valueReference for v in description.modelVariables}

    yield of
    for instance in started: instance.freeInstance()


@pytest.mark.parametrize("robot", ["canadarm.json", "cibicik.json"])
def test_fmpy_and_casadi_read_the_same_derivatives(unzipped, in_tool, fmpy_instance, robot):
    """The whole Jacobian at CasADi's points, column by column through FMPy; CasADi asks for some columns at once, whence rounding."""
    folder = unzipped(robot)
    found = np.load(in_tool("casadi", folder, "npz", points=2, torque=100.0, spread=0.5))
    instance, reference = fmpy_instance(folder)
    knowns = [reference[name] for name in [*found["states"], *found["inputs"]]]
    unknowns = [reference[name] for name in [*(f"der({name})" for name in found["states"]), *found["outputs"]]]
    read = np.empty_like(found["exact"])
    for point, (x, u) in enumerate(zip(found["x"], found["u"], strict=True)):
        instance.setReal(knowns, [*x, *u])
        for column, known in enumerate(knowns): read[point, :, column] = instance.getDirectionalDerivative(unknowns, [known], [1.0])
    _, error = errors(found, read)
    print(f"largest difference {error.max():.1e} of its size")
    assert error.max() < 1e-11


# ---- fmi-sim and fmusim ---------------------------------------------------------------------------------------------


@pytest.fixture
def torques_file(tmp_path):
    """torques_file(gap): the torques as CSV, linear between rows; the jumps take `gap` seconds."""

    def of(gap):
        return write_torques(tmp_path / "torques.csv", gap)

    return of


@pytest.fixture
def fmi_sim(canadarm_fmu, tools, torques_file, tmp_path):
    """fmi_sim(interface, step, end, option...) runs the Rust crate's program and gives the result's path."""

    def run(interface, step, end, *options):
        program, result = tools("fmi-sim") / "fmi-sim/bin/fmi-sim", tmp_path / "run.csv"
        done = subprocess.run([program, "--model", canadarm_fmu, "-i", torques_file(JUMP), "-o", result, interface,
                               "--output-interval", str(step), "-s", "0", "-f", str(end), *options],
                              capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr
        return result

    return run


def test_fmi_sim_co_simulation(fmi_sim, reference):
    compare(read(fmi_sim("co-simulation", STEP, STEPS * STEP, "--tolerance", str(TOLERANCE))), reference)


def test_fmi_sim_model_exchange(fmi_sim, reference):
    """Its only solver is Euler's, hence short steps, a short run and 1e-2."""
    steps = 10
    start = {name: values[:steps] for name, values in reference.items()}
    run = read(fmi_sim("model-exchange", 2e-6, steps * STEP), at=start["time"])
    compare(run, start, close=1e-2)


@pytest.mark.parametrize("kind", ["cs", "me"])
def test_fmusim(canadarm_fmu, reference, torques_file, tmp_path, kind):
    """The simulator of the Reference FMUs."""
    program = shutil.which("fmusim")
    if program is None: pytest.skip("fmusim is not on the PATH")
    done = subprocess.run([program, "--interface-type", kind, "--solver", "cvode", "--start-time", "0", "--stop-time",
                           str(STEPS * STEP), "--output-interval", str(STEP), "--tolerance", str(TOLERANCE), "--input-file",
                           torques_file(0), "--output-file", tmp_path / "run.csv",
                           *(word for name in OUTPUTS for word in ("--output-variable", name)), canadarm_fmu],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    compare(read(tmp_path / "run.csv", at=reference["time"]), reference)
