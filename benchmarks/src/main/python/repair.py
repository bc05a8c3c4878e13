#!/usr/bin/env python3
"""Repairs a GPU as a server without Kubernetes does, with an nvidia-smi that records and resets nothing. Writes JSON.

The faults are lines of a kernel log of this test's own, and the boot is another boot ID. All else is real: the daemon lets go of the driver,
holders of the GPU are found, and the checks after the repair compute and copy on it.
"""

import argparse
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid

from vram import Loop, MIB, collected, not_run, row

MEMORY_LIMIT = 768 * MIB  # MemoryMax of the unit, and the limit of the DaemonSet
REPAIR_SECONDS = 240
START_SECONDS = 30
POLL_SECONDS = 0.05
ASK_SECONDS = 0.2
# Roots of the memory controller, version 2 and 1, with the files of a group.
MEMORY_GROUPS = (("/sys/fs/cgroup", "memory.max", "memory.peak"), ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.max_usage_in_bytes"))
BOOT_ID = "sys/kernel/random/boot_id"

# Stands for nvidia-smi: records each call, and at a reset every process that has a file of the driver open. It reports a reset as the real one does.
RECORDER = """#!{python}
import os, subprocess, sys, time
sys.dont_write_bytecode = True
sys.path.insert(0, "{scripts}")
from repair import driver_files
words = sys.argv[1:]
open_by = []
if "--gpu-reset" in words:
    open_by = [f"{{process}}:{{file}}" for process in filter(str.isdigit, os.listdir("/proc")) for file in driver_files(process)]
with open("{log}", "a") as log:
    log.write("%f\\t%s\\t%s\\n" % (time.time(), " ".join(words), " ".join(open_by)))
if "-pm" in words:
    print("Disabled persistence mode for GPU." if words[-1] == "0" else "Enabled persistence mode for GPU.")
elif "--gpu-reset" in words:
    query = ["{real}", "--query-gpu=gpu_uuid,pci.bus_id", "--format=csv,noheader"]
    for line in subprocess.run(query, capture_output=True, text=True).stdout.splitlines():
        uuid, address = line.split(", ")
        if uuid in words[words.index("-i") + 1].split(","):
            print("GPU %s was successfully reset." % address)
elif words[0] != "reboot":
    os.execvp("{real}", ["nvidia-smi"] + words)
"""


class Server:
    """A daemon that repairs this server, armed, and the files around it."""

    def __init__(self, options, folder):
        self.program, self.folder, self.simulated = options.gpuwarden, pathlib.Path(folder), options.small
        self.log, self.calls = self.folder / "log", self.folder / "calls"
        self.kernel_log, self.acknowledgement = self.folder / "kmsg", self.folder / "acknowledgement"
        for file in (self.calls, self.kernel_log, self.acknowledgement):
            file.touch()
        self.smi = self.folder / "nvidia-smi"
        scripts, real = pathlib.Path(__file__).resolve().parent, os.environ.get("NVIDIA_SMI", "nvidia-smi")
        self.smi.write_text(RECORDER.format(python=sys.executable, scripts=scripts, log=self.calls, real=real))
        self.smi.chmod(0o755)
        self.environment = dict(
            os.environ, GPUWARDEN_KERNEL_LOG_SOURCE="kmsg", GPUWARDEN_KERNEL_LOG_PATH=str(self.kernel_log), GPUWARDEN_STORE_PATH=str(self.folder / "events.db"),
            GPUWARDEN_RESET_NVIDIA_SMI=str(self.smi), GPUWARDEN_RESET_KERNEL_LOG=str(self.acknowledgement), GPUWARDEN_GRPC_SOCKET=str(self.folder / "socket"))
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.records = 0
        self.peak_bytes = 0
        self.group = self.peak_file = None
        self.daemon = None

    def limited_group(self):
        """Makes a control group with the unit's limit. Without one, the memory is only read."""
        for root, limit, peak in MEMORY_GROUPS:
            group = pathlib.Path(root, "gpuwarden-" + str(uuid.uuid4()))
            if not pathlib.Path(root, "cgroup.procs").exists():
                continue
            try:
                group.mkdir()
                (group / limit).write_text(str(MEMORY_LIMIT))
                (group / peak).read_text()
                self.group, self.peak_file = group, group / peak
                return
            except OSError:
                self.remove_group(group)

    def remove_group(self, group):
        self.group = None
        if group and group.is_dir():
            group.rmdir()

    def start(self, boot_id=None):
        """Starts the daemon, in a boot of this ID if there is one, and waits for its first readings."""
        command = [self.program, "daemon", "--web.listen-address=127.0.0.1:%d" % self.port, "--events.socket=none", "--repair.mode=armed", "--repair.settle=1s",
                   "--repair.patience=2s", "--repair.reboot=always", "--repair.reboot-command=%s,reboot" % self.smi]
        if boot_id and self.simulated:
            pathlib.Path(os.environ["GPUWARDEN_PATH_PROCFS"], BOOT_ID).write_text(boot_id + "\n")
        elif boot_id:
            (self.folder / "boot_id").write_text(boot_id + "\n")
            command = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /proc/%s && exec "$@"' % BOOT_ID, str(self.folder / "boot_id")] + command
        self.peak_bytes = 0
        self.limited_group()
        if self.group:
            command = ["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', str(self.group)] + command
        with open(self.log, "a") as log:
            self.daemon = subprocess.Popen(command, env=self.environment, stdout=log, stderr=log)
        self.await_true("a daemon with readings of its GPUs", START_SECONDS, self.reads_all)

    def stop(self):
        if self.daemon:
            self.daemon.send_signal(signal.SIGTERM)
            self.daemon.wait(60)
            self.daemon = None
            self.remove_group(self.group)

    def run(self, *words, timeout=120):
        return subprocess.run([self.program, *words], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=timeout,
                              check=False)

    def read(self, *words):
        try:
            return json.loads(self.run(*words, "-o", "json").stdout)
        except ValueError:
            return {}

    def page(self):
        """Returns the JSON of the node's page, which takes far less than a command; empty while it is not served."""
        try:
            with urllib.request.urlopen("http://127.0.0.1:%d/api/v1/node" % self.port, timeout=10) as answer:
                return json.load(answer)
        except (OSError, ValueError):
            return {}

    def reads_all(self):
        gpus = self.page().get("gpus")
        return bool(gpus) and all(gpu["state"] == "answering" for gpu in gpus)

    def fit(self):
        return self.page().get("verdict") == "fit"

    def ended(self):
        """Returns the number of repairs that the record states as ended."""
        record = self.folder / "events-repairs.jsonl"
        return sum(json.loads(line)["event"] == "end" for line in record.read_text().splitlines(True) if line.endswith("\n")) if record.exists() else 0

    def last_repair(self):
        return self.read("repairs")["repairs"][-1]

    def kernel_line(self, text, facility=0):
        self.records += 1
        with open(self.kernel_log, "a") as log:
            log.write("%d,%d,%d,-;%s\n" % (facility * 8 + 3, self.records, time.clock_gettime(time.CLOCK_BOOTTIME) * 1e6, text))

    def pass_acknowledgement(self):
        """The kernel shows what a process writes to its log as a record of that process."""
        text = self.acknowledgement.read_text()
        if text.endswith("\n"):
            self.acknowledgement.write_text("")
            for line in text.splitlines():
                self.kernel_line(re.sub(r"^<\d+>", "", line), facility=1)

    def await_true(self, what, seconds, condition):
        """Waits, passes acknowledgements on, and notes the memory of the daemon with all that it started."""
        end, asked, ready = time.monotonic() + seconds, 0, False
        while not ready:
            self.pass_acknowledgement()
            self.note_memory()
            if time.monotonic() > end or (self.daemon and self.daemon.poll() is not None):
                raise RuntimeError("expected %s within %d s; the daemon's log: %s" % (what, seconds, self.log.read_text()[-2000:]))
            if time.monotonic() - asked > ASK_SECONDS:
                ready, asked = condition(), time.monotonic()
            time.sleep(POLL_SECONDS)

    def note_memory(self):
        if self.group:
            self.peak_bytes = int(self.peak_file.read_text())
        elif self.daemon:
            self.peak_bytes = max(self.peak_bytes, sum(map(resident_bytes, descendants(self.daemon.pid))))

    def memory_row(self, what):
        how = "at most, by a control group with that limit" if self.group else "resident at most, read every %d ms" % (POLL_SECONDS * 1000)
        return row("host memory of the daemon and its children " + what, self.peak_bytes <= MEMORY_LIMIT,
                   "%d MiB %s, limit of the unit %d MiB" % (self.peak_bytes / MIB, how, MEMORY_LIMIT / MIB))

    def recorded(self, words):
        """Returns the recorded calls of nvidia-smi with these words, each with the open files of the driver."""
        return [line.split("\t") for line in self.calls.read_text().splitlines() if words in line.split("\t")[1]]


def descendants(process):
    yield process
    try:
        tasks = os.listdir("/proc/%d/task" % process)
        for task in tasks:
            with open("/proc/%d/task/%s/children" % (process, task)) as children:
                for child in children.read().split():
                    yield from descendants(int(child))
    except OSError:
        return


def resident_bytes(process):
    try:
        with open("/proc/%d/statm" % process) as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
    except OSError:
        return 0


def driver_files(process):
    """Returns the driver's files that a process has open; none of a process that has ended, or that this user may not read."""
    folder, files = "/proc/%s/fd" % process, []
    try:
        for fd in os.listdir(folder):
            try:
                files.append(os.readlink(folder + "/" + fd))
            except FileNotFoundError:
                continue  # it was closed
    except OSError:
        pass
    return [file for file in files if re.search(r"/nvidia(\d+|ctl|-uvm)$", file)]


def free_gpu(server):
    """Returns a GPU that no process holds: a simulated node has workloads."""
    holders = {gpu["uuid"]: gpu.get("holders") for gpu in server.read("vram", "top", "--by", "process")["gpus"]}
    gpus = server.read("scan").get("gpus", [])
    free = [gpu for gpu in gpus if holders.get(gpu["uuid"]) == []]
    if not free:
        raise RuntimeError("expected a GPU without processes, seen %s" % holders)
    return free[0]


# ---- rows ---------------------------------------------------------------------------------------


def held(options, server, gpu):
    """A process that has the GPU open is named, and nvidia-smi is not called."""
    loop = Loop(options.compute_loop, options.libcuda, options.ptx)
    try:
        loop.ask("trivial 1")
        run = server.run("gpu-reset", gpu["uuid"], "--arm", "--reset.patience=1s")
        text = " ".join((run.stdout + run.stderr).split())
        named = re.search(r"process %d \(\S+\)" % loop.process.pid, text)
        calls = server.recorded("")
        yield row("reset of a GPU that a process holds", run.returncode == 1 and named is not None and not calls,
                  "exit code %d, %s, %d calls of nvidia-smi" % (run.returncode, "named " + named.group() if named else "did not name the process: " + text[-400:], len(calls)))
    finally:
        loop.close()


def by_reset(server, gpu):
    before, begun = driver_files(server.daemon.pid), time.monotonic()
    server.kernel_line("NVRM: Xid (PCI:%s): 48, pid=1, name=none, An uncorrectable double bit error (DBE) has been detected on GPU." % gpu["pci"].rsplit(".", 1)[0])
    server.await_true("a repair that ends", REPAIR_SECONDS, lambda: server.ended() == 1)
    repair = server.last_repair()
    server.await_true("a node without a fault", 30, server.fit)
    seconds = time.monotonic() - begun
    resets = server.recorded("--gpu-reset")
    yield row("XID 48 to the end of its fault, with a reset that is only recorded", repair["outcome"] == "succeeded" and len(resets) == 1,
              "%.1f s, %s: %s; %s" % (seconds, repair["outcome"], repair["detail"], "; ".join(repair["steps"])))
    # Other simulated nodes of this machine have folders of their own.
    folders = {os.path.dirname(file) for file in before}
    open_by = [each for each in resets[0][2].split() if os.path.dirname(each.split(":", 1)[1]) in folders] if resets else []
    own = [each for each in open_by if each.endswith("/nvidia%d" % gpu["minor"])]
    yield row("the file of the GPU that any process has open at its reset", bool(resets and before) and not own,
              "%s; of the driver's other files, for other GPUs, %d; the daemon had %d open before" % (
                  " ".join(own) or ("none" if resets else "no reset"), len(open_by) - len(own), len(before)))
    modes = [call[1].split()[-1] for call in server.recorded("-pm")]
    yield row("persistence mode around the reset", modes == ["0", "1"], "turned off and on: %s" % modes)
    yield server.memory_row("in a reset with its checks")


def by_boot(server, gpu):
    server.kernel_line("NVRM: Xid (PCI:%s): 79, pid=1, name=none, GPU has fallen off the bus." % gpu["pci"].rsplit(".", 1)[0])
    server.await_true("a reboot that was requested", REPAIR_SECONDS, lambda: server.recorded("reboot"))
    server.stop()
    server.kernel_log.write_text("")
    server.records = 0
    begun = time.monotonic()
    server.start(boot_id=str(uuid.uuid4()))
    server.await_true("a reboot that succeeds", REPAIR_SECONDS, lambda: server.ended() == 2)
    repair = server.last_repair()
    server.await_true("a node without a fault", 30, server.fit)
    yield row("the daemon's start after a boot to the end of the fault, checks on that GPU included", repair["outcome"] == "succeeded",
              "%.1f s, %s: %s" % (time.monotonic() - begun, repair["outcome"], repair["detail"]))
    yield server.memory_row("in the checks after a boot")


def released(server):
    """The files of the driver that are open, and the libraries that are mapped, while the daemon has released it.

    Only libnvidia-ml must be unloaded, so that the next opening reads an upgraded one: NVML loads libcuda for its version, and libcuda stays loaded.
    """
    daemon = server.daemon.pid
    look = 'ls -l /proc/%d/fd | grep -c "/nvidia[0-9cu-]"; grep -c "libnvidia-ml[.]" /proc/%d/maps; grep -c "libcuda[.]" /proc/%d/maps' % (daemon, daemon, daemon)
    begun = time.monotonic()
    run = server.run("release-driver", "--", "sh", "-c", look)
    server.await_true("a daemon that reads its GPUs", 30, server.reads_all)
    seconds = time.monotonic() - begun
    opened, nvml, cuda = (run.stdout.split() + ["?", "?", "?"])[:3]
    yield row("files of the driver that the daemon has open, and parts of libnvidia-ml that it has mapped, while it is released", (opened, nvml) == ("0", "0"),
              "%s and %s, of libcuda %s; %.1f s with the way back" % (opened, nvml, cuda, seconds))


# ---- main ---------------------------------------------------------------------------------------


def repairs(options):
    with tempfile.TemporaryDirectory() as folder:
        server = Server(options, folder)
        try:
            server.start()
            gpu = free_gpu(server)
            yield from collected("reset of a GPU that a process holds", lambda: held(options, server, gpu))
            yield from collected("repair by a reset", lambda: by_reset(server, gpu))
            yield from collected("release of the driver", lambda: released(server))
            yield from collected("repair by a reboot", lambda: by_boot(server, gpu))
        finally:
            server.stop()


def main(arguments):
    parser = argparse.ArgumentParser()
    for name in ("gpuwarden", "compute-loop", "libcuda", "ptx", "output"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--small", action="store_true", help="memory of a simulated GPU is this machine's")
    options = parser.parse_args(arguments)
    rows = collected("repair", lambda: repairs(options))
    if options.small:
        for each in rows:
            each["state"] = "reported" if each["state"] == "passed" and "memory" in each["what"] else each["state"]
    with open(options.output, "w") as out:
        json.dump(rows, out, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
