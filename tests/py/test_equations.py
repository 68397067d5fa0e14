"""`limber equations`: what SymPy makes of them equals `limber matrices` and `limber eval`; textbooks and papers term by term; the four formats say
the same; what is refused."""

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
import sympy

ROOT = Path(__file__).resolve().parents[2]
PENDULUM = ROOT / "examples/equations/double-pendulum.json"
LINK = ROOT / "resources/lin-lewis.json"  # 15 modes
RFR = ROOT / "examples/equations/rigid-flexible-rigid.json"
GOOD = ROOT / "tests/data/good"
EPSILON = 1e-12  # of the largest entry: rounding in sums of some hundred terms


def equations(limber, robot, form, *options):
    done = subprocess.run([limber, "equations", robot, "--format", form, *options], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def module(limber, robot, *options):
    names = {}
    exec(equations(limber, robot, "sympy", *options), names)
    return names


def ask(limber, command, robot, state):
    done = subprocess.run([limber, command, robot, "-"], input=json.dumps(state), capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def random_state(names, seed):
    """Small elastic coordinates; four positions of a joint in a row are a unit quaternion, with a position before it if there are seven."""
    rng = np.random.default_rng(seed)
    q = [rng.uniform(-1, 1) * (0.05 if str(name).startswith("eta") else 1) for name in names["coordinates"]]
    joints = {}
    for i, name in enumerate(names["coordinates"]):
        if str(name).startswith("q"): joints.setdefault(str(name).split("_")[1], []).append(i)
    for rows in joints.values():
        if len(rows) < 4: continue
        size = np.linalg.norm([q[i] for i in rows[-4:]])
        for i in rows[-4:]: q[i] /= size
    return {"q": q, "qd": [rng.uniform(-1, 1) for _ in names["rates"]]}


def numbers(names, key, state):
    return np.array(names[key].xreplace(names["point"](state["q"], state["qd"])).tolist(), float)


def assert_close(found, want, epsilon=EPSILON):
    want = np.array(want, float).reshape(found.shape)
    assert np.abs(found - want).max(initial=0) <= epsilon * np.abs(want).max(initial=0)


def compare(limber, robot, *options, seeds=1):
    names = module(limber, robot, *options)
    for seed in range(seeds):
        state = random_state(names, seed)
        want = ask(limber, "matrices", robot, state)
        for key in "MCKGB": assert_close(numbers(names, key, state), want[key])
        assert ("J" in names) == ("constraint_jacobian" in want)
        if "J" in names: assert_close(numbers(names, "J", state), want["constraint_jacobian"])
    return names


# ---- against the library ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", [PENDULUM, LINK, RFR], ids=lambda robot: robot.stem)
def test_sympy_equals_matrices_and_eval(limber, robot):
    names = compare(limber, robot, seeds=3)
    state = random_state(names, 7)
    M, C, K, G = (numbers(names, key, state) for key in "MCKG")
    q, qd = np.array(state["q"]), np.array(state["qd"])
    found = ask(limber, "eval", robot, state)
    assert_close(M, found["mass_matrix"])
    bias = np.array(found["bias"])  # sums that cancel in part: of the largest product in them
    size = max(np.abs(C * qd).max(), np.abs(K * q).max(), np.abs(G).max())
    assert np.abs(C @ qd + K @ q + G.ravel() - bias).max() <= EPSILON * size


@pytest.mark.parametrize("name", ["f2-universal", "f2-cylindrical", "f2-free", "f2-spherical", "nodal", "f2-nodal-geometric", "tree",
                                  "f2-foreshortening-true", "prescribed", "loop-pin", "loop-planar-pin", "ruthless-odd-axis", "rigid-beam", "f3-driven",
                                  "../../../resources/four-bar", "../../../resources/crane"])
def test_other_robots(limber, name):
    compare(limber, GOOD / f"{name}.json")


def test_rotations_of_sections_in_space(limber, tmp_path):
    """A link on a beam that bends in two planes: rotation vectors, with series in their square."""
    file = turret(tmp_path)
    robot = json.loads(file.read_text())
    robot["links"].append({"name": "hand", "joint": {"name": "wrist", "type": "revolute", "axis": [0, 1, 0]},
                           "rigid": {"mass": 0.4, "com": [0.1, 0.02, 0], "inertia": [0.01, 0.02, 0.03, 0, 0, 0]}})
    file.write_text(json.dumps(robot))
    names = compare(limber, file)
    assert "S" in names and len(names["variables"]) > 50


def test_rest_positions_and_round_numbers(limber, tmp_path):
    robot = json.loads(PENDULUM.read_text())
    robot["links"][1]["joint"].update(stiffness=50, rest=0.25)
    file = tmp_path / "robot.json"
    file.write_text(json.dumps(robot))
    text = equations(limber, file, "text")
    assert "\nrest: q_2 = 0.25\n" in text and "k_2 = 50 [" in text
    assert "# rest: q_2 = 0.25\n" in equations(limber, file, "sympy") and "% rest: q_2 = 0.25\n" in equations(limber, file, "matlab")
    assert "q_{\\mathrm{rest}}{:}\\ q_{2} = 0.25 \\]" in equations(limber, file, "latex")
    assert "rest:" not in equations(limber, PENDULUM, "text")


def test_intermediate_variables(limber):
    """Entries that are not multiplied out have the same values."""
    names = compare(limber, RFR, "--terms", "0")
    assert len(names["variables"]) > len(module(limber, RFR)["variables"])


# ---- term by term ----------------------------------------------------------------------------------------------------


def zero(expression): return sympy.expand(expression) == 0


def test_double_pendulum_of_textbooks(limber):
    names = module(limber, PENDULUM)
    m1, m2, l1, lc1, lc2, I1, I2, g, q1, q2, qd1, qd2 = sympy.symbols("m_1 m_2 l_1 lc_1 lc_2 I_1 I_2 g q_1 q_2 qd_1 qd_2")
    c2, h = sympy.cos(q2), -m2 * l1 * lc2 * sympy.sin(q2)
    M = [[m1 * lc1**2 + I1 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * c2) + I2, m2 * (lc2**2 + l1 * lc2 * c2) + I2],
         [m2 * (lc2**2 + l1 * lc2 * c2) + I2, m2 * lc2**2 + I2]]
    C = [[h * qd2, h * (qd1 + qd2)], [-h * qd1, 0]]
    G = [(m1 * lc1 + m2 * l1) * g * sympy.cos(q1) + m2 * g * lc2 * sympy.cos(q1 + q2), m2 * g * lc2 * sympy.cos(q1 + q2)]
    assert all(zero(term) for term in names["M"] - sympy.Matrix(M))
    assert all(zero(term) for term in names["C"] - sympy.Matrix(C))
    assert all(zero(term) for term in names["G"] - sympy.Matrix(G))
    text = equations(limber, PENDULUM, "text")
    assert "M[1,1] = m_1*lc_1^2 + I_1 + m_2*(l_1^2 + lc_2^2 + 2*l_1*lc_2*cos(q_2)) + I_2\n" in text
    assert "C[1,2] = -m_2*l_1*lc_2*sin(q_2)*(qd_1 + qd_2)\n" in text


def test_rigid_flexible_rigid_of_lin_and_lewis(limber):
    """Their appendix, v[2, 1] = eta, their numbers 0.5497..., 0.2066... A L ro and 0.0714... A L ro the symbols phi, alpha and gamma, and
    0.5497... v/L the symbol theta. Limber's coordinates are (th1, th2, v, th3)."""
    names = module(limber, RFR)
    I1, I3, mp, m1, m3, L1, L2, L3, Lc1, Lc3, A = sympy.symbols("I_1 I_3 mp_3 m_1 m_3 l_1 l_2 l_3 lc_1 lc_3 mu_2")
    phi, alpha, gamma, v, psi, th2, th3, theta = sympy.symbols("phi_2_1 alpha_2_1 gamma_2_1_1 eta_2_1 psi_2_1 q_2 q_3 theta_2")
    definitions = {symbol: definition for symbol, definition in names["variables"] if str(symbol).startswith("v")}
    M = names["M"]
    for _ in definitions: M = M.xreplace(definitions)
    c2, s2, c3, s3 = sympy.cos(th2), sympy.sin(th2), sympy.cos(th3 + theta), sympy.sin(th3 + theta)
    c23 = sympy.cos(th2 + th3 + theta)

    def hung(m, length):  # a mass of the third link
        return m * (L1**2 + L2**2 + length**2 + 2 * c2 * L1 * L2 + 2 * c23 * L1 * length + 2 * c3 * L2 * length - 2 * phi * L1 * s2 * v
                    + 2 * phi * length * s3 * v + phi**2 * v**2)
    M11 = I1 + I3 + Lc1**2 * m1 + hung(m3, Lc3) + hung(mp, L3) + A * (L1**2 * L2 + c2 * L1 * L2**2 + L2**3 / 3)
    M11 += -2 * alpha * L1 * s2 * v + gamma * v**2
    assert zero(M[0, 0] - M11)

    M13 = I3 + mp * (c23 * L1 * L3 + c3 * L2 * L3 + L3**2 + phi * L3 * s3 * v) + m3 * (c23 * L1 * Lc3 + c3 * L2 * Lc3 + Lc3**2 + phi * Lc3 * s3 * v)
    M22 = sum(m * (L2**2 + 2 * c3 * L2 * length + length**2 + 2 * phi * length * s3 * v + phi**2 * v**2) for m, length in ((mp, L3), (m3, Lc3)))
    M23 = I3 + sum(m * (c3 * L2 * length + length**2 + phi * length * s3 * v) for m, length in ((mp, L3), (m3, Lc3)))
    assert zero(M[0, 3] - M13) and zero(M[1, 3] - M23) and zero(M[3, 3] - (I3 + mp * L3**2 + Lc3**2 * m3))
    assert zero(M[1, 1] - (M22 + I3 + A * L2**3 / 3 + gamma * v**2))  # they print it without I3

    # they take phi/L for the slope psi of the tip, and the angular velocity of a link from joints alone: no I3 psi
    M34 = phi * mp * (c3 * L3 + L3**2 / L2) + phi * m3 * (c3 * Lc3 + Lc3**2 / L2)
    assert zero(M[2, 3].subs(psi, phi / L2) - M34 - I3 * phi / L2)


@pytest.mark.parametrize("robot", [PENDULUM, RFR], ids=lambda robot: robot.stem)
def test_skew_symmetry(limber, robot):
    """M_dot - 2 C is skew as a matrix of expressions: M_dot - C - C' has no terms."""
    names = module(limber, robot)
    M, C = names["substituted"](names["M"]), names["substituted"](names["C"])
    rate = sum((M.diff(q) * qd for q, qd in zip(names["coordinates"], names["rates"])), sympy.zeros(*M.shape))
    assert all(zero(term) for term in rate - C - C.T)


def test_other_values_of_parameters(limber, tmp_path):
    """The values are those of the file, and the equations hold for others."""
    names = module(limber, PENDULUM)
    robot = json.loads(PENDULUM.read_text())
    robot["links"][0]["rigid"]["tip"]["xyz"][0] = 1.7
    robot["links"][1]["rigid"]["mass"] = 3.1
    file = tmp_path / "robot.json"
    file.write_text(json.dumps(robot))
    state = random_state(names, 3)
    values = {**names["parameters"], sympy.Symbol("l_1"): 1.7, sympy.Symbol("m_2"): 3.1}
    assert values.keys() == names["parameters"].keys()
    found = np.array(names["M"].xreplace(names["point"](state["q"], state["qd"], values)).tolist(), float)
    assert_close(found, ask(limber, "matrices", file, state)["M"])


# ---- formats ---------------------------------------------------------------------------------------------------------


def entries_of_text(text):
    """{"M[1,1]": expression, "v1": expression} of a page with broken lines."""
    lines = re.sub(r"\n +([+-])", r" \1", text.split("parameters\n")[1]).splitlines()
    found = (re.fullmatch(r"(\w+(?:\[\d+(?:,\d+)?\])?) = (.*)", line) for line in lines)
    return {match[1]: match[2].replace("^", "**") for match in found if match}


def name_of_latex(name):
    """\\dot\\theta_{2} is thetad_2, l_{c,1} is lc_1, \\bar\\psi_{1,2} is psi0_1_2."""
    letter, _, index = name.partition("_")
    rate = "\\dot" in letter
    hinge = "\\bar" in letter
    letter = re.sub(r"\\dot|\\bar|[\\{} ]", "", letter)
    parts = [part for part in index.strip("{}").split(",") if part]
    if parts and parts[0].isalpha(): letter += parts.pop(0)
    return "_".join([letter + ("d" if rate else "") + ("0" if hinge else ""), *parts])


def python_of_latex(text):
    text = re.sub(r"\\\\\s*&\\quad", " ", text)
    text = re.sub(r"\\tfrac\{(\d+)\}\{(\d+)\}", r"Rational(\1, \2)", text)
    text = re.sub(r"\\(cos|sin)\^\{2\}\(([^()]*)\)", r"\1(\2)**2", text)
    text = re.sub(r"\\(cos|sin)\b", r"\1", text).replace("\\, ", "*")
    text = re.sub(r"\^\{(\d+)\}", r"**\1", text)
    name = r"(?:\\dot\{\\bar\\\w+\}|\\dot\\\w+|\\dot [a-z]|\\bar\\\w+|\\\w+|[A-Za-z]+)_\{[\w,]+\}"
    return re.sub(name, lambda match: name_of_latex(match[0]), text)


def entries_of_latex(text):
    blocks = re.findall(r"\\begin\{align\*\}\n(.*?)\\end\{align\*\}", text, re.DOTALL)
    rows = [row for block in blocks for row in re.split(r" \\\\\n(?!&)", block) if row.strip()]
    found = {}
    for row in rows:
        name, _, expression = row.partition(" &= ")
        indexed = re.fullmatch(r"([MCKGB])_\{([\d,]+)\}", name)
        found[f"{indexed[1]}[{indexed[2]}]" if indexed else re.sub(r"^v_\{(\d+)\}$", r"v\1", name)] = expression
    return {name if "[" in name else name.replace("v_", "v") if name.startswith("v") else name_of_latex(name):
            re.sub(r"\bv_(\d+)", r"v\1", python_of_latex(expression)) for name, expression in found.items()}


def assert_same(names, entries):
    """Entries of a page, as Python, equal those of the SymPy module, after definitions; the page leaves out zeros and the lower half of M and K."""
    scope = {str(symbol): symbol for symbol in (*names["coordinates"], *names["rates"], *names["parameters"])}
    scope |= {"cos": sympy.cos, "sin": sympy.sin, "Rational": sympy.Rational}
    for name, definition in entries.items():
        if "[" in name or name in "MCKGB": continue
        assert zero(eval(definition, dict(scope)) - dict((str(key), value) for key, value in names["variables"])[name])
        scope[name] = sympy.Symbol(name)
    for key in "MCKG":
        for row in range(names[key].shape[0]):
            for column in range(names[key].shape[1]):
                index = f"{key}[{row + 1}]" if key == "G" else f"{key}[{row + 1},{column + 1}]"
                if key in "MK" and row > column: assert index not in entries
                else: assert zero(sympy.sympify(eval(entries.get(index, "0"), dict(scope))) - names[key][row, column]), index


def small_link(tmp_path):
    robot = json.loads(LINK.read_text())
    robot["links"][0]["beam"]["modes"]["y"]["count"] = 2
    file = tmp_path / "link.json"
    file.write_text(json.dumps(robot))
    return file


def turret(tmp_path):
    """Spatial, with squares of sines: azimuth, elevation, bending in two planes (Lin and Lewis 4.3)."""
    modes = {"shape": "clamped-free", "count": 1}
    robot = {"format": "limber-robot/2", "name": "turret", "gravity": [0, 0, -9.81], "links": [
        {"name": "turret", "joint": {"name": "azimuth", "type": "revolute", "axis": [0, 0, 1]}, "rigid": {"mass": 2, "inertia": [1, 1, 1, 0, 0, 0]}},
        {"name": "barrel", "joint": {"name": "elevation", "type": "revolute", "axis": [0, -1, 0]}, "payload": {"mass": 0.3},
         "beam": {"length": 1.2, "mass_per_length": 0.6, "EIy": 60, "EIz": 50, "foreshortening": False, "modes": {"y": modes, "z": modes}}}]}
    file = tmp_path / "turret.json"
    file.write_text(json.dumps(robot))
    return file


@pytest.mark.parametrize("robot", [lambda _: PENDULUM, lambda _: RFR, small_link, turret], ids=["pendulum", "rfr", "link", "turret"])
def test_formats_say_the_same(limber, tmp_path, robot):
    file = robot(tmp_path)
    names = compare(limber, file)
    assert_same(names, entries_of_text(equations(limber, file, "text")))
    latex = equations(limber, file, "latex")
    assert latex.count("{") == latex.count("}") and latex.count("\\begin{") == latex.count("\\end{")
    assert_same(names, entries_of_latex(latex))


def run_matlab(text, q, qd):
    """The function of a page whose statements are all x = expression, x(i) = y or M(i,j) = expression."""
    body, _, parameters = text.partition("\nend\n\nfunction p = parameters()\np = struct();\n")
    assert parameters.endswith("\nend\n") and body.startswith("function [M, C, K, G, B] = equations(q, qd, p)\n")
    p = dict(re.fullmatch(r"p\.(\w+) = (\S+); % \[.*\] .*", line).groups() for line in parameters.splitlines()[:-1])
    scope = {"cos": np.cos, "sin": np.sin}
    for line in body.splitlines()[1:]:
        if line.startswith("%") or line == "if nargin < 3, p = parameters(); end": continue
        name, indices, expression = re.fullmatch(r"(\w+)(?:\((\d+(?:,\d+)?)\))? = (.*);", line).groups()
        if match := re.fullmatch(r"zeros\((\d+), (\d+)\)", expression): value = np.zeros((int(match[1]), int(match[2])))
        elif match := re.fullmatch(r"(q|qd)\((\d+)\)", expression): value = {"q": q, "qd": qd}[match[1]][int(match[2]) - 1]
        elif match := re.fullmatch(r"p\.(\w+)", expression): value = float(p[match[1]])
        elif match := re.fullmatch(r"(\w)\((\d+),(\d+)\)", expression): value = scope[match[1]][int(match[2]) - 1, int(match[3]) - 1]
        else: value = eval(expression.replace("^", "**"), dict(scope))
        if indices is None: scope[name] = value
        else: scope[name][tuple(int(i) - 1 for i in indices.split(",")) if "," in indices else (int(indices) - 1, 0)] = value
    return scope


@pytest.mark.parametrize("robot", [PENDULUM, RFR, LINK], ids=lambda robot: robot.stem)
def test_matlab(limber, robot):
    state = random_state(module(limber, robot), 5)
    found = run_matlab(equations(limber, robot, "matlab"), state["q"], state["qd"])
    want = ask(limber, "matrices", robot, state)
    for key in "MCKGB": assert_close(found[key], want[key])


# ---- the command -----------------------------------------------------------------------------------------------------


def test_page_of_text(limber):
    text = equations(limber, RFR, "text")
    assert "  mp_3 = 0.5 [kg]: mass of the payload at the tip of link 'third'\n" in text
    assert "theta_2 = psi_2_1*eta_2_1\n" in text and "K[3,3] = kappa_2_1_1\n" in text and "B[4,3] = 1\n" in text
    assert max(map(len, text.splitlines())) < 150


def test_what_is_left_out_is_said(limber):
    assert "Not shown: forces along lines\n" in equations(limber, GOOD / "actuators.json", "text")
    assert "Not shown: damping, friction and stops\n" in equations(limber, GOOD / "limits-and-friction.json", "text")
    assert "Not shown: offsets and backlash of elastic couplings\n" in equations(limber, GOOD / "f3-driven.json", "text", "--terms", "0")
    assert "Not shown" not in equations(limber, RFR, "text")
    assert "some entry has too many terms" in equations(limber, RFR, "text", "--terms", "10")
    assert "not all entries are sums" in equations(limber, GOOD / "f2-free.json", "text")


@pytest.mark.parametrize("name", ["f2-free", "f2-nodal-geometric", "loop-planar-pin", "smallest"])
def test_memory(limber_sanitized, name):
    """Expanded or not, every format: the sanitizers find nothing, and all memory is freed."""
    for form in ("text", "latex", "sympy", "matlab"):
        for terms in ("0", "500"): equations(limber_sanitized, GOOD / f"{name}.json", form, "--terms", terms)
