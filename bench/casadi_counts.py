#!/usr/bin/env python3
"""Operations of generated forward dynamics in two graphs: Limber's (generate/graph/) and CasADi's SX.

    casadi_counts.py [--write-docs]

Same expressions: the statements of NAME_forward.c are evaluated with SX numbers, which CasADi simplifies as it builds its graph, and then
casadi.cse() removes what is still repeated. Same robot, other recursion: the articulated-body algorithm as in textbooks, with 6 x 6 matrices in link frames, is written
with SX for rigid arms; zeros and ones of its matrices are simplified by SX, and repeated expressions removed by cse(). Counts as in docs/generate.md: subtractions are additions, squares and
doublings are multiplications, changes of sign are nothing. --write-docs replaces the table in docs/generate.md."""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import builds

ROOT = builds.ROOT
ROBOTS = ["chain-7", "twisted-7", "canadarm", "cibicik", "dualemps", "crane", "lin-lewis"]
TEXTBOOK = ["chain-7", "twisted-7"]


def find_casadi():
    """It is among the tools that build/setup.sh installs."""
    place = next((builds.RELEASE / "tools/venv").glob("lib/python*/site-packages"), None)
    if place is None: sys.exit("CasADi is not installed: run build/setup.sh")
    sys.path.insert(0, str(place))


# ---- counts -------------------------------------------------------------------------------------------------------------

def count(ca, inputs, outputs):
    """(additions, multiplications and divisions) of the SX graph."""
    f = ca.Function("f", inputs, [ca.vertcat(*outputs)])
    additions = {ca.OP_ADD, ca.OP_SUB}
    products = {ca.OP_MUL, ca.OP_DIV, ca.OP_SQ, ca.OP_TWICE, ca.OP_INV}
    operations = [f.instruction_id(k) for k in range(f.n_instructions())]
    return sum(o in additions for o in operations), sum(o in products for o in operations)


# ---- the statements of a generated function, with SX numbers ------------------------------------------------------------

def series(text):
    """The short form of each Stumpff function, as an expression of y."""
    return {name: body for name, body in re.findall(r"static double (\w+)\(double y\)\s*{\s*if \(y < [\d.]+\) return (.*?);", text, re.S)}


def evaluate(ca, text):
    """Inputs and outputs as SX of a generated function without chunks."""
    head, body = re.search(r"^void \w+_forward\((.*?)\)\s*{(.*?)^}", text, re.S | re.M).groups()
    arrays = {name: (int(n), kind) for kind, name, n in re.findall(r"(const )?double (\w+)\[(\d+)\]", head) for kind in [bool(kind)]}
    inputs = {name: ca.SX.sym(name, n) for name, (n, given) in arrays.items() if given}
    results = {name.replace("lambda", "multiplier"): [None] * n for name, (n, given) in arrays.items() if not given}
    names = {"sin": ca.sin, "cos": ca.cos, "sqrt": ca.sqrt, "tanh": ca.tanh, "fmax": ca.fmax, "fabs": ca.fabs, **results}
    names.update({name: [x[i] for i in range(x.numel())] for name, x in inputs.items()})
    for name, short in series(text).items(): names[name] = eval(f"lambda y: {short}", {})
    for statement in re.sub(r"/\*.*?\*/", "", body, flags=re.S).split(";"):
        statement = re.sub(r"^\s*(const )?double ", "", re.sub(r"\blambda\b", "multiplier", statement)).strip()
        if statement and not statement.startswith("(void)"): exec(statement, names)
    return list(inputs.values()), [x for result in results.values() for x in result]


# ---- the textbook's recursion -------------------------------------------------------------------------------------------

def skew(ca, p): return ca.vertcat(ca.horzcat(0, -p[2], p[1]), ca.horzcat(p[2], 0, -p[0]), ca.horzcat(-p[1], p[0], 0))


