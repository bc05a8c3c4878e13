#!/usr/bin/env python3
"""Measures what sampling for the VRAM watchdog costs the driver and a workload, and compares memory in use with that of its processes. Writes JSON."""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

MIB = 1 << 20
GIB = 1 << 30

# Shares of the time, as fractions.
MEMORY_GOAL = 0.0001  # four memory readings a second
REST_GOAL = 0.001  # lists of processes every 15 s
PRESSURE_GOAL = 0.02  # lists of processes every second
SLOWDOWN_GOAL = 0.002
UNATTRIBUTED_GOAL = 0.01  # of the memory in use, or 64 MiB if that is more
UNATTRIBUTED_LEAST = 64 * MIB

CALLS = 10000
HOLDERS = 10
RATES_HZ = (1, 4, 10)
RUN_SECONDS = 5
BREACHES = 20


def row(what, passed, why):
    return {"what": what, "state": "passed" if passed else "failed", "why": why}


def not_run(what, why):
    return {"what": what, "state": "not run", "why": why}


class Loop:
    """A C program that answers one line to each line."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                                        bufsize=1, env=dict(os.environ, CUDA_DEVICE_ORDER="PCI_BUS_ID"))

    def send(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # its end shows in the answer

    def answer(self):
        line = self.process.stdout.readline().strip()
        if not line:
            raise RuntimeError(self.process.stderr.read().strip() or "the C program ended without an answer")
        return line

    def ask(self, line):
        self.send(line)
        return self.answer()

    def close(self):
        self.process.kill()
        self.process.communicate()


# ---- the driver's time --------------------------------------------------------------------------


def duties(memory, processes):
    """Rows of the driver's time, from two answers of vram_loop. The time of a call is at least that for which it holds the driver's lock."""
    gpus, p50, p99, mean = map(int, memory.split())
    share = 4 * gpus * mean / 1e9
    yield row("memory readings at 4 Hz, share of the driver's lock", share <= MEMORY_GOAL,
              "%d GPUs, %d calls, p50 %.1f us, p99 %.1f us: at most %.4f %%, goal %.2f %%" % (gpus, CALLS, p50 / 1e3, p99 / 1e3, 100 * share, 100 * MEMORY_GOAL))
    gpus, p50, p99, mean = map(int, processes.split())
    for what, seconds, goal in (("at rest, every 15 s", 15, REST_GOAL), ("under pressure, every second", 1, PRESSURE_GOAL)):
        share = gpus * mean / 1e9 / seconds
        yield row("process lists " + what, share <= goal, "%d GPUs, %d processes of this test on the first, %d calls, p50 %.1f us, p99 %.1f us: %.4f %% of the time, goal %.1f %%" % (
            gpus, HOLDERS, CALLS, p50 / 1e3, p99 / 1e3, 100 * share, 100 * goal))


# ---- attribution --------------------------------------------------------------------------------


def attribution(top, held):
    """The row of one GPU: the one of `vram top --by process` that has all processes of this test.

    held -- bytes that each process has allocated, by its number
    """
    what = "memory in use, less the driver's reserve, against the sum of its processes"
    for gpu in top["gpus"]:
        holders = gpu.get("holders")
        if not isinstance(holders, list):
            continue
        used = {holder["pid"]: holder["usedBytes"] for holder in holders if "pid" in holder}
        if not all(pid in used for pid in held):
            continue
        figures = [gpu.get("usedBytes"), gpu.get("unattributedBytes"), gpu.get("overattributedBytes")] + list(used.values())
        if not all(isinstance(figure, int) for figure in figures):
            return not_run(what, "the driver states no memory for some process or GPU: %s" % figures)
        total, rest, over = figures[:3]
        limit = max(UNATTRIBUTED_LEAST, UNATTRIBUTED_GOAL * total)
        short = [pid for pid, size in held.items() if used[pid] < size]
        balanced = sum(used.values()) + rest - over == total
        why = "%d MiB in use, %d MiB of %d processes, %d MiB reported as unattributed, goal %d MiB" % (
            total / MIB, sum(used.values()) / MIB, len(used), (rest - over) / MIB, limit / MIB)
        if short:
            why += "; processes with less than they allocated: %s" % short
        if not balanced:
            why += "; the parts do not add up to the whole"
        return row(what, abs(rest - over) <= limit and not short and balanced, why)
    return not_run(what, "no GPU of `gpuwarden vram top` lists the processes %s of this test: %s" % (
        sorted(held), "; ".join(str(gpu.get("holders"))[:120] for gpu in top["gpus"]) or "there is no GPU"))


def least(driver, calls):
    """The answer with the least mean of three: other programs on the machine only add time."""
    return min((driver.ask("%s %d" % (calls, CALLS)) for _ in range(3)), key=lambda answer: int(answer.split()[3]))


def with_holders(options):
    """Rows that need processes on a GPU: some with memory, the others with a context alone."""
    sizes = [64 * MIB, 128 * MIB, 256 * MIB] if options.small else [256 * MIB, GIB, 2 * GIB]
    loops = [Loop(options.compute_loop, options.libcuda, options.ptx) for _ in range(HOLDERS)]
    try:
        for loop, size in zip(loops, sizes):
            loop.send("hold %d" % size)
        for loop in loops[len(sizes):]:
            loop.send("trivial 1")
        for loop in loops:
            loop.answer()
        driver = Loop(options.vram_loop, options.libnvml)
        try:
            rows = list(duties(least(driver, "memory"), least(driver, "processes")))
        finally:
            driver.close()
        run = subprocess.run([options.gpuwarden, "vram", "top", "--by", "process", "-o", "json"], stdout=subprocess.PIPE, timeout=120, check=False)
        held = {loop.process.pid: size for loop, size in zip(loops, sizes)}
        return rows + [attribution(json.loads(run.stdout), held)]
    finally:
        for loop in loops:
            loop.close()


# ---- slowdown -----------------------------------------------------------------------------------


def slowdown(work, hertz, quiet, sampled):
    """The row of one workload and rate. Rates of the same workload without sampling vary too: within that, nothing is decided."""
    usual = statistics.median(quiet)
    loss = 1 - statistics.median(sampled) / usual
    doubt = (max(quiet) - min(quiet)) / 2 / usual
    what = "slowdown of %s by sampling of all GPUs at %d Hz" % (work, hertz)
    why = "%.3f %%, goal %.1f %%; without sampling the rate varies by %.3f %%" % (100 * loss, 100 * SLOWDOWN_GOAL, 100 * doubt)
    if loss - doubt > SLOWDOWN_GOAL:
        return row(what, False, why)
    if loss <= SLOWDOWN_GOAL and doubt <= SLOWDOWN_GOAL:
        return row(what, True, why)
    return {"what": what, "state": "undecided", "why": why + ": repeat on a machine without other work"}


def repetitions(options, compute, work, size):
    """Number of the workload's steps that take some seconds."""
    if options.small:
        return 20
    units = 3 * size if work == "daxpy" else 2 * math.sqrt(size / 8) ** 3
    return max(20, math.ceil(RUN_SECONDS * float(compute.ask("rate %s %d 20" % (work, size))) / units))


