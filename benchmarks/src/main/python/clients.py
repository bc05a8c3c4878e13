"""Reads the GPUs through other clients: nvidia-smi, nvidia-ml-py, and the C program sampler_loop.

A snapshot is {GPU's UUID: {reading: Seen or Missing}}.
"""

import json
import re
import subprocess
import xml.etree.ElementTree
from collections import namedtuple

from readings import IDENTITY, LINK_READINGS, NOT_PRINTED, READINGS, FieldRefused, Nvml, Smi

Seen = namedtuple("Seen", "value resolution")
Missing = namedtuple("Missing", "cause")  # the client was called, and has no value
NotUnderstood = namedtuple("NotUnderstood", "cause")  # the client shows a value that readings.py lacks
Unasked = namedtuple("Unasked", "cause")  # this client has no call for the reading

PROCESSES = "processes"
LINKS_MAX = 36  # nvml.h 13.3, NVML_NVLINK_MAX_LINKS
NO_PROCESS_MEMORY = None  # the client shows the process and not its memory


class Unavailable(Exception):
    """This client cannot be used on this machine, or no longer; the message is the cause."""


def run(command, **options):
    """Runs a program to its end. Raises Unavailable if it does not end."""
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, timeout=60, **options)
    except subprocess.TimeoutExpired:
        raise Unavailable("%s did not end within 60 s" % command[0])


def link_key(link, key):
    return "links[%d].%s" % (link, key)


# ---- nvidia-smi ---------------------------------------------------------------------------------

# Texts that nvidia-smi prints instead of a value; the latter are error texts of the library.
NO_VALUE = re.compile(
    r"|\[?N/A\]?|\[?Not Supported\]?|Function Not Found|Unknown Error|\[?Unknown Error\]?|Insufficient Permissions"
    r"|GPU is lost|GPU requires reset|Not Found|ERR!|Requested functionality has been deprecated"
)


class NvidiaSmi:
    name = "nvidia-smi"

    def __init__(self, program):
        self.program = program
        try:
            self.version = self._version()
        except OSError as error:
            raise Unavailable("%s: %s" % (program, error))

    def _version(self):
        """Returns the version from the head of the help text, since --version came with 545."""
        found = re.search(r"\bv(\d+\.[\d.]+)", self._run("--help"))
        return found.group(1) if found else "of unknown version"

    def _run(self, *arguments):
        done = run([self.program] + list(arguments), stderr=subprocess.STDOUT)
        return done.stdout.decode("utf-8", "replace")

    def look(self):
        return {gpu.findtext("uuid").strip(): self.gpu(gpu) for gpu in self._log().iter("gpu")}

    def _log(self):
        text = self._run("-q", "-x")
        try:
            return xml.etree.ElementTree.fromstring(text)
        except xml.etree.ElementTree.ParseError as error:
            raise Unavailable("nvidia-smi -q -x is no XML (%s)" % error)

    def driver(self):
        log = self._log()
        return {
            "driverVersion": Seen(log.findtext("driver_version"), None),
            "cudaVersion": Seen(log.findtext("cuda_version"), None),
            "libraryVersion": Unasked(NOT_PRINTED.cause),
        }

    @staticmethod
    def gpu(element):
        look = {row.key: NvidiaSmi.reading(element, row.smi) for row in READINGS + IDENTITY}
        look[PROCESSES] = NvidiaSmi.processes(element.find("processes"))
        return look

    @staticmethod
    def processes(element):
        text = "nothing" if element is None else (element.text or "").strip()
        if text and NO_VALUE.fullmatch(text) or element is None:
            return Missing("printed as %s" % text)
        return Seen({int(p.findtext("pid")): NvidiaSmi.memory(p) for p in element.iter("process_info")}, 1 << 20)

    @staticmethod
    def memory(process):
        text = process.findtext("used_memory", "N/A").strip()
        return int(text[:-4]) << 20 if text.endswith(" MiB") else NO_PROCESS_MEMORY

    @staticmethod
    def reading(gpu, source):
        if not isinstance(source, Smi):
            return Unasked(source.cause)
        for path in source.paths:
            found = [gpu.find(part) for part in ((path,) if isinstance(path, str) else path)]
            if all(element is not None for element in found):
                return NvidiaSmi.parsed(found, source.parse, path)
        return Unasked("no element %s in the XML of this version and board" % (source.paths[0],))

    @staticmethod
    def parsed(elements, parse, path):
        if getattr(parse, "whole_element", False):
            return Seen(*parse(elements[0]))
        total, resolution = None, None
        for element in elements:
            text = (element.text or "").strip()
            if NO_VALUE.fullmatch(text):
                return Missing("printed as %s" % (text or "nothing"))
            try:
                value, resolution = parse(text)
            except (ValueError, KeyError) as error:
                return NotUnderstood("%s: %s" % (path, error))
            total = value if total is None else total + value
        return Seen(total, resolution)


