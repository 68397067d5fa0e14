"""The Canadarm in Exudyn: floating frame of reference with the clamped-free modes of Limber's links, and planar ANCF cables."""

import contextlib
import sys
import time

import numpy as np
from scipy.optimize import brentq

sys.exudynFast = True  # the library without range checks
with contextlib.redirect_stdout(sys.stderr):
    import exudyn as exu
    import exudyn.itemInterface as item
    from exudyn.FEM import FEMinterface, ObjectFFRFreducedOrderInterface

VERSION = exu.__version__
LINEAR_SOLVERS = ("EXUdense", "EigenDense", "EigenSparse")


class Torques:
    """Sets the torques at the end of a step, linear between rows (time, torque of each joint) that are 0.1 s apart. Exudyn
    calls it once in each step."""

    def __init__(self, rows):
        self.rows = rows
        self.loads = []  # (load, joint, sign)

    def __call__(self, mbs, t):
        times = self.rows[:, 0]
        k = min(int(t / times[1]), len(times) - 2)
        a, b = self.rows[k], self.rows[k + 1]
        tau = a + (b - a) * ((t - a[0]) / (b[0] - a[0]))
        for load, joint, sign in self.loads: mbs.SetLoadParameter(load, "loadVector", [0, 0, sign * tau[1 + joint]])
        return True

    def add(self, mbs, joint, inner, outer):
        """The torque of a joint acts on the marker `outer`, its reaction on `inner` (None: ground)."""
        for marker, sign in (outer, 1), (inner, -1):
            if marker is not None: self.loads.append((mbs.AddLoad(item.Torque(markerNumber=marker, loadVector=[0, 0, 0])), joint, sign))

    def seconds_per_step(self, mbs, calls=2000):
        """CPU time of one call."""
        start = time.process_time()
        for _ in range(calls): self(mbs, 0)
        return (time.process_time() - start) / calls


class Model:
    """A system of Exudyn, the sensor of its tip and its torques."""

    def __init__(self, rows):
        self.container = exu.SystemContainer()
        self.mbs = self.container.AddSystem()
        self.torques = Torques(rows)
        self.ground = self.mbs.AddObject(item.ObjectGround())

    def finish(self, marker):
        self.sensor = self.mbs.AddSensor(item.SensorMarker(markerNumber=marker, storeInternal=True,
                                                           outputVariableType=exu.OutputVariableType.Position))
        self.mbs.SetPreStepUserFunction(self.torques)
        self.mbs.Assemble()
        return self


# ---- floating frame of reference ------------------------------------------------------------------------------------


def clamped_free(length, count, x):
    """Roots b of cos b cosh b = -1, modes (integral of their square: length) and their slopes at x; rows are modes."""
    b = np.array([brentq(lambda z: np.cos(z) + 1 / np.cosh(z), (k + 0.5) * np.pi - 0.4, (k + 0.5) * np.pi + 0.4, xtol=1e-15)
                  for k in range(count)])[:, None]
    s, z = (np.cosh(b) + np.cos(b)) / (np.sinh(b) + np.sin(b)), b * x / length
    phi = np.cosh(z) - np.cos(z) - s * (np.sinh(z) - np.sin(z))
    return b[:, 0], phi, b / length * (np.sinh(z) + np.sin(z) - s * (np.cosh(z) - np.cos(z)))


class BeamMesh(FEMinterface):
    """A beam as a mesh: point masses at Gauss points, so that sums over nodes are the integrals over the beam, and four
    massless nodes around the tip whose displacements -y phi', phi give the section its rotation. Half of each mass is above and
    half below the plane of motion: then no moment of inertia is zero, and planar motion is unchanged."""

    HALF_WIDTH = 0.1  # of the sections of nodes [m]

    def __init__(self, beam, points=40):
        super().__init__()
        L, count, r = beam["length"], beam["modes"]["y"]["count"], self.HALF_WIDTH
        gauss, weights = np.polynomial.legendre.leggauss(points)
        x = (gauss + 1) * L / 2
        b, phi, _ = clamped_free(L, count, x)
        _, tip, slope = clamped_free(L, count, np.array([L]))
        around = [(r, 0), (-r, 0), (0, r), (0, -r)]
        positions = [(x[i], 0, z) for i in range(points) for z in (r, -r)] + [(L, y, z) for y, z in around]
        masses = np.repeat(beam["mass_per_length"] * weights * L / 4, 2)
        zero = np.zeros(count)
        shapes = [row for i in range(points) for _ in "+-" for row in (zero, phi[:, i], zero)]
        shapes += [row for y, _ in around for row in (-y * slope[:, 0], tip[:, 0], zero)]
        self.tip_nodes = list(range(2 * points, 2 * points + 4))
        self.nodes = {"Position": np.array(positions)}
        self.modeBasis = {"matrix": np.array(shapes), "type": "NormalModes"}
        self.masses = np.diag(np.repeat(np.concatenate([masses, np.zeros(4)]), 3))
        self.modal_stiffness = np.diag(beam["EIz"] * b ** 4 / L ** 3)

    def GetMassMatrix(self, sparse=True): return self.masses

    def GetStiffnessMatrix(self, sparse=True):
        """A matrix K with Psi' K Psi = modal stiffness."""
        lift = np.linalg.pinv(self.modeBasis["matrix"])
        return lift.T @ self.modal_stiffness @ lift


