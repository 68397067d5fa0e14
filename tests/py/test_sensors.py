"""What sensors on frames show, against closed forms: inertial measurement on a spinning beam, strain gauges in statics, and the work of
loads on frames."""

import numpy as np
import pytest
from program import Program, write_csv
from scipy.spatial.transform import Rotation

L, RHOA, EIY, EIZ, GJ, EA, G = 1.5, 2.0, 300.0, 400.0, 150.0, 2e4, 9.81
STIFF = np.array([GJ, EIY, EIZ])


@pytest.fixture
def program(limber, tmp_path):
    return Program(limber, tmp_path)


def arm(joint, modes, frames, gravity=(0, 0, -G), **beam):
    body = {"length": L, "mass_per_length": RHOA, "EIy": EIY, "EIz": EIZ, "GJ": GJ, "EA": EA, "inertia_per_length": [0.02, 0, 0],
            "foreshortening": False, "modes": modes, **beam}
    return {"format": "limber-robot/2", "name": "gauged", "gravity": list(gravity), "links": [{"name": "arm", "joint": joint, "beam": body}],
            "frames": [{"name": name, "link": "arm", "sensor": True, **at} for name, at in frames.items()]}


def vector(row, name, count=3):
    return np.array([row[f"{name}[{k + 1}]"] for k in range(count)])


def first_row(program, robot, inputs=None, **more):
    """Of a simulation."""
    result = program.simulate(robot, 1e-6, 1e-6, 1e-6, inputs=inputs, **more)
    return {name: values[0] for name, values in result.items()}


def near(found, expected, tolerance):
    return np.linalg.norm(np.asarray(found) - expected) <= tolerance * max(np.linalg.norm(expected), 1e-3)


# ---- a spinning beam --------------------------------------------------------------------------------------------------------

SPIN, ANGLE = 3.0, 0.7
DRIVEN = {"type": "revolute", "axis": [0, 0, 1], "motion": "prescribed", "start": {"position": ANGLE, "velocity": SPIN}}


def sag(x):
    """w, w', w'' under its own weight:  EI w'''' = -rhoA g."""
    c = -RHOA * G / (24 * EIY)
    return c * x**2 * (x**2 - 4 * L * x + 6 * L**2), 4 * c * x * (x**2 - 3 * L * x + 3 * L**2), 12 * c * (L - x) ** 2


@pytest.mark.parametrize("x", [0.0, 0.6, L])
@pytest.mark.parametrize("xyz, rpy", [([0, 0, 0], [0, 0, 0]), ([0.1, -0.2, 0.05], [0.3, -0.4, 0.5])], ids=["on", "beside"])
def test_inertial_measurement_on_a_sagging_spinning_beam(program, x, xyz, rpy):
    """It spins steadily about the vertical and hangs as w says, exactly with three polynomials: the frame goes round in a circle."""
    robot = arm(DRIVEN, {"z": {"shape": "polynomial", "count": 3}}, {"imu": {"at": x, "xyz": xyz, "rpy": rpy}})
    eta = -RHOA * G * L**4 / (24 * EIY) * np.array([6, -4, 1])
    state = {"q": [ANGLE, *eta], "qd": [SPIN, 0, 0, 0]}
    answer, row = program.json("eval", robot, "-", state=state), first_row(program, robot, start=state)
    assert np.abs(answer["qdd"]).max() <= 1e-9
    w, slope, bend = sag(x)
    turned = Rotation.from_rotvec([0, 0, ANGLE])
    p = turned.apply(np.array([x, 0, w]) + Rotation.from_rotvec([0, -slope, 0]).apply(xyz))
    R = turned * Rotation.from_rotvec([0, -slope, 0]) * Rotation.from_euler("ZYX", rpy[::-1])
    omega = np.array([0, 0, SPIN])
    a = np.cross(omega, np.cross(omega, p))
    expected = {"position": p, "velocity": np.cross(omega, p), "angular_velocity": omega, "acceleration": a,
                "specific_force": R.inv().apply(a + [0, 0, G]), "angular_rate": R.inv().apply(omega), "curvature": np.array([0, -bend, 0])}
    for key, value in expected.items():
        assert near(vector(row, f"imu.{key}"), value, 1e-9), key
        if key in answer["frames"]["imu"]: assert near(answer["frames"]["imu"][key], value, 1e-9), key
    assert near(answer["frames"]["imu"]["rotation"], R.as_matrix(), 1e-12)
    e = vector(row, "imu.quaternion", 4)
    assert near(Rotation.from_quat([*e[1:], e[0]]).as_matrix(), R.as_matrix(), 1e-12)
    assert row["imu.elongation"] == 0


def stretched(count):
    """Coordinates of a steadily spinning bar, (K - W^2 M) eta = W^2 int rhoA x phi, phi = sin((2k-1) pi x/2L) scaled to 1 at the tip."""
    k = (np.arange(1, count + 1) - 0.5) * np.pi / L
    return SPIN**2 * RHOA / k**2 / (EA * k**2 * L / 2 - SPIN**2 * RHOA * L / 2)


