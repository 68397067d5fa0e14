"""python tools_casadi.py JOB: CasADi's import of the unzipped FMU of a job file (JSON). Its Jacobians, sparsity and central differences at random
points go to JOB's result as npz, with the states' run by CasADi's own CVODES under the job's torques."""

import json
import sys
from types import SimpleNamespace

import casadi
import numpy as np

with open(sys.argv[1]) as file: job = SimpleNamespace(**json.load(file))
model = casadi.DaeBuilder("arm", job.fmu)
for name, value in job.parameters.items(): model.set(name, value)
f = model.create("f", ["x", "u"], ["ode", "y"])
jacobian = f.jacobian()
random = np.random.default_rng(4)
states, inputs = list(model.x()), list(model.u())
nominal = np.array(model.nominal(states))
found = {"states": states, "inputs": inputs, "outputs": list(model.y()), "nominal": nominal, "start": np.array(model.start(states))}


def dense(matrix): return np.array(casadi.DM(matrix))


def differences(value, at, steps):
    """Central, of fourth order."""
    columns = []
    for i, h in enumerate(steps):
        move = np.zeros(len(at))
        move[i] = h
        near, far = value(at + move) - value(at - move), value(at + 2 * move) - value(at - 2 * move)
        columns.append((8 * near - far) / (12 * h))
    return np.stack(columns, axis=1)


points = []
for _ in range(job.points):
    x, u = random.normal(size=len(states)) * job.spread * nominal, random.normal(size=len(inputs)) * job.torque
    both = lambda x, u: np.concatenate([dense(part).ravel() for part in f(x, u)])
    parts = jacobian(x, u, casadi.DM(len(states), 1), casadi.DM(len(found["outputs"]), 1))
    points.append((x, u, both(x, u), np.block([[dense(parts[0]), dense(parts[1])], [dense(parts[2]), dense(parts[3])]]),
                   np.hstack([differences(lambda v: both(v, u), x, 1e-3 * np.minimum(nominal, 1)),
                              differences(lambda v: both(x, v), u, np.full(len(inputs), 10.0))])))
for i, name in enumerate(("x", "u", "value", "exact", "difference")): found[name] = np.array([point[i] for point in points])
pattern = [dense(casadi.DM(jacobian.sparsity_out(i), 1)) != 0 for i in range(4)]
found["pattern"] = np.block([[pattern[0], pattern[1]], [pattern[2], pattern[3]]])

if job.torques:
    x, u = casadi.MX.sym("x", len(states)), casadi.MX.sym("u", len(inputs))
    advance = casadi.integrator("advance", "cvodes", {"x": x, "p": u, "ode": f(x, u)[0]}, 0, job.step,
                                {"reltol": job.tolerance, "abstol": job.tolerance * 1e-3, "max_num_steps": 100000})
    state, run = found["start"], []
    for torques in job.torques:
        u = np.array([torques.get(name, 0.0) for name in inputs])
        state = dense(advance(x0=state, p=u)["xf"]).ravel()
        run.append(np.concatenate([state, dense(f(state, u)[1]).ravel()]))
    found["run"] = np.array(run)
np.savez(job.result, **found)
