"""The equations of docs/drives.md, by their numbers: all that a companion computes, from its inputs, states and parameters by name."""

from math import copysign, cos, hypot, pi, sin, sqrt, tanh

import numpy as np
from scipy.optimize import brentq

ATMOSPHERE, VAPOR = 101325.0, 1000.0  # [Pa]


def sat(x, limit):
    """Linear up to nine tenths of the limit, a parabola from there to the limit at eleven tenths."""
    a = abs(x) / limit
    return copysign(limit * (a if a < 0.9 else 1 if a > 1.1 else a - (a - 0.9) ** 2 / 0.4), x)


def positive(x, width): return (x + hypot(x, width)) / 2


def contact(depth, rate, stiffness, damping):
    return stiffness * max(depth, 0) * max(0, 1 + damping * rate)


# ---- servo ----------------------------------------------------------------------------------------------------------


def servo(v):
    k, i, L, R = v["gear_ratio"] * v["torque_constant"], v["current"], v["inductance"], v["resistance"]
    rate = sat(v["position_gain"] * (v["reference"] - v["q"]) + v["reference_rate"], v["rate_limit"])
    e = rate - v["qd"]                                                                                                # (2)
    wanted = v["velocity_gain"] * e + v["torque_integral"] + v["feedforward"]
    current = sat(wanted / k, v["current_limit"])
    torque_rate = v["velocity_integral_gain"] * (e - (wanted - k * current) / v["velocity_gain"])                     # (3)
    asked = v["current_bandwidth"] * L * (current - i) + v["voltage_integral"] + k * v["qd"]
    u = sat(asked, v["voltage_limit"])
    voltage_rate = v["current_bandwidth"] * R * (current - i) - R / L * (asked - u)                                   # (4)
    current_rate = (u - R * i - k * v["qd"]) / L                                                                      # (1)
    width = 1e-3 * k * v["current_limit"]
    load = hypot(k * i, width) - width
    friction = v["viscous"] * v["qd"] + (v["coulomb"] + (1 - v["efficiency"]) * load) * tanh(v["qd"] / v["friction_rate"])
    tau = k * i - friction                                                                                            # (5, 6)
    return {"tau": tau, "voltage": u, "current_reference": current, "rate_reference": rate, "der(current)": current_rate,
            "der(voltage_integral)": voltage_rate, "der(torque_integral)": torque_rate, "power.electrical": u * i,
            "power.mechanical": tau * v["qd"], "power.copper": R * i**2, "power.gear": friction * v["qd"], "power.magnetic": L * i * current_rate}


# ---- cylinder -------------------------------------------------------------------------------------------------------


def root(drop, laminar): return drop / (drop**2 + laminar**2) ** 0.25


def ramp(x):
    y = min(max(x, 0), 1)
    return y**2 * (3 - 2 * y)


class Chamber:
    """Chamber c, 0 or 1, with the edges of the valve and its counterbalance valve."""

    def __init__(self, v, c):
        self.v, self.c, self.p, self.setting = v, c, v[f"p{c + 1}"], v[f"counterbalance{c + 1}"]
        self.spool, self.laminar = v["spool"] * (1 - 2 * c), v["laminar_drop"]
        self.K = v["nominal_flow"] / root(v["nominal_drop"], self.laminar)

    def edge(self, x, drop):                                                                                          # (3)
        return self.K * positive(x - self.v["overlap"], self.v["clearance"]) * root(drop, self.laminar)

    def supply(self, line): return self.edge(self.spool, self.v["supply_pressure"] - line)

    def tank(self, line): return self.edge(-self.spool + self.v["tank_underlap"], line - self.v["tank_pressure"])

    def opening(self, pilot):                                                                                         # (11)
        return ramp((self.p + self.v["pilot_ratio"] * pilot - self.setting) / self.v["counterbalance_range"])

    def into(self, line, x):                                                                                          # (12)
        K, drop = self.v["counterbalance_flow"] / root(self.v["counterbalance_drop"], self.laminar), line - self.p
        return K * (1 - (1 - ramp(drop / self.laminar)) * (1 - x)) * root(drop, self.laminar)

    def line(self, x, given=None):
        """The pressure of the line, with its own flow from the supply or a given one."""                             # (13)
        if self.setting == 0: return self.p
        rest = lambda p: (self.supply(p) if given is None else given) - self.tank(p) - self.into(p, x)
        around = self.p, self.v["supply_pressure"], self.v["tank_pressure"]
        return brentq(rest, min(around) - 1, max(around) + 1, xtol=1e-9, rtol=1e-15)


