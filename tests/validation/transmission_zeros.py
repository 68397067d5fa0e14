"""Zeros of one flexible link."""

import numpy as np
import scipy.linalg

from program import load
from rows import case, count, near, small

SHAPES = [{"shape": "pinned-pinned", "count": 15}, {"shape": "clamped-free", "count": 4}, {"shape": "craig-bampton", "count": 5},
          {"shape": "hermite"}, {"shape": "polynomial", "count": 4},
          {"shape": "clamped-mass", "count": 3, "tip_mass": 0.045359237}]
POUND_FORCE_PER_INCH = 4.4482216152605 / 0.0254  # N/m; times s^2: kg


def link(modes, payload=None):
    """The link of Lin and Lewis with other modes, or another mass at its tip."""
    robot = load("lin-lewis")
    robot["links"][0]["beam"]["modes"]["y"] = modes
    if payload: robot["links"][0]["payload"]["mass"] = payload
    return robot


def zeros(program, robot, output):
    found = program.json("zeros", robot, "--input", "hinge.tau", "--output", output)
    return np.array([complex(*z) for z in found["zeros"]]), found["minimum_phase"]


def first_positive_square(found):
    """The least s^2 among zeros on the positive real axis."""
    return min((z.real**2 for z in found if z.imag == 0 and z.real > 0), default=np.nan)


@case("One link: joint torque to joint coordinate", "collocated, on the imaginary axis for every family of shapes",
      """The link of Lin and Lewis, section 4.2, with other shapes. The zeros are the frequencies of the arm with its hinge locked.""")
def collocated(program):
    for modes in SHAPES:
        robot = link(modes)
        found, minimum_phase = zeros(program, robot, "hinge.q")
        parts = program.json("matrices", robot, "-", state={})
        locked = scipy.linalg.eigh(np.array(parts["K"])[1:, 1:], np.array(parts["M"])[1:, 1:], eigvals_only=True)
        squares = np.sort(found.imag[found.imag > 0]) ** 2
        yield count(f"{modes['shape']}: zeros off the imaginary axis, or at 0", 0,
                    int(np.sum((found.real != 0) | (found.imag == 0))) + (not minimum_phase))
        assert len(squares) == len(locked)
        # known to rounding of the largest square
        error = np.abs(squares - locked) / (locked + 1e-4 * locked[-1])
        yield small(f"{modes['shape']}: squares against those of the locked hinge's frequencies", error.max(), 1e-9)


# ---- the angle of frame F --------------------------------------------------------------------------------------------


def slopes(robot):
    """phi'(0)"""
    b = robot["links"][0]["beam"]
    modes = b["modes"]["y"]
    pinned = modes["shape"] == "pinned-pinned"
    return np.array([k * np.pi / b["length"] if pinned else 0.0 for k in range(1, modes["count"] + 1)])


def frame_angle_zeros(program, robot):
    """s^2 of the zeros from the torque to the angle of frame F, q - sum phi'(0) eta, whose row of C is made from those of the
    states: with A = [0 1; A21 0] the finite eigenvalues of [A21 b; c 0] against [1 0; 0 0]."""
    found = program.json("linearize", robot)
    A, B = np.array(found["A"]), np.array(found["B"])
    n = len(A) // 2
    assert found["states"][:2] == ["hinge.q", "arm.eta[1]"] and np.all(A[n:, n:] == 0)
    L = np.linalg.cholesky(np.array(program.json("matrices", robot, "-", state={})["M"]))
    # coordinates of the kinetic energy: the pencil is scaled well
    K, b, c = L.T @ A[n:, :n] @ np.linalg.inv(L.T), L.T @ B[n:, 0], np.linalg.solve(L, np.concatenate([[1.0], -slopes(robot)]))
    size = np.linalg.norm(K)
    pencil = np.block([[K / size, b[:, None] / np.linalg.norm(b)], [c[None, :] / np.linalg.norm(c), np.zeros((1, 1))]])
    alpha, beta = scipy.linalg.eig(pencil, np.diag([1.0] * n + [0.0]), right=False, homogeneous_eigvals=True)
    return np.array([a / w * size for a, w in zip(alpha, beta) if abs(w) > 1e-7 * abs(a)])