def slowdowns(options):
    """Rows of each workload at each rate. Runs with and without sampling take turns, so that heat and clocks concern all alike."""
    works = {"daxpy": 8 * 256 * 256 if options.small else GIB, "dgemm": 8 * 256 * 256 if options.small else 8 * 4096 * 4096}
    for work, size in works.items():
        compute = Loop(options.compute_loop, options.libcuda, options.ptx, *([options.cublas] if options.cublas else []))
        try:
            if compute.ask("rate %s %d 2" % (work, size)) == "none":
                yield not_run("slowdown of " + work, "no usable cuBLAS: name its file by the variable CUBLAS")
                continue
            question = "rate %s %d %d" % (work, size, repetitions(options, compute, work, size))
            rates = {hertz: [] for hertz in (0,) + RATES_HZ}
            for _ in range(2 if options.small else 5):
                for hertz, seen in rates.items():
                    seen.append(sampled(options, compute, question, hertz))
        finally:
            compute.close()
        for hertz in RATES_HZ:
            yield slowdown(work, hertz, rates[0], rates[hertz])


def sampled(options, compute, question, hertz):
    if hertz == 0:
        return float(compute.ask(question))
    driver = Loop(options.vram_loop, options.libnvml)
    try:
        driver.ask("memory 100")  # it has opened the driver
        driver.send("sample %d" % hertz)
        rate = float(compute.ask(question))
        if int(driver.ask("")) < 1:
            raise RuntimeError("nothing was sampled while the workload ran")
        return rate
    finally:
        driver.close()


# ---- decision -----------------------------------------------------------------------------------


def decision(options):
    """The row of the time from a breached floor to the decision of a daemon in a dry run. It fills the first GPU."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vram_decision.py")
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([sys.executable, "-B", script, options.gpuwarden, str(2 if options.small else BREACHES), folder], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, universal_newlines=True, timeout=600, check=False)
    yield row("breach of the floor to the decision", run.returncode == 0, (run.stdout + run.stderr).strip() or "it ended with %d" % run.returncode)


# ---- main ---------------------------------------------------------------------------------------


def collected(what, produce):
    try:
        return list(produce())
    except (OSError, ValueError, RuntimeError, KeyError, subprocess.TimeoutExpired) as e:
        return [not_run(what, str(e) or type(e).__name__)]


def main(arguments):
    parser = argparse.ArgumentParser()
    for name in ("gpuwarden", "vram-loop", "compute-loop", "libnvml", "libcuda", "ptx", "output"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--cublas", default=os.environ.get("CUBLAS", ""), help="libcublas, for DGEMM")
    parser.add_argument("--small", action="store_true", help="memory of a simulated GPU is this machine's")
    options = parser.parse_args(arguments)
    rows = collected("cost of sampling and attribution", lambda: with_holders(options)) + collected("slowdown", lambda: slowdowns(options)) \
        + collected("decision", lambda: decision(options))
    if options.small:
        # A simulated driver's calls and a simulated GPU's work cost this machine's time: no figure of them meets a goal or misses it.
        for each in rows:
            each["state"] = "not run" if each["state"] == "not run" else "reported"
    with open(options.output, "w") as out:
        json.dump(rows, out, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