def rotation(ca, rpy):
    """Constant orientation of a joint frame; right angles are exact."""
    from math import cos, sin
    exact = lambda x: round(x) if abs(x - round(x)) < 1e-12 else x
    (cr, cp, cy), (sr, sp, sy) = ([exact(f(a)) for a in rpy] for f in (cos, sin))
    return ca.SX([[cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr], [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
                  [-sp, cp * sr, cp * cr]])


def motion_transform(ca, R, p):
    """X of the frame at p with axes R (columns) in its parent: spatial motions of the parent to those of the frame."""
    return ca.vertcat(ca.horzcat(R.T, ca.SX(3, 3)), ca.horzcat(-ca.mtimes(R.T, skew(ca, p)), R.T))


def textbook(ca, robot):
    """Articulated-body algorithm of an open chain of rigid links with revolute joints: Featherstone (2008), table 7.1."""
    links, n = robot["links"], len(robot["links"])
    q, qd, tau = (ca.SX.sym(name, n) for name in ("q", "qd", "tau"))
    X, S, v, c, P, f = [], [], [], [], [], []
    tip = [0, 0, 0], [0, 0, 0]
    for i, link in enumerate(links):
        axis, origin, rigid = link["joint"]["axis"], link["joint"].get("origin", {}), link["rigid"]
        xyz, rpy = tip if i else ([0, 0, 0], [0, 0, 0])
        k = max(range(3), key=lambda j: abs(axis[j]))
        a, b = (k + 1) % 3, (k + 2) % 3
        turn = ca.SX.eye(3)
        turn[a, a] = turn[b, b] = ca.cos(q[i])
        turn[b, a], turn[a, b] = ca.sin(q[i]), -ca.sin(q[i])
        place, local = rotation(ca, rpy), ca.SX(origin.get("xyz", [0, 0, 0]))
        R = ca.mtimes(ca.mtimes(place, rotation(ca, origin.get("rpy", [0, 0, 0]))), turn)
        X.append(motion_transform(ca, R, ca.SX(xyz) + ca.mtimes(place, local)))
        S.append(ca.SX([float(axis[j]) for j in range(3)] + [0, 0, 0]))
        vJ = S[i] * qd[i]
        v.append(vJ if i == 0 else ca.mtimes(X[i], v[i - 1]) + vJ)
        w, u = skew(ca, v[i][:3]), skew(ca, v[i][3:])
        cross = ca.vertcat(ca.horzcat(w, ca.SX(3, 3)), ca.horzcat(u, w))
        c.append(ca.mtimes(cross, vJ))
        I, m, com = rigid["inertia"], rigid["mass"], skew(ca, ca.SX(rigid["com"]))
        J = ca.SX([[I[0], I[3], I[4]], [I[3], I[1], I[5]], [I[4], I[5], I[2]]])
        P.append(ca.vertcat(ca.horzcat(J + m * ca.mtimes(com, com.T), m * com), ca.horzcat(m * com.T, m * ca.SX.eye(3))))
        f.append(ca.mtimes(-cross.T, ca.mtimes(P[i], v[i])))
        t = rigid.get("tip", {})
        tip = t.get("xyz", [0, 0, 0]), t.get("rpy", [0, 0, 0])
    U, D, u = [None] * n, [None] * n, [None] * n
    for i in reversed(range(n)):
        U[i] = ca.mtimes(P[i], S[i])
        D[i], u[i] = ca.dot(S[i], U[i]), tau[i] - ca.dot(S[i], f[i])
        if i == 0: continue
        Pa = P[i] - ca.mtimes(U[i], U[i].T) / D[i]
        fa = f[i] + ca.mtimes(Pa, c[i]) + U[i] * (u[i] / D[i])
        P[i - 1] = P[i - 1] + ca.mtimes(X[i].T, ca.mtimes(Pa, X[i]))
        f[i - 1] = f[i - 1] + ca.mtimes(X[i].T, fa)
    a, qdd = ca.vertcat(0, 0, 0, -ca.SX(robot.get("gravity", [0, 0, 0]))), []
    for i in range(n):
        a = ca.mtimes(X[i], a) + c[i]
        qdd.append((u[i] - ca.dot(U[i], a)) / D[i])
        a = a + S[i] * qdd[i]
    return [q, qd, tau], qdd


def agree(ca, inputs, a, b):
    """Largest difference of two sets of outputs at a state, relative to the largest number."""
    f = ca.Function("f", inputs, [ca.vertcat(*a), ca.vertcat(*b)])
    x, y = (z.full().ravel() for z in f(*[[0.3 + 0.1 * ((7 * i) % 5) for i in range(z.numel())] for z in inputs]))
    return max(abs(x - y)) / max(abs(x))


# ---- the table ----------------------------------------------------------------------------------------------------------

def cell(counts): return f"{counts[0]} / {counts[1]}"


def after_cse(ca, inputs, outputs): return count(ca, inputs, [ca.cse(ca.vertcat(*outputs))])


def row(ca, name, folder):
    file = ROOT / f"resources/{name}.json"
    answer = subprocess.run([builds.RELEASE / "limber", "generate", file, "-o", folder], check=True, capture_output=True, text=True).stdout
    own = list(map(int, next(line for line in answer.splitlines() if line.startswith("forward")).split()[1:4]))
    inputs, outputs = evaluate(ca, next(Path(folder).glob("*_forward.c")).read_text(encoding="utf-8"))
    cells = [name, cell((own[0], own[1] + own[2])), cell(count(ca, inputs, outputs)), cell(after_cse(ca, inputs, outputs)), ""]
    if name in TEXTBOOK:
        symbols, other = textbook(ca, json.loads(file.read_text(encoding="utf-8")))
        other = ca.substitute([ca.vertcat(*other)], symbols, inputs)[0]
        difference = agree(ca, inputs, outputs, [other])
        if difference > 1e-9: sys.exit(f"{name}: the textbook's recursion differs by {difference:.1e}")
        cells[-1] = cell(after_cse(ca, inputs, [other]))
    return cells


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write-docs", action="store_true")
    write = parser.parse_args().write_docs
    find_casadi()
    import casadi as ca
    rows = []
    for name in ROBOTS:
        with tempfile.TemporaryDirectory() as folder: rows.append(row(ca, name, folder))
        print(*rows[-1], sep=" | ", flush=True)
    if not write: return
    import generated
    head = ["robot", "Limber", "the same in SX", "and after cse()", "textbook's recursion in SX, after cse()"]
    generated.write(ROOT / "docs/generate.md", "graphs", generated.table(head, rows), "bench/casadi_counts.py")


if __name__ == "__main__":
    main()
