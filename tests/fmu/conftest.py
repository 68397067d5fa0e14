"""FMUs for the tests, packed once."""

import subprocess

import pytest
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


EXCHANGED = ["arm", "servo", "cylinder", "gear", "axis", "sling"]


@pytest.fixture(scope="session", params=[*EXCHANGED, "controller"])
def fmu(request):
    """An arm's FMU and those of its companions, unzipped: what must hold for any of them."""
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="session", params=EXCHANGED)
def exchanged_fmu(request):
    """Those of them that are for model exchange too."""
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="session")
def drive(limber, tmp_path_factory):
    """drive(name, parameter=value, ...): the packed FMU of a drive."""
    folder = tmp_path_factory.mktemp("drives")

    def of(name, **settings):
        file = folder / f"{name}{len(list(folder.iterdir()))}.fmu"
        words = [word for key, value in settings.items() for word in ("--set", f"{key}={value!r}")]
        result = subprocess.run([limber, "drive", name, "-o", file, *words], capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        return file

    return of


@pytest.fixture(scope="session")
def servo(drive, tmp_path_factory):
    return unzip(drive("servo"), tmp_path_factory.mktemp("servo"))


@pytest.fixture(scope="session")
def cylinder(drive, tmp_path_factory):
    return unzip(drive("cylinder"), tmp_path_factory.mktemp("cylinder"))


@pytest.fixture(scope="session")
def gear(drive, tmp_path_factory):
    return unzip(drive("gear"), tmp_path_factory.mktemp("gear"))


@pytest.fixture(scope="session")
def spring(drive, tmp_path_factory):
    return unzip(drive("spring"), tmp_path_factory.mktemp("spring"))


@pytest.fixture(scope="session")
def axis(drive, tmp_path_factory):
    """An axis that moves, out and half way back."""
    settings = {"start": 1.4, "move[1].distance": 0.3, "move[2].time": 2.0, "move[2].duration": 0.5, "move[2].distance": -0.15}
    return unzip(drive("axis", **settings), tmp_path_factory.mktemp("axis"))


@pytest.fixture(scope="session")
def sling(drive, tmp_path_factory):
    return unzip(drive("sling"), tmp_path_factory.mktemp("sling"))


@pytest.fixture(scope="session")
def controller(limber, tmp_path_factory):
    """The controller of a small arm, with all of its parts at work."""
    folder = tmp_path_factory.mktemp("controller")
    robot = folder / "payload_arm.json"
    robot.write_text(PAYLOAD_ARM)
    words = ["--set", "correction_bandwidth=20", "--set", "tip_compensation=2"]
    result = subprocess.run([limber, "drive", "controller", robot, "-o", folder / "controller.fmu", *words], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return unzip(folder / "controller.fmu", folder / "fmu")
