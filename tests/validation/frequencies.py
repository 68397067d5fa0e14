"""Natural frequencies."""

import numpy as np
import scipy.linalg

from program import beam, load
from rows import Curves, case, near, small

TWO_PI = 2 * np.pi


def hertz(program, description, *options, state=None):
    at = [] if state is None else ["--at", "-"]
    return np.array(program.json("modes", description, "--json", *at, *options, state=state)["frequency"])


def rates(program, description, **more):
    """w [rad/s]"""
    return TWO_PI * hertz(program, description, **more)


# ---- rotating beam ---------------------------------------------------------------------------------------------------

SPEEDS = [0, 1, 2, 4, 6, 8, 10, 12]
FLAPWISE = [3.5160, 3.6816, 4.1373, 5.5850, 7.3604, 9.2568, 11.2023, 13.1702]


@case("Rotating beam, flapwise", "limit of many modes; no hub",
      """A uniform beam turns about its root; it swings out of the plane of rotation. First frequency, made dimensionless as the speed is,
      by the length, the mass and EI. `foreshortening` makes the rate of the hinge stiffen the beam; `limber modes` with the hinge locked at
      its rate finds the frequencies. A Ritz method comes from above; what is below by less than 1e-4 is the fifth digit, which the table does not have.""")
def rotating_beam(program):
    def first(shape, number, speed, foreshortening=True):
        return rates(program, beam("z", shape, number, foreshortening=foreshortening), state={"qd": [speed] + [0] * number})[0]

    expected = np.array(FLAPWISE)
    for shape, number in ("clamped-free", 8), ("craig-bampton", 6):
        found = np.array([first(shape, number, speed) for speed in SPEEDS])
        for speed, w, ours in zip(SPEEDS, expected, found):
            yield near(f"{number} {shape}, speed {speed}", w, ours, ".4f", relative=1e-3)
        yield small(f"{number} {shape}, below the limit by at most", max(0, (expected - found).max()), 1e-4, unit="")
    yield near("5 clamped-free, speed 12", 13.1757, first("clamped-free", 5, 12), ".4f", absolute=1e-4)
    yield near("5 clamped-free, speed 12, without `foreshortening`: as at rest", 3.51602, first("clamped-free", 5, 12, False), ".5f",
               absolute=1e-5)
    speeds = np.linspace(0, 12, 25)
    yield Curves("rotating-beam", "First flapwise frequency of the rotating beam, 8 clamped-free modes, against the table.",
                 [("", "speed", "frequency, dimensionless", {
                     "with foreshortening": (speeds, [first("clamped-free", 8, w) for w in speeds], "-"),
                     "without": (speeds, [first("clamped-free", 8, w, False) for w in speeds], "--"),
                     "table": (SPEEDS, FLAPWISE, "o")})])


# ---- beam with tip mass ----------------------------------------------------------------------------------------------

TIP_MASS = {0: (3.51602, 22.03449), 0.1: (2.96784, 19.35580), 0.5: (2.01630, 16.90142), 1: (1.55730, 16.25009),
            2: (1.15820, 15.86089), 5: (0.75694, 15.60235), 10: (0.54138, 15.51151)}


@case("Clamped beam with a tip mass", "frequency equation of the clamped beam with a point mass at its end",
      """First two dimensionless frequencies by the ratio of the tip's mass to the beam's. The shapes `clamped-mass` are the beam's own, so two
      are exact; Craig-Bampton coordinates do not know of the mass and come from above.""")
def beam_with_tip_mass(program):
    worst, below = 0, 0
    for ratio, expected in TIP_MASS.items():
        load_at_tip = {"payload": {"mass": ratio}} if ratio > 0 else {}
        own = rates(program, beam(shape="clamped-mass", count=2, tip_mass=ratio, **load_at_tip))[:2]
        ritz = rates(program, beam(shape="craig-bampton", count=8, **load_at_tip))[:2]
        yield near(f"2 clamped-mass, ratio {ratio}", expected, own, ".5f", absolute=1.01e-5)
        worst, below = max(worst, np.abs(ritz / own - 1).max()), max(below, (1 - ritz / own).max())
    yield small("8 craig-bampton against them, all ratios", worst, 5e-5)
    yield small("8 craig-bampton, below them by at most", below, 1e-12)


# ---- papers ----------------------------------------------------------------------------------------------------------