# ---- nvidia-ml-py -------------------------------------------------------------------------------


class NvidiaMlPy:
    name = "nvidia-ml-py"

    def __init__(self):
        try:
            import pynvml
        except ImportError as error:
            raise Unavailable(str(error))
        self.nvml = pynvml
        self.version = package_version("nvidia-ml-py")
        try:
            pynvml.nvmlInit()
        except pynvml.NVMLError as error:
            raise Unavailable("nvmlInit: %s" % error)

    def look(self):
        try:
            return self.gpus()
        except self.nvml.NVMLError as error:
            raise Unavailable(str(error))

    def gpus(self):
        nvml = self.nvml
        look = {}
        for index in range(nvml.nvmlDeviceGetCount()):
            device = nvml.nvmlDeviceGetHandleByIndex(index)
            uuid = nvml.nvmlDeviceGetUUID(device)
            look[uuid.decode() if isinstance(uuid, bytes) else uuid] = self.gpu(device)
        return look

    def driver(self):
        def text(name, form=lambda v: v.decode() if isinstance(v, bytes) else v):
            return self.ask(lambda: form(getattr(self.nvml, name)()))

        return {
            "driverVersion": text("nvmlSystemGetDriverVersion"),
            "libraryVersion": text("nvmlSystemGetNVMLVersion"),
            "cudaVersion": text("nvmlSystemGetCudaDriverVersion", lambda v: "%d.%d" % (v // 1000, v % 1000 // 10)),
        }

    def gpu(self, device):
        look = {}
        for row in READINGS + IDENTITY:
            look[row.key] = self.ask(lambda: row.nvml.call(self.nvml, device)) if isinstance(row.nvml, Nvml) else Unasked(row.nvml.cause)
        for link in range(LINKS_MAX):
            for row in LINK_READINGS:
                look[link_key(link, row.key)] = self.ask(lambda: row.nvml.call(self.nvml, device, link))
        look[PROCESSES] = self.ask(lambda: self.processes(device))
        return look

    def processes(self, device):
        known = {}
        for kind in ("Compute", "Graphics", "MPSCompute"):
            for process in getattr(self.nvml, "nvmlDeviceGet%sRunningProcesses" % kind)(device):
                before = known.get(process.pid)
                now = process.usedGpuMemory
                known[process.pid] = now if before is None else max(before, now or 0)
        return known

    def ask(self, question):
        try:
            return Seen(question(), 0)
        except FieldRefused as error:
            return Missing(str(error))
        except self.nvml.NVMLError as error:
            return Missing("nvmlReturn %d" % error.value)
        except getattr(self.nvml, "NVMLLibraryMismatchError", ()) as error:
            return Unasked("this nvidia-ml-py refuses a library of this age: %s" % str(error).partition(".")[0])
        except AttributeError as error:
            return Missing("this nvidia-ml-py has no such call: %s" % error)
        except (ValueError, IndexError) as error:
            return Missing("nvidia-ml-py does not understand the library's answer: %s" % error)


def package_version(name):
    try:
        from importlib.metadata import version

        return version(name)
    except Exception:  # an unpacked file without metadata still works
        return "unknown"


# ---- the C program ------------------------------------------------------------------------------

FACTORS = {"watts": 1e-3, "joules": 1e-3, "hertz": 1e6, "ratio": 1e-2, "seconds": 1e-9, "bytes_per_second": 1e6}
IN_KIBIBYTES = ("nvlink_transmitted_bytes", "nvlink_received_bytes")


def base(key, raw):
    """NVML's unit to the base unit that the reading's name ends with."""
    if key in IN_KIBIBYTES:
        return raw * 1024
    if key.endswith("bytes_per_second"):
        return raw * 1e6
    return raw * FACTORS.get(key.rsplit("_", 1)[-1], 1)


class CProgram:
    name = "C"

    def __init__(self, program, library="libnvidia-ml.so.1"):
        self.command = [program, library, "0"]
        self.version = "sampler_loop"

    def look(self):
        done = run(self.command, input=b"values\n", stderr=subprocess.PIPE)
        if done.returncode != 0:
            raise Unavailable(done.stderr.decode("utf-8", "replace").strip())
        return [self.gpu(gpu) for gpu in json.loads(done.stdout.decode())]

    @staticmethod
    def gpu(values):
        look = {}
        flat = dict(values)
        for link, readings in enumerate(flat.pop("links")):
            flat.update((link_key(link, key), value) for key, value in readings.items())
        for key, value in flat.items():
            name = key.rsplit(".", 1)[-1]
            look[key] = Missing("nvmlReturn %d" % value["code"]) if isinstance(value, dict) else Seen(base(name, value), 0)
        return look

    def driver(self):
        return {}