def floating_frame(links, rows, planar):
    """In space: Euler parameters and revolute joints. Planar: Tait-Bryan angles and joints that hold only x and y, since nothing
    moves out of the plane; the fastest variant of this model."""
    nodes, revolute = (exu.NodeType.RotationRxyz, item.ObjectJointRevolute2D) if planar else (exu.NodeType.RotationEulerParameters, item.ObjectJointRevoluteZ)
    model = Model(rows)
    mbs, x = model.mbs, 0.0
    inner = mbs.AddMarker(item.MarkerBodyRigid(bodyNumber=model.ground, localPosition=[0, 0, 0]))
    for joint, link in enumerate(links):
        mesh = BeamMesh(link["beam"])
        body = ObjectFFRFreducedOrderInterface(mesh, rigidBodyNodeType=nodes) \
            .AddObjectFFRFreducedOrder(mbs, positionRef=[x, 0, 0], rotationMatrixRef=np.eye(3))
        outer = mbs.AddMarker(item.MarkerNodeRigid(nodeNumber=body["nRigidBody"]))
        mbs.AddObject(revolute(markerNumbers=[inner, outer]))
        model.torques.add(mbs, joint, inner if joint else None, outer)
        inner = mbs.AddMarker(item.MarkerSuperElementRigid(bodyNumber=body["oFFRFreducedOrder"], meshNodeNumbers=mesh.tip_nodes,
                                                           weightingFactors=[0.25] * 4))
        x += link["beam"]["length"]
    return model.finish(inner)


# ---- ANCF cables ----------------------------------------------------------------------------------------------------


def cables(links, rows, elements, axial_stiffness):
    """Planar ANCF cables (absolute nodal coordinates), `elements` in each link."""
    model = Model(rows)
    mbs, x = model.mbs, 0.0
    end = mbs.AddMarker(item.MarkerBodyPosition(bodyNumber=model.ground, localPosition=[0, 0, 0]))
    inner = None
    for joint, link in enumerate(links):
        beam = link["beam"]
        h = beam["length"] / elements
        nodes = [mbs.AddNode(item.NodePoint2DSlope1(referenceCoordinates=[x + i * h, 0, 1, 0])) for i in range(elements + 1)]
        bodies = [mbs.AddObject(item.ObjectANCFCable2D(
            physicsLength=h, physicsMassPerLength=beam["mass_per_length"], physicsBendingStiffness=beam["EIz"],
            physicsAxialStiffness=axial_stiffness, useReducedOrderIntegration=1, nodeNumbers=list(pair))) for pair in zip(nodes, nodes[1:])]
        start = mbs.AddMarker(item.MarkerNodePosition(nodeNumber=nodes[0]))
        mbs.AddObject(item.ObjectJointRevolute2D(markerNumbers=[end, start]))
        outer = mbs.AddMarker(item.MarkerBodyRigid(bodyNumber=bodies[0], localPosition=[0, 0, 0]))
        model.torques.add(mbs, joint, inner, outer)
        inner = mbs.AddMarker(item.MarkerBodyRigid(bodyNumber=bodies[-1], localPosition=[h, 0, 0]))
        end = mbs.AddMarker(item.MarkerNodePosition(nodeNumber=nodes[-1]))
        x += beam["length"]
    return model.finish(end)


# ---- integration ----------------------------------------------------------------------------------------------------


def settings(until, output_step, steps, newton, linear_solver):
    """Generalised alpha with modified Newton. newton: (new Jacobian in each step, relative tolerance, contractivity above
    which a new Jacobian is computed)."""
    s = exu.SimulationSettings()
    s.solution.file.write = False
    s.solution.sensors.writePeriod = output_step
    s.parallel.numberOfThreads = 1
    s.linearSolver.solverType = getattr(exu.LinearSolverType, linear_solver)
    t = s.timeIntegration
    t.endTime, t.numberOfSteps, t.verboseMode, t.adaptiveStep = until, steps, 0, False
    t.generalizedAlpha.spectralRadius = 0.95
    t.newton.useModifiedNewton = True
    t.newton.modifiedNewtonJacUpdatePerStep, t.newton.relativeTolerance, t.newton.modifiedNewtonContractivity = newton
    return s


def integrate(model, until, output_step, steps, newton, linear_solver):
    """(tip positions, CPU seconds of the solver); (None, seconds) if the Newton iteration fails. The time of the Python
    function that sets the torques is subtracted."""
    solver = exu.MainSolverImplicitSecondOrder()
    s = settings(until, output_step, steps, newton, linear_solver)
    python = steps * model.torques.seconds_per_step(model.mbs)
    start = time.process_time()
    done = solver.SolveSystem(model.mbs, s)
    seconds = time.process_time() - start - python
    tip = np.array(model.mbs.GetSensorStoredData(model.sensor))[:, 1:3]
    return (tip if done and len(tip) == round(until / output_step) + 1 else None), seconds
