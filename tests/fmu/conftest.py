"""FMUs for the tests, packed once."""

import pytest
from fmus import COMPANIONS, CONTROLLER, GENERATED, LISTED, ROBOTS, RUN_ALL, SMALL, TEST_ROBOTS, opened
from importer import unzip

PAYLOAD_ARM = """{"format": "limber-robot/1", "name": "payload_arm", "gravity": [0, -9.81, 0], "links": [
{"name": "upper", "joint": {"name": "shoulder", "type": "revolute", "axis": [0, 0, 1]},
 "beam": {"length": 1.0, "mass_per_length": 2.0, "EIz": 500.0, "damping_ratio": 0.01,
          "modes": {"y": {"shape": "clamped-free", "count": 2}}}},
{"name": "lower", "joint": {"name": "elbow", "type": "revolute", "axis": [0, 0, 1]},
 "beam": {"length": 0.8, "mass_per_length": 1.0, "EIz": 200.0, "damping_ratio": 0.01,
          "modes": {"y": {"shape": "clamped-free", "count": 1}}}, "payload": {"mass": 0.5}}]}"""


@pytest.fixture(scope="session")
def platforms(root):
    """What every FMU is for: Windows too where build/windows.sh has made the build ready for it."""
    ready = root / "build/out/windows/libraries.ready"
    return ["linux64", "win64"] if ready.is_file() and ready.read_text().strip() else ["linux64"]


@pytest.fixture(scope="session")
def canadarm_fmu(pack, root):
    return pack(root / "resources/canadarm.json")


@pytest.fixture(scope="session")
def canadarm(canadarm_fmu, tmp_path_factory):
    """The Canadarm's FMU, unzipped."""
    return unzip(canadarm_fmu, tmp_path_factory.mktemp("canadarm"))


@pytest.fixture(scope="session")
def arm(pack, tmp_path_factory):
    """A small arm with gravity, damping and a payload, unzipped."""
    folder = tmp_path_factory.mktemp("arm")
    robot = folder / "payload_arm.json"
    robot.write_text(PAYLOAD_ARM)
    return unzip(pack(robot), folder / "fmu")


EXCHANGED = ["arm", *(COMPANIONS if RUN_ALL else ["cylinder"])]


@pytest.fixture(scope="session", params=[*EXCHANGED, CONTROLLER])
def fmu(request):
    """An arm's FMU and those of companions, unzipped: what must hold for any of them."""
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="session", params=EXCHANGED)
def exchanged_fmu(request):
    """Those of them that are for model exchange too."""
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="session")
def drive(made):
    """drive(name, parameter=value, ...): the packed FMU of a drive."""
    return lambda name, **settings: made(f"{name}.fmu", "drive", name,
                                         *(word for key, value in settings.items() for word in ("--set", f"{key}={value!r}")))


MOVES = {"start": 1.4, "move[1].distance": 0.3, "move[2].time": 2.0, "move[2].duration": 0.5, "move[2].distance": -0.15}  # out and half way back


def companion(name, **settings):
    return pytest.fixture(lambda drive, tmp_path_factory: unzip(drive(name, **settings), tmp_path_factory.mktemp(name)), scope="session", name=name)


servo, cylinder, gear, spring, sling = map(companion, ("servo", "cylinder", "gear", "spring", "sling"))
axis = companion("axis", **MOVES)


CONTROLLER_OPTIONS = ["--set", "correction_bandwidth=20", "--set", "tip_compensation=2"]  # all of its parts at work


@pytest.fixture(scope="session")
def controller(made, tmp_path_factory):
    """The controller of a small arm."""
    folder = tmp_path_factory.mktemp("controller")
    robot = folder / "payload_arm.json"
    robot.write_text(PAYLOAD_ARM)
    return unzip(made("controller.fmu", "drive", "controller", robot, *CONTROLLER_OPTIONS), folder / "fmu")


# ---- the list of fmus.py ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def listed(pack, drive, made):
    """listed(name): the FMU of that name in the list."""

    def of(name):
        if name in COMPANIONS: return drive(name)
        if name == CONTROLLER: return made("controller.fmu", "drive", "controller", SMALL, *CONTROLLER_OPTIONS)
        if name == GENERATED: return pack(SMALL, "--generated")
        return pack(ROBOTS.get(name) or TEST_ROBOTS / f"{name}.json")

    return of


@pytest.fixture(scope="session", params=LISTED)
def every_fmu(request, listed, tmp_path_factory):
    """Any FMU of the list, unzipped."""
    package = opened(listed(request.param), tmp_path_factory.mktemp("every"))
    package.name = request.param
    return package