@case("Links of the two-link arm", "De Luca and Siciliano",
      """Each link clamped, with what it carries as a point mass with inertia at its tip: link 1 the hub of joint 2 and all of link 2 (1.2 kg,
      0.133833 kg m^2), link 2 the payload.""")
def de_luca_and_siciliano(program):
    for name, mass, inertia, expected in ("link 1", 1.2, 0.133833, (0.48, 1.80)), ("link 2", 0.1, 5e-4, (2.18, 15.91)):
        link = {"length": 0.5, "mass_per_length": 0.2, "EIz": 1, "payload": {"mass": mass, "inertia": [0, 0, inertia, 0, 0, 0]}}
        own = hertz(program, beam(shape="clamped-mass", count=2, tip_mass=mass, tip_inertia=inertia, **link))
        ritz = hertz(program, beam(shape="craig-bampton", count=6, **link))[:2]
        yield near(f"{name}, Hz, 2 clamped-mass", expected, own, ".2f", absolute=0.005, unit="Hz")
        yield small(f"{name}, 6 craig-bampton against them", np.abs(ritz / own - 1).max(), 1e-6)


PRINTED = [2320.64, 3.70e4, 1.87e5, 5.92e5, 1.44e6, 2.99e6, 5.55e6, 9.47e6, 1.51e7, 2.31e7, 3.38e7, 4.79e7, 6.60e7, 8.88e7, 1.17e8]


@case("One link: its own squared frequencies", "Lin and Lewis, section 4.2",
      """Eigenvalues of M_FF^-1 U_FF [1/s^2] of the link in `resources/lin-lewis.json`, 15 pinned-pinned modes, exactly (k pi/L)^4 EI/rhoA. The
      paper prints the second as 3.70e5, third in its list, where its own model has 3.70e4: an exponent that slipped. All others it prints
      are the exact ones cut after three digits, but for the first: its 2320.64 is 0.3 % above what its EI, L and rhoA give,
      2312.8.""")
def lin_and_lewis(program):
    link = load("lin-lewis")
    b, k = link["links"][0]["beam"], np.arange(1, 16)
    squares = (TWO_PI * np.array(program.json("check", link, "--json")["links"][0]["frequencies"])) ** 2
    exact = (k * np.pi / b["length"]) ** 4 * b["EIz"] / b["mass_per_length"]
    yield small("all 15 against the closed form", np.abs(squares / exact - 1).max(), 1e-9)
    yield near("1st, as printed", PRINTED[0], squares[0], ".1f", relative=5e-3)
    digit = 10.0 ** (np.floor(np.log10(PRINTED[1:])) - 2)
    for n in 2, 3, 4, 15:
        yield near(f"{n}{'nd' if n == 2 else 'rd' if n == 3 else 'th'}, as printed" + (" but for the exponent" if n == 2 else ""),
                   PRINTED[n - 1], squares[n - 1], ".3e", absolute=digit[n - 2], unit="1/s^2")
    yield small("2nd to 15th against what is printed, in units of its last digit", (np.abs(squares[1:] - PRINTED[1:]) / digit).max(), 1,
                unit="")


# ---- Canadarm against finite elements --------------------------------------------------------------------------------


def beam_element(length, density, EI):
    """Hermite element of (w, w', w, w')"""
    l = length
    K = EI / l**3 * np.array([[12, 6 * l, -12, 6 * l], [6 * l, 4 * l**2, -6 * l, 2 * l**2],
                              [-12, -6 * l, 12, -6 * l], [6 * l, 2 * l**2, -6 * l, 4 * l**2]])
    M = density * l / 420 * np.array([[156, 22 * l, 54, -13 * l], [22 * l, 4 * l**2, 13 * l, -3 * l**2],
                                      [54, 13 * l, 156, -22 * l], [-13 * l, -3 * l**2, -22 * l, 4 * l**2]])
    return M, K


def straight_arm(links, free, elements=24):
    """Natural frequencies [Hz] of beams in a row, clamped at the base; joints free: a slope of its own on either side."""
    size = 2 * (elements * len(links) + 1) + len(links)
    M, K = np.zeros((size, size)), np.zeros((size, size))
    w, slope, fresh, held = 0, 1, 2, [0]
    for which, link in enumerate(links):
        b = link["beam"]
        if free: slope, fresh = fresh, fresh + 1
        if which == 0: held.append(1)
        m, k = beam_element(b["length"] / elements, b["mass_per_length"], b["EIz"])
        for _ in range(elements):
            dof = [w, slope, fresh, fresh + 1]
            M[np.ix_(dof, dof)] += m
            K[np.ix_(dof, dof)] += k
            w, slope, fresh = fresh, fresh + 1, fresh + 2
    kept = [i for i in range(fresh) if i not in held and M[i, i] > 0]
    squares = scipy.linalg.eigh(K[np.ix_(kept, kept)], M[np.ix_(kept, kept)], eigvals_only=True)
    return np.sqrt(np.maximum(squares, 0)) / TWO_PI