def cylinder(v):
    chambers, share, s, rate = [Chamber(v, c) for c in (0, 1)], v["supply_share"], v["length"] - v["length_closed"], v["rate"]
    pilots = [c.line(c.opening(0)) for c in chambers][::-1]                                                           # (14)
    x = [c.opening(pilot) for c, pilot in zip(chambers, pilots)]
    demands = [c.supply(c.line(open)) for c, open in zip(chambers, x)]
    lines = [c.line(open, share * demand) for c, open, demand in zip(chambers, x, demands)]                           # (10)
    supplied, returned = share * sum(demands), sum(c.tank(line) for c, line in zip(chambers, lines))
    flows = [share * demand - c.tank(line) for c, demand, line in zip(chambers, demands, lines)]                      # (4)

    p, A = (v["p1"], v["p2"]), (pi / 4 * v["bore"] ** 2, pi / 4 * (v["bore"] ** 2 - v["rod"] ** 2))
    leak = v["leakage"] * (p[0] - p[1])
    oil = flows[0] - A[0] * rate - leak, flows[1] + A[1] * rate + leak
    volumes = [A[c] * (v["dead_length"] + (s, v["stroke"] - s)[c]) + v[f"hose_volume{c + 1}"] for c in (0, 1)]        # (5)
    beta = [1 / (1 / v["bulk_modulus"] + v["air"] * ATMOSPHERE / positive(one + ATMOSPHERE, VAPOR) ** 2) for one in p]  # (6)
    friction = v["coulomb"] * tanh(rate / v["friction_rate"]) + v["viscous"] * rate                                   # (7)
    stop = lambda depth, way: contact(depth, way * rate, v["stop_stiffness"], v["stop_damping"])
    stops = stop(-s, -1) - stop(s - v["stroke"], 1)                                                                   # (8)
    force = p[0] * A[0] - p[1] * A[1] - friction + stops                                                              # (1)
    w = v["spool_frequency"]
    spool_acceleration = w**2 * (min(max(v["command"], -1), 1) - v["spool"]) - 2 * v["spool_damping"] * w * v["spool_rate"]  # (2)
    edges = sum((v["supply_pressure"] - line) * share * demand + (line - v["tank_pressure"]) * c.tank(line)
                for c, demand, line in zip(chambers, demands, lines))
    return {"force": force, "flow1": flows[0], "flow2": flows[1], "supply_flow": supplied, "return_flow": returned, "supply_demand": sum(demands),
            "line1": lines[0], "line2": lines[1], "position": s, "friction": friction, "stop_force": stops, "der(spool)": v["spool_rate"],
            "der(spool_rate)": spool_acceleration, "der(p1)": beta[0] / volumes[0] * oil[0], "der(p2)": beta[1] / volumes[1] * oil[1],
            "power.supply": v["supply_pressure"] * supplied - v["tank_pressure"] * returned, "power.mechanical": force * rate, "power.valve": edges,
            "power.counterbalance": sum((line - one) * flow for line, one, flow in zip(lines, p, flows)), "power.leakage": leak * (p[0] - p[1]),
            "power.friction": friction * rate, "power.stops": -stops * rate, "power.compression": p[0] * oil[0] + p[1] * oil[1]}


# ---- gear, spring, axis ---------------------------------------------------------------------------------------------


