"""An importer of the plainest kind: every FMI function as it is, its status returned and not judged, every message kept."""

import ctypes as ct
import os
import re
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

OK, WARNING, DISCARD, ERROR, FATAL, PENDING = range(6)
MODEL_EXCHANGE, CO_SIMULATION = 0, 1

LOGGER = ct.CFUNCTYPE(None, ct.c_void_p, ct.c_char_p, ct.c_int, ct.c_char_p, ct.c_char_p)  # takes no further arguments
ALLOCATE = ct.CFUNCTYPE(ct.c_void_p, ct.c_size_t, ct.c_size_t)
FREE = ct.CFUNCTYPE(None, ct.c_void_p)
FINISHED = ct.CFUNCTYPE(None, ct.c_void_p, ct.c_int)


class Callbacks(ct.Structure):
    _fields_ = [("logger", LOGGER), ("allocate", ALLOCATE), ("free", FREE), ("finished", FINISHED),
                ("environment", ct.c_void_p)]


class EventInfo(ct.Structure):
    _fields_ = [(name, ct.c_int) for name in ("new_states", "terminate", "nominals", "values", "next_defined")] \
        + [("next_time", ct.c_double)]


class Package:
    """An FMU that lies unzipped in a folder."""

    def __init__(self, folder):
        self.folder = Path(folder)
        root = ET.parse(self.folder / "modelDescription.xml").getroot()
        self.guid = root.get("guid")
        self.exchanged = root.find("ModelExchange") is not None
        identifier = root.find("CoSimulation").get("modelIdentifier")
        self.file = self.folder / "binaries/linux64" / f"{identifier}.so"
        self.dll = self.folder / "binaries/win64" / f"{identifier}.dll"
        self.categories = [category.get("name") for category in root.iterfind("LogCategories/Category")]
        variables = list(root.iterfind("ModelVariables/ScalarVariable"))
        self.reference = {v.get("name"): int(v.get("valueReference")) for v in variables}
        self.causality = {v.get("name"): v.get("causality", "local") for v in variables}
        self.type = {v.get("name"): v[0].tag for v in variables}
        derivatives = [int(u.get("index")) for u in root.iterfind("ModelStructure/Derivatives/Unknown")]
        self.states = [variables[int(variables[i - 1][0].get("derivative")) - 1].get("name") for i in derivatives]
        self.library = ct.CDLL(str(self.file), mode=os.RTLD_LOCAL)
        self.library.fmi2Instantiate.restype = ct.c_void_p

    @property
    def inputs(self):
        return [name for name, causality in self.causality.items() if causality == "input"]

    @property
    def outputs(self):
        return [name for name, causality in self.causality.items() if causality == "output"]

    @property
    def watched(self):
        """Two numbers that tell how it goes: where the tip is, or else the first outputs."""
        return self.named(r"tip\.position\[[12]\]") or self.outputs[:2]

    def named(self, pattern):
        return [name for name in self.reference if re.fullmatch(pattern, name)]

    @property
    def resources(self):
        return self.folder / "resources"


def unzip(fmu, folder):
    with zipfile.ZipFile(fmu) as archive: archive.extractall(folder)
    return Package(folder)


class Instance:
    """One instance; `log` holds (status, category, text). c is None where instantiation was refused."""

    def __init__(self, package, kind=CO_SIMULATION, location=..., guid=..., logging=False, logger=True):
        self.package, self.log, self.kind = package, [], kind
        self.callbacks = Callbacks()
        if logger: self.callbacks.logger = LOGGER(self._logged)
        location = package.resources.as_uri() if location is ... else location
        encode = lambda text: None if text is None else os.fsencode(text)
        self.c = package.library.fmi2Instantiate(b"arm", kind, encode(package.guid if guid is ... else guid), encode(location),
                                                 ct.byref(self.callbacks), 0, int(logging))

    def _logged(self, environment, name, status, category, message):
        self.log.append((status, category.decode(), message.decode()))

    def __getattr__(self, name):
        """instance.DoStep(...) is fmi2DoStep of this instance."""
        function = getattr(self.package.library, "fmi2" + name)
        return lambda *arguments: function(ct.c_void_p(self.c), *map(as_c, arguments))

    def free(self):
        self.package.library.fmi2FreeInstance(ct.c_void_p(self.c))
        self.c = None

    def initialise(self, start=0.0, stop=None, tolerance=None):
        assert self.SetupExperiment(int(tolerance is not None), float(tolerance or 0), float(start),
                                    int(stop is not None), float(stop or 0)) == OK
        assert self.EnterInitializationMode() == OK
        assert self.ExitInitializationMode() == OK
        return self

    def references(self, names):
        return (ct.c_uint * len(names))(*[self.package.reference[name] for name in names])

    def get(self, *names):
        value = (ct.c_double * len(names))()
        assert self.GetReal(self.references(names), len(names), value) == OK, self.log[-1:]
        return value[0] if len(names) == 1 else list(value)

    def set(self, values):
        return self.SetReal(self.references(list(values)), len(values), (ct.c_double * len(values))(*values.values()))

    def set_integer(self, name, value):
        return self.SetInteger(self.references([name]), 1, (ct.c_int * 1)(value))

    def step(self, t, h):
        return self.DoStep(float(t), float(h), 1)

    def save(self):
        state = ct.c_void_p()
        assert self.GetFMUstate(ct.byref(state)) == OK
        return state

    def serialise(self):
        state, size = self.save(), ct.c_size_t()
        assert self.SerializedFMUstateSize(state, ct.byref(size)) == OK
        content = (ct.c_char * size.value)()
        assert self.SerializeFMUstate(state, content, size) == OK
        assert self.FreeFMUstate(ct.byref(state)) == OK
        return bytes(content)

    def deserialise(self, content):
        """The state and the status."""
        state = ct.c_void_p()
        buffer = (ct.c_char * max(len(content), 1)).from_buffer_copy(content or b"\0")
        status = self.DeSerializeFMUstate(buffer, len(content), ct.byref(state))
        return state, status


def as_c(value):
    if isinstance(value, float): return ct.c_double(value)
    if isinstance(value, int): return ct.c_size_t(value)  # also right for an int of the same sign and size
    return value