def test_elongation_of_a_spinning_beam(program):
    """EA a'' + rhoA W^2 (x + a) = 0:  a' = cos(b x)/cos(b L) - 1,  b = W sqrt(rhoA/EA). With count shapes a' misses by count^-2 or less."""
    b, stations, errors = SPIN * np.sqrt(RHOA / EA), [0.0, 0.4, 1.1], []
    for count in 5, 10, 20:
        robot = arm(DRIVEN, {"axial": {"shape": "clamped-free", "count": count}}, {f"s{k}": {"at": x} for k, x in enumerate(stations)}, (0, 0, 0))
        answer = program.json("eval", robot, "-", state={"q": [ANGLE, *stretched(count)], "qd": [SPIN, *[0] * count]})
        assert np.abs(answer["qdd"]).max() <= 1e-7
        frames = [answer["frames"][f"s{k}"] for k in range(3)]
        exact = np.array([np.cos(b * x) / np.cos(b * L) - 1 for x in stations])
        errors.append(np.abs([frame["elongation"] for frame in frames] - exact).max() / exact[0])
        for frame, x in zip(frames, stations):
            a = np.sin(b * x) / (b * np.cos(b * L)) - x
            assert near(np.linalg.norm(frame["position"]), x + a, 1e-6)
            assert near(frame["acceleration"], -SPIN**2 * np.array(frame["position"]), 1e-9)
    print("\nelongation, relative errors", errors)
    assert errors[-1] < 1e-3 and all(coarse / fine > 3 for coarse, fine in zip(errors, errors[1:]))


# ---- strain gauges ----------------------------------------------------------------------------------------------------------

CLAMPED = {"name": "clamp", "type": "fixed"}


def gauge(program, modes, force=(0, 0, 0), torque=(0, 0, 0), gravity=(0, 0, 0)):
    """Stiffness times curvature at x = 0, and what the joint exerts, in static equilibrium."""
    names = [f"tip.{key}[{k + 1}]" for key in ("force", "torque") for k in range(3)]
    values = dict(zip(names, [[value] * 2 for value in (*force, *torque)]))
    inputs = write_csv(program.new(".csv"), {"time": [0, 1], **values})
    row = first_row(program, arm(CLAMPED, modes, {"gauge": {"at": 0}}, gravity), inputs, start_static="true")
    return STIFF * vector(row, "gauge.curvature"), vector(row, "arm.root_moment")


@pytest.mark.parametrize("force, torque", [([0, 20, 0], [0, 0, 0]), ([0, 0, -30], [0, 0, 0]), ([0, 0, 0], [4, 0, 0])], ids=["y", "z", "twist"])
def test_gauges_of_a_tip_wrench(program, force, torque):
    """The joint holds against the moment that the gauges see."""
    seen, held = gauge(program, {"y": {"shape": "hermite"}, "z": {"shape": "hermite"}, "twist": {"shape": "linear"}}, force, torque)
    assert near(seen, torque + np.cross([L, 0, 0], force), 1e-6) and near(seen, -held, 1e-6)


@pytest.mark.parametrize("gravity", [(0, 0, -G), (0, -G, 0), (0, 3.0, -4.0)])
def test_gauges_of_own_weight(program, gravity):
    """v and w are quartics: exact with three polynomials. The moment about x comes from the deflection, which no gauge sees."""
    seen, held = gauge(program, {key: {"shape": "polynomial", "count": 3} for key in "yz"}, gravity=gravity)
    assert near(seen, RHOA * L**2 / 2 * np.cross([1, 0, 0], gravity), 1e-6) and near(seen[1:], -held[1:], 1e-6)


def test_gauges_of_own_weight_by_craig_bampton(program):
    """Clamped modes have coefficients b^-5, so the sum of their curvatures beyond `count` is count^-2 small."""
    counts, errors = np.array([4, 8, 16, 32]), []
    for count in counts:
        seen, held = gauge(program, {"z": {"shape": "craig-bampton", "count": int(count)}}, gravity=(0, 0, -G))
        errors.append(abs(seen[1] / -held[1] - 1))
    slope = np.polyfit(np.log(counts[1:]), np.log(errors[1:]), 1)[0]
    print("\ngauge moment, relative errors", dict(zip(counts.tolist(), errors)), "slope", slope)
    assert -2.5 < slope < -1.7 and errors[-1] < 1e-2


# ---- work -------------------------------------------------------------------------------------------------------------------


def test_energy_is_the_work_of_loads(program):
    """Two frames of a swinging tapered arm are pushed and turned; power = f . v + t . omega, by Simpson's rule."""
    robot = arm({"name": "hinge", "type": "revolute", "axis": [0, 1, 0]}, {"y": {"shape": "hermite"}, "z": {"shape": "craig-bampton", "count": 3}},
                {"middle": {"at": 0.8, "xyz": [0, 0.1, -0.1], "load": True}, "end": {"at": "tip", "rpy": [0.3, 0, 0], "load": True}},
                foreshortening=True, mass_per_length={"x": [0, L], "value": [3.0, 1.0]})
    t, names = np.linspace(0, 0.4, 3), [f"{name}.{key}[{k}]" for name in ("middle", "end") for key in ("force", "torque") for k in (1, 2, 3)]
    random = np.random.default_rng(3)
    table = {name: random.uniform(-8, 8, 3) for name in names}
    this = program.simulate(robot, 0.4, 1e-4, 1e-9, inputs=write_csv(program.new(".csv"), {"time": t, **table}))
    given = {name: np.interp(this["time"], t, values) for name, values in table.items()}
    power = sum(given[f"{name}.{push}[{k}]"] * this[f"{name}.{rate}[{k}]"] for name in ("middle", "end")
                for push, rate in (("force", "velocity"), ("torque", "angular_velocity")) for k in (1, 2, 3))
    work = np.concatenate([[0], np.cumsum(power[:-2:2] + 4 * power[1:-1:2] + power[2::2]) * 1e-4 / 3])
    gained = (this["energy.total"] - this["energy.total"][0])[::2]
    print(f"\nwork {np.ptp(work):.3g} J, unbalanced {np.abs(gained - work).max():.1e} J")
    assert np.ptp(work) > 1 and np.abs(gained - work).max() < 1e-5 * np.ptp(work)