def canadarm(shape, number):
    arm = load("canadarm")
    for link in arm["links"]: link["beam"]["modes"] = {"y": {"shape": shape, "count": number}}
    return arm


LOCKED, FREE = [0.14841, 1.10880, 3.06690], [3.21159, 4.83388, 11.953, 14.891]  # Hz


@case("Canadarm, mode sets", "finite-element beams; the arm of Mohan and Saha, table 2",
      """The straight arm with its joints locked or free. The published frequencies are those of a mesh of 8 elements a link, which is made again here and
      has their digits; against 24 elements Limber is closer, so what keeps it from the published ones is their mesh. The last rows are what a choice
      of shapes costs: clamped-free shapes have neither moment nor shear at a link's tip, where the next link hangs.""")
def canadarm_mode_sets(program):
    links = load("canadarm")["links"]
    fine = canadarm("craig-bampton", 20)
    locked, free = hertz(program, fine), hertz(program, fine, "--joints", "free")
    yield near("8 elements a link against the published digits, locked, Hz", LOCKED, straight_arm(links, False, 8)[:3], ".5f",
               absolute=5e-6, unit="Hz")
    coarse = straight_arm(links, True, 8)[3:7]
    yield near("the same, free, Hz", FREE[:2], coarse[:2], ".5f", absolute=5e-6, unit="Hz")
    yield near("the same, free, Hz", FREE[2:], coarse[2:], ".3f", absolute=5e-4, unit="Hz")
    yield near("20 craig-bampton a link, locked, Hz", LOCKED, locked[:3], ".5f", relative=5e-4)
    yield near("20 craig-bampton a link, free: rigid modes, Hz", [0, 0, 0], free[:3], ".0f", absolute=0, unit="Hz")
    yield near("20 craig-bampton a link, free, Hz", FREE, free[3:7], ".5f", relative=5e-4)
    yield near("the same against 24 elements a link, locked, Hz", straight_arm(links, False)[:3], locked[:3], ".5f", relative=1e-6)
    yield near("the same against 24 elements a link, free, Hz", straight_arm(links, True)[3:7], free[3:7], ".5f", relative=1e-5)
    exact = straight_arm(links, False)[0]
    yield near("3 craig-bampton a link, first locked, Hz", exact, hertz(program, canadarm("craig-bampton", 3))[0], ".5f", relative=3e-5)
    few = hertz(program, canadarm("clamped-free", 2))[0]
    yield near("2 clamped-free a link, as in the file, first locked: too high by %", 4.8, 100 * (few / exact - 1), ".1f", absolute=0.1)


# ---- a parallel robot ------------------------------------------------------------------------------------------------

DUALEMPS = [14.212, 25.054, 48.172, 91.938, 110.383, 436.70]  # of this model, in another program
PAPER, MEASURED = [14.22, 25.09, 48.22, 92.37, 109.08], [14, 25, 48, 93, 108]


@case("DualEMPS, sliders locked", "Briot and Khalil, table 3",
      """Two sliders carry flexible legs that are joined by a pin; undamped frequencies at the start. The paper models each blade by one beam
      element, as the robot file does; its elastic constants are not printed, so that the model agrees with it to a few tenths of a percent in the first
      four and to 1.3 % in the fifth. The measurement resolves 1 Hz, which the fifth misses as the paper's model does; the sixth frequency is beyond what one element a blade can tell (the paper says
      so too).""")
def dualemps(program):
    found = hertz(program, load("dualemps"))
    for k, (expected, ours) in enumerate(zip(DUALEMPS, found), 1):
        yield near(f"mode {k}, this model elsewhere, Hz", expected, ours, ".3f", relative=1e-4)
    for k, (expected, ours) in enumerate(zip(PAPER, found), 1):
        yield near(f"mode {k}, the paper's model, Hz", expected, ours, ".2f", relative=0.013)
    for k, (expected, ours) in enumerate(zip(MEASURED, found), 1):
        yield near(f"mode {k}, measured, Hz", expected, ours, ".1f", absolute=3)