def zeros_with_half_the_coupling(program, robot):
    """s of zeros to the angle of F: its acceleration zero, M_FF eta'' + U eta = phi'(0) tau, tau = m' eta'', with half of m, the
    coupling of the angle with the modes."""
    found = program.json("matrices", robot, "-", state={})
    M, K, slope = np.array(found["M"]), np.array(found["K"]), slopes(robot)
    T = np.eye(len(M))
    T[0, 1:] = slope  # q = angle of F + phi'(0) eta
    M = T.T @ M @ T
    return np.sqrt(-scipy.linalg.eigvals(K[1:, 1:], M[1:, 1:] - np.outer(slope, M[0, 1:]) / 2))


@case("One link: joint torque to the angle of frame F", "Lin and Lewis, section 4.2",
      """Lin and Lewis's joint angle is that of the frame in which the modes are drawn, q - sum phi'(0) eta. For pinned-pinned modes this is not the
      hinge, and the tip, which stays on the frame's axis, has the same zeros; for clamped-free modes it is the hinge. The kind of zeros is the paper's; its values,
      -+58.89 -+ 76.06 j and -+76.98 j, -+1.0914 j, are those of two modes and not reproduced as they stand, for two reasons that
      explain them. The clamped-free ones come out with a tip mass of 0.1 lbf s^2/in (17.5 kg) where the paper states 0.1 lbm. The pinned-pinned ones come
      out if the coupling between joint angle and modes has half the size it has in M; Limber's, with the full coupling, are
      real.""")
def frame_angle(program):
    pinned = load("lin-lewis")
    found = frame_angle_zeros(program, pinned)
    real = [z.real for z in found if abs(z.imag) < 1e-6 * abs(z) and z.real > 0]
    yield near("15 pinned-pinned: first s^2 in the right half plane, 1/s^2", 2971.1, min(real), ".1f", absolute=0.05, unit="1/s^2")
    tip, minimum_phase = zeros(program, pinned, "tip.position[2]")
    yield near("the same by `limber zeros` to the tip", 2971.1, first_positive_square(tip), ".1f", absolute=0.05, unit="1/s^2")
    yield count("the same: said to be minimum phase", 0, int(minimum_phase))
    clamped = link({"shape": "clamped-free", "count": 4})
    yield count("4 clamped-free: zeros off the imaginary axis", 0, int(np.sum(frame_angle_zeros(program, clamped).real >= 0)))

    heavy = link({"shape": "clamped-free", "count": 2}, payload=0.1 * POUND_FORCE_PER_INCH)
    yield near("2 clamped-free, tip mass 0.1 lbf s^2/in: imaginary parts, 1/s", [1.0914, 76.98],
               np.sort(np.abs(zeros(program, heavy, "hinge.q")[0].imag))[::2], ".4f", relative=1e-3)
    half = zeros_with_half_the_coupling(program, link({"shape": "pinned-pinned", "count": 2}))[0]
    yield near("2 pinned-pinned, half the coupling: real and imaginary part, 1/s", [58.89, 76.06], [abs(half.real), abs(half.imag)], ".2f",
               relative=1e-3)
    two = np.sqrt(np.sort(frame_angle_zeros(program, link({"shape": "pinned-pinned", "count": 2})).real))
    b = pinned["links"][0]["beam"]
    w1 = (np.pi / b["length"]) ** 2 * np.sqrt(b["EIz"] / b["mass_per_length"])
    # s^4 - 13 w1^2 s^2 + 16 w1^4 = 0
    yield near("2 pinned-pinned, full coupling: on the real axis, 1/s", w1 * np.sqrt((13 + np.array([-1, 1]) * np.sqrt(105)) / 2), two, ".2f",
               relative=1e-9)


@case("One clamped-free link: joint torque to the tip", "non-minimum phase; the link of Lin and Lewis",
      """Lateral position of the tip. A torque first moves it the wrong way.""")
def tip_of_clamped_free(program):
    for number, first in (2, 3060), (4, 2973):
        found, minimum_phase = zeros(program, link({"shape": "clamped-free", "count": number}), "tip.position[2]")
        yield near(f"{number} modes: first s^2 in the right half plane, 1/s^2", first, first_positive_square(found), ".1f", absolute=0.5,
                   unit="1/s^2")
        yield count(f"{number} modes: said to be minimum phase", 0, int(minimum_phase))