def gear(v):
    N, k, play, width = v["ratio"], v["stiffness"], v["backlash"] / 2, v["backlash"] / 20
    twist, rate = v["motor_angle"] / N - v["q"], v["motor_rate"] / N - v["qd"]                                        # (1)
    dead = positive(twist - play, width) - positive(-twist - play, width) if play > 0 else twist
    slope = sum((1 + x / hypot(x, width)) / 2 for x in (twist - play, -twist - play)) if play > 0 else 1
    tau = k * dead + v["damping"] * slope * rate                                                                      # (2)
    acceleration = (v["torque"] - v["motor_friction"] * v["motor_rate"] - tau / N) / v["motor_inertia"]               # (3)
    return {"tau": tau, "twist": twist, "der(motor_angle)": v["motor_rate"], "der(motor_rate)": acceleration,
            "power.motor": v["torque"] * v["motor_rate"], "power.mechanical": tau * v["qd"], "power.spring": k * dead * rate,
            "power.friction": v["motor_friction"] * v["motor_rate"] ** 2, "power.damping": v["damping"] * slope * rate**2,
            "power.rotor": v["motor_inertia"] * v["motor_rate"] * acceleration}


def spring(v):
    elastic = v["preload"] + v["stiffness"] * (v["rest_length"] - v["length"])
    force = elastic - v["damping"] * v["rate"]                                                                        # (1)
    return {"force": force, "power.mechanical": force * v["rate"], "power.damping": v["damping"] * v["rate"] ** 2, "power.spring": -elastic * v["rate"]}


def axis(v):
    reference, rate = v["start"], 0.0
    for k in range(1, 5):
        begin, duration, distance = (v[f"move[{k}].{key}"] for key in ("time", "duration", "distance"))
        x = min(max((v["clock"] - begin) / duration, 0), 1)
        reference += distance * (x - sin(2 * pi * x) / (2 * pi))                                                      # (1)
        rate += distance / duration * (1 - cos(2 * pi * x))
    command = v["rate_gain"] * rate + v["position_gain"] * (reference - v["position"])                                # (2)
    return {"reference": reference, "reference_rate": rate, "command": command, "der(clock)": 1.0}


# ---- sling ----------------------------------------------------------------------------------------------------------


def sling(v):
    vector = lambda name: np.array([v[f"{name}[{k}]"] for k in (1, 2, 3)])
    hook, hook_rate, x, rate, g = map(vector, ("hook.position", "hook.velocity", "position", "velocity", "gravity"))
    up, r, m = -g / sqrt(g @ g), sqrt((hook - x) @ (hook - x)), v["mass"]
    e, p = (hook - x) / r, r - v["length"]                                                                            # (1)
    elongation, depth, sinking = e @ (hook_rate - rate), v["ground"] - up @ x, -up @ rate
    T = contact(p, elongation, v["stiffness"], v["damping"])                                                          # (2)
    N = contact(depth, sinking, v["ground_stiffness"], v["ground_damping"])                                           # (3)
    slide = rate - up * (up @ rate)
    F = -v["friction"] * N * slide / sqrt(slide @ slide + v["friction_rate"] ** 2)                                    # (4)
    acceleration = g + (T * e + N * up + F) / m                                                                       # (5)
    p, depth = max(p, 0), max(depth, 0)
    energies = {"kinetic": m * rate @ rate / 2, "gravity": -m * g @ x, "strain": (v["stiffness"] * p**2 + v["ground_stiffness"] * depth**2) / 2}
    losses = (T - v["stiffness"] * p) * elongation + (N - v["ground_stiffness"] * depth) * sinking - F @ slide        # (6)
    vectors = {"force[{}]": -T * e, "der(position[{}])": rate, "der(velocity[{}])": acceleration}
    return {"tension": T, "ground_force": N, "power.losses": losses, "energy.total": sum(energies.values()),
            **{f"energy.{name}": value for name, value in energies.items()},
            **{name.format(k + 1): value[k] for name, value in vectors.items() for k in range(3)}}


COMPANIONS = {"servo": servo, "cylinder": cylinder, "gear": gear, "spring": spring, "axis": axis, "sling": sling}
