"""Equations of motion against closed forms and laws."""

import numpy as np

from program import load, resource, robot
from rows import case, small

ROBOTS = ["canadarm", "canadarm-spatial", "cibicik", "lin-lewis", "chain-7", "twisted-7"]


@case("Rigid double pendulum", "closed form",
      """M, C and G of `limber matrices` and the bias of `limber eval` at ten random states, as shares of their largest
      entry. `tests/c/dyn_closed_form_test.c` checks accelerations and tip too, at a hundred states.""")
def double_pendulum(program):
    l1, c1, c2, m1, m2, I1, I2, g = 0.8, 0.3, 0.25, 2.0, 1.5, 0.05, 0.03, 9.81
    rigid = lambda mass, c, I, tip: {"mass": mass, "com": [c, 0, 0], "inertia": [0, 0, I, 0, 0, 0], "tip": {"xyz": [tip, 0, 0]}}
    pendulum = program.robot(robot({"name": "a", "joint": {"type": "revolute"}, "rigid": rigid(m1, c1, I1, l1)},
                                   {"name": "b", "joint": {"type": "revolute"}, "rigid": rigid(m2, c2, I2, 0.5)}, gravity=[0, -g, 0]))
    random, worst = np.random.default_rng(1), dict.fromkeys(("M", "C", "G", "bias"), 0.0)
    for _ in range(10):
        (q1, q2), (r1, r2) = q, qd = random.uniform(-3, 3, (2, 2))
        h, cos, second = m2 * l1 * c2 * np.sin(q2), m2 * l1 * c2 * np.cos(q2), m2 * c2 * g * np.cos(q1 + q2)
        M12, M22 = I2 + m2 * c2**2 + cos, I2 + m2 * c2**2
        exact = {"M": [[I1 + m1 * c1**2 + m2 * l1**2 + M22 + 2 * cos, M12], [M12, M22]], "C": [[-h * r2, -h * (r1 + r2)], [h * r1, 0]],
                 "G": [(m1 * c1 + m2 * l1) * g * np.cos(q1) + second, second]}
        exact["bias"] = np.array(exact["C"]) @ qd + exact["G"]
        state = {"q": list(q), "qd": list(qd)}
        found = {**program.json("matrices", pendulum, "-", state=state), "bias": program.json("eval", pendulum, "-", state=state)["bias"]}
        for key, want in exact.items():
            worst[key] = max(worst[key], np.abs(np.array(found[key]) - want).max() / np.abs(want).max())
    for key, error in worst.items(): yield small(key, error, 1e-13)


@case("M_dot - 2 C", "skew symmetric, so M_dot = C + C'",
      """M by `limber matrices`, M_dot by differences of eighth order along qd at a random state; norm of C + C' - M_dot as a fraction of that of M_dot.
      The differences lose three digits or so. `tests/c/dyn_matrices_test.c` has M_dot exactly and finds rounding.""")
def coriolis(program):
    h, weights = 1e-2, {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    for name in ROBOTS:
        random, n = np.random.default_rng(4), len(program.json("matrices", resource(name), "-", state={})["M"])
        elastic = any("beam" in link for link in load(name)["links"])
        q, qd = (0.2 if elastic else 1) * random.standard_normal(n), 0.3 * random.standard_normal(n)
        matrices = lambda at, rate: program.json("matrices", resource(name), "-", state={"q": list(at), "qd": list(rate)})
        M = {k: np.array(matrices(q + k * h * qd, 0 * qd)["M"]) for k in range(-4, 5) if k != 0}
        M_dot = sum(w * (M[k] - M[-k]) for k, w in weights.items()) / h
        C = np.array(matrices(q, qd)["C"])
        assert np.linalg.norm(C - C.T) > 0.1 * np.linalg.norm(C)  # a C that is half of M_dot would do, but is not the one
        yield small(name, np.linalg.norm(C + C.T - M_dot) / np.linalg.norm(M_dot), 1e-11)
