#!/usr/bin/env python3
"""Compares rates of gpuwarden's checks with those of plain CUDA and cuBLAS on the first GPU, and of nccl-tests. Writes JSON."""

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys

GIB = 1 << 30
MIB = 1 << 20
# Isolation.LEAST_BYTES: with less than this below its memory limit, the daemon runs checks in a child.
MEMORY_MIB = 512

# Rows: name, least share of the reference, evidence of gpuwarden and its factor to units a second, command of compute_loop and its bytes.
ROWS = (
    # Pieces as large as those of the check: on an H200, larger ones are 2 to 4 % faster.
    ("PCIe copies to the GPU against pinned copies from C", 0.97, "to_device_gigabytes_per_second", 1e9, "rate to-device %d 1000", 4 * MIB),
    ("PCIe copies to the host against pinned copies from C", 0.97, "to_host_gigabytes_per_second", 1e9, "rate to-host %d 1000", 4 * MIB),
    ("DAXPY against the same kernel from C", 0.90, "daxpy_gigabytes_per_second", 1e9, "rate daxpy %d 20", GIB),
    ("DAXPY against CUDA's copy within the GPU", 0.90, "daxpy_gigabytes_per_second", 1e9, "rate within %d 20", GIB),
    ("DGEMM against cuBLAS from C", 0.95, "dgemm_teraflops_per_second", 1e12, "rate dgemm %d 5", 8 * 4096 * 4096),
)


def not_run(what, least, why):
    return {"what": what, "least": least, "state": "not run", "why": why}


def evidence(gpuwarden):
    """Returns measurements by name, each of the first GPU that has it, and the messages of findings without any."""
    run = subprocess.run([gpuwarden, "check", "pciebw", "gpumem", "-o", "json"], stdout=subprocess.PIPE, timeout=1200, check=False)
    try:
        checks = json.loads(run.stdout)["checks"]
    except (ValueError, KeyError):
        return {}, ["gpuwarden check ended with %d and no JSON" % run.returncode]
    seen, messages = {}, []
    for check in checks:
        for finding in check["findings"]:
            if not finding["evidence"]:
                messages.append(finding["message"])
            for measurement in finding["evidence"]:
                seen.setdefault(measurement["name"], measurement["value"])
            if "DGEMM by cuBLAS" in finding["message"]:
                seen["producer"] = "cuBLAS"
    return seen, messages


def host_memory():
    """Returns the row of the largest child so far, which is the process that ran the checks."""
    mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return {"what": "host memory of a process that runs pciebw and gpumem", "state": "passed" if mib <= MEMORY_MIB else "failed",
            "why": "%.0f MiB, at most %d MiB" % (mib, MEMORY_MIB)}


def references(loop, libcuda, ptx, cublas, command):
    """Returns the answers of the C program, and its errors."""
    run = subprocess.run([loop, libcuda, ptx] + cublas, input=command + "\n", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         universal_newlines=True, timeout=600, check=False,
                         env=dict(os.environ, CUDA_DEVICE_ORDER="PCI_BUS_ID"))
    return run.stdout.split(), run.stderr.strip()


def compared(row, seen, messages, answers, errors):
    what, least, name, factor = row[:4]
    if answers == ["none"]:
        return not_run(what, least, "no usable cuBLAS: name its file by the variable CUBLAS")
    if len(answers) != 1 or not re.match(r"[0-9.e+-]+$", answers[0]):
        return not_run(what, least, errors or "the C program has no result")
    if name not in seen:
        return not_run(what, least, "gpuwarden measured no %s: %s" % (name, "; ".join(messages) or "no reason"))
    if name.startswith("dgemm") and seen.get("producer") != "cuBLAS":
        return not_run(what, least, "gpuwarden used its own kernel: install cuBLAS")
    ours, theirs = seen[name] * factor, float(answers[0])
    share = ours / theirs
    return {"what": what, "least": least, "ours": ours, "theirs": theirs, "share": share, "state": "passed" if share >= least else "failed"}


def average(output):
    found = re.search(r"Avg bus bandwidth\s*:\s*([0-9.]+)", output)
    return float(found.group(1)) if found else None


def collectives(gpuwarden, gpus):
    what, least = "all-reduce against nccl-tests", 0.98
    peer = shutil.which("all_reduce_perf")
    if gpus < 2:
        return not_run(what, least, "one GPU has no bus bandwidth")
    if not peer:
        return not_run(what, least, "no all_reduce_perf of nccl-tests in PATH")
    options = ["-b", "256M", "-e", "256M", "-g", str(gpus)]
    rates = []
    for command in ([gpuwarden, "bench", "all_reduce"], [peer]):
        run = subprocess.run(command + options, stdout=subprocess.PIPE, universal_newlines=True, timeout=600, check=False)
        rates.append(average(run.stdout))
        if not rates[-1]:
            return not_run(what, least, "%s ended with %d" % (command[0], run.returncode))
    share = rates[0] / rates[1]
    return {"what": what, "least": least, "ours": rates[0] * 1e9, "theirs": rates[1] * 1e9, "share": share, "state": "passed" if share >= least else "failed"}


def main(arguments):
    parser = argparse.ArgumentParser()
    for name in ("gpuwarden", "loop", "libcuda", "ptx", "output"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--cublas", default=os.environ.get("CUBLAS", ""), help="libcublas for both sides")
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--small", action="store_true", help="memory of a simulated GPU is this machine's")
    options = parser.parse_args(arguments)
    if options.cublas:
        os.environ["GPUWARDEN_CUBLAS_LIBRARY_PATH"] = options.cublas
    seen, messages = evidence(options.gpuwarden)
    rows = [host_memory()]
    for row in ROWS:
        size = 8 * 256 * 256 if options.small else row[5]
        answers, errors = references(options.loop, options.libcuda, options.ptx, [options.cublas] if options.cublas else [],
                                     row[4] % size)
        rows.append(compared(row, seen, messages, answers, errors))
    rows.append(collectives(options.gpuwarden, options.gpus))
    if options.small:
        # Small sizes and virtual times: the figures decide nothing.
        for row in rows:
            row["state"] = {"passed": "reported", "failed": "reported"}.get(row["state"], row["state"])
    with open(options.output, "w") as out:
        json.dump(rows, out, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
