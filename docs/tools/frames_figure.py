"""docs/figures/frames.svg: the frames of a link, drawn in the plane."""

from math import atan, cos, radians, sin

WIDTH, HEIGHT = 960, 470
X, Y, DARK, GRAY, BLUE = "#c0392b", "#2e8b57", "#222222", "#8a8f98", "#2978b5"
STYLE = ("text{font:15px sans-serif;fill:#222}.small{font-size:13px;fill:#555}.frame{font-weight:bold}"
         "line,path,polyline{fill:none;stroke-linecap:round}")


class Drawing:
    """SVG elements; y points up."""

    def __init__(self): self.parts = []

    def at(self, p): return f"{p[0]:.1f}", f"{HEIGHT - p[1]:.1f}"

    def line(self, a, b, color=DARK, width=2, dash="", marker=""):
        (x1, y1), (x2, y2) = self.at(a), self.at(b)
        more = (f' stroke-dasharray="{dash}"' if dash else "") + (f' marker-end="url(#{marker})"' if marker else "")
        self.parts.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{color}" stroke-width="{width}"{more}/>')

    def polyline(self, points, color=DARK, width=2, dash=""):
        places = " ".join(",".join(self.at(p)) for p in points)
        more = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<polyline points="{places}" stroke="{color}" stroke-width="{width}"{more}/>')

    def circle(self, p, r, fill, stroke=DARK, opacity=1.0):
        x, y = self.at(p)
        self.parts.append(f'<circle cx="{x}" cy="{y}" r="{r}" fill="{fill}" stroke="{stroke}" fill-opacity="{opacity}"/>')

    def text(self, p, text, style="", anchor="start", color=""):
        x, y = self.at(p)
        fill = f' style="fill:{color}"' if color else ""
        self.parts.append(f'<text x="{x}" y="{y}" class="{style}" text-anchor="{anchor}"{fill}>{text}</text>')

    def frame(self, p, angle, name, length=46, offset=(-8, -22), faint=False):
        """Axes x and y of a frame, turned by `angle`; z points out of the page."""
        ex, ey = along(angle), along(angle + radians(90))
        colors = (GRAY, GRAY) if faint else (X, Y)
        for axis, color, label in ((ex, colors[0], "x"), (ey, colors[1], "y")):
            end = add(p, axis, length)
            self.line(p, end, color, 2, marker="gray" if faint else label)
            if not faint: self.text(add(add(p, axis, length + 14), (-4, -4), 1), label, "small")
        self.circle(p, 3.5, colors[0] if faint else DARK, "none")
        self.text(add(p, offset, 1), name, "frame", color=GRAY if faint else "")

    def arc(self, p, radius, start, stop):
        points = [add(p, along(start + (stop - start) * k / 20), radius) for k in range(21)]
        self.polyline(points, DARK, 1.4)

    def svg(self):
        heads = "".join(f'<marker id="{name}" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="7" markerHeight="7" '
                        f'orient="auto"><path d="M0 0L10 5L0 10z" style="fill:{color}"/></marker>'
                        for name, color in (("x", X), ("y", Y), ("gray", GRAY), ("dark", DARK)))
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">\n'
                f"<style>{STYLE}</style>\n<defs>{heads}</defs>\n"
                f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>\n' + "\n".join(self.parts) + "\n</svg>\n")


def along(angle): return cos(angle), sin(angle)


def add(p, v, factor): return p[0] + factor * v[0], p[1] + factor * v[1]


def bent(origin, angle, length, deflection):
    """Point and slope of a bent beam at s = x/L: v = deflection (3 s^2 - s^3)/2."""
    ex, ey = along(angle), along(angle + radians(90))

    def section(s):
        v, slope = deflection * (3 * s * s - s**3) / 2, deflection / length * (6 * s - 3 * s * s) / 2
        return add(add(origin, ex, s * length), ey, v), angle + atan(slope)

    return section


def parent_and_joint(drawing, joint, q):
    world = (70, 90)
    drawing.frame(world, 0, "W", offset=(-26, -8))
    drawing.text((45, 58), "world", "small")
    drawing.line(world, add(joint, (-6, -5), 1), GRAY, 1.5, "6 4", "gray")
    drawing.text((62, 190), "joint.origin", "small", "middle")
    drawing.frame(joint, 0, "joint frame", 84, (40, -20), faint=True)
    drawing.arc(joint, 74, 0, q)
    drawing.text(add(add(joint, along(q / 2), 82), (0, -5), 1), "q")


def link(drawing, joint, q, length):
    section = bent(joint, q, length, -62)
    drawing.line(joint, add(joint, along(q), length + 40), GRAY, 1.3, "5 5")
    curve = [section(k / 60) for k in range(61)]
    for side in 8, -8: drawing.polyline([add(p, along(a + radians(90)), side) for p, a in curve], BLUE, 2)
    drawing.polyline([p for p, _ in curve], BLUE, 1.2, "8 4 2 4")
    middle, _ = section(0.62)
    above = add(joint, along(q), 0.62 * length)
    drawing.line(above, middle, DARK, 1.4, marker="dark")
    drawing.text(add(above, (-8, 12), 1), "v(x): bending along y", "small", "end")
    drawing.circle(joint, 19, BLUE, "none", 0.25)
    drawing.text((joint[0] - 54, joint[1] + 28), "O = F", "frame", "middle")
    drawing.text((joint[0] - 26, joint[1] + 6), "hub, fixed to O", "small", "end")
    drawing.frame(joint, q, "", 58)
    return section(1)


def child(drawing, tip, angle):
    drawing.circle(tip, 17, X, "none", 0.25)
    drawing.frame(tip, angle, "T", 50, (-24, 22))
    drawing.text((tip[0] + 10, tip[1] - 56), "payload, fixed to T", "small", "middle")
    drawing.text((tip[0] + 10, tip[1] - 36), "section at x = L", "small", "middle")
    joint = add(add(tip, along(angle), 110), along(angle + radians(90)), 34)
    drawing.line(tip, add(joint, along(angle), -8), GRAY, 1.5, "6 4", "gray")
    drawing.text((tip[0] + 62, tip[1] - 14), "joint.origin of the child", "small")
    drawing.frame(joint, angle, "", 40, faint=True)
    turned = angle + radians(58)
    drawing.frame(joint, turned, "O of the child", 50, (36, 14))


def notes(drawing):
    lines = ["W  world frame", "joint frame: the parent's T (or W), moved by joint.origin",
             "O  hinge frame: the joint frame, moved by the joint position q",
             "F  body frame; F = O unless the hinge node deforms (pinned-pinned, nodal)",
             "T  tip frame: where children, payload and tip wrench attach"]
    for k, text in enumerate(lines): drawing.text((420, 122 - 23 * k), text, "small")


def svg():
    drawing, joint, q = Drawing(), (200, 240), radians(20)
    parent_and_joint(drawing, joint, q)
    tip, angle = link(drawing, joint, q, 480)
    child(drawing, tip, angle)
    notes(drawing)
    return drawing.svg()
