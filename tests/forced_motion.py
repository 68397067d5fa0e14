"""The forced motion of the Canadarm (Mohan and Saha, section 7.1): the flexible arm under the torques that move the rigid arm along

    theta_i = k_i (t - T_i/pi sin(pi t/T_i)),  0 <= t <= 10 s."""

import numpy as np
from program import ROOT, load, read_csv

RATE, PERIOD = [0.075, 0.05, 0.1], [10, 5, 5]


def trajectory():
    """Joint angles and tip of the flexible arm every 10 ms, integrated by another program at 1e-10 from torques every 1 ms"""
    return read_csv(ROOT / "tests/data/forced-canadarm.csv")


def torques(rows=1000):
    """{column: values}, so many rows a second"""
    links = load("canadarm")["links"]
    t, k, T = np.arange(10 * rows + 1) / rows, np.array(RATE)[:, None], np.array(PERIOD)[:, None]
    s = np.pi * t / T
    phi, rate, acceleration = (np.cumsum(x, 0) for x in (k * (t - T / np.pi * np.sin(s)), k * (1 - np.cos(s)), k * np.pi / T * np.sin(s)))
    L = np.array([link["beam"]["length"] for link in links])[:, None]
    m = np.array([link["beam"]["mass_per_length"] for link in links])[:, None] * L
    # vectors in the plane as complex numbers: a link is L u, u = exp(i phi), u'' = (i phi'' - phi'^2) u
    u = L * np.exp(1j * phi)
    a = (1j * acceleration - rate**2) * u
    hinge, centre = np.cumsum(u, 0) - u, np.cumsum(u, 0) - u / 2
    force = m * (np.cumsum(a, 0) - a / 2)
    spin = m * L**2 / 12 * acceleration
    tau = [(spin[i:] + (np.conj(centre[i:] - hinge[i]) * force[i:]).imag).sum(0) for i in range(len(links))]
    return {"time": t, **{f"{link['joint']['name']}.tau": values for link, values in zip(links, tau)}}
