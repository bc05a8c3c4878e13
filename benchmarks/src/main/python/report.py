"""Writes the result of an acceptance run as Markdown and JSON, and decides whether it passed."""

import argparse
import collections
import datetime
import glob
import json
import os
import platform
import re
import sys

from compare import BOTH_ABSENT, ELSEWHERE, FAILURES, NOT_SERVED, SAME

JNI_LIMIT = 1.5  # times the C program


def read_json(path):
    try:
        with open(path) as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


# ---- contract tests -----------------------------------------------------------------------------


def contract(log):
    """Counts of the JUnit console's summary; nothing found is no success."""
    counts = {word: int(number) for number, word in re.findall(r"\[\s*(\d+) tests (found|successful|failed|aborted|skipped)", log)}
    passed = counts.get("found", 0) > 0 and counts.get("successful") == counts.get("found")
    return {"passed": passed, "counts": counts, "failures": re.findall(r"JUnit Jupiter:(\S+)\n\s+(?:Method|Class)Source", log)}


# ---- sampler ------------------------------------------------------------------------------------


def sampler(runs, simulated):
    """Microseconds per tick by cadence and path: the best of the runs, since noise only adds.

    On a simulated node the ratio decides nothing: a busy machine must not fail a build.
    """
    ticks = collections.defaultdict(dict)
    for run in runs:
        for result in run or []:
            path = result["benchmark"].rsplit(".", 1)[-1]
            score = result["primaryMetric"]["score"]
            known = ticks[result["params"]["cadence"]]
            known[path] = min(score, known.get(path, score))
            allocated = result["secondaryMetrics"].get("gc.alloc.rate.norm", {}).get("score")
            if path == "jni" and allocated is not None:
                known["jni bytes"] = min(allocated, known.get("jni bytes", allocated))
    complete = len(ticks) == 2 and all(path in tick for tick in ticks.values() for path in ("c", "jni", "jna"))
    ratios = {cadence: tick["jni"] / tick["c"] for cadence, tick in ticks.items()} if complete else {}
    kept = complete and max(ratios.values()) <= JNI_LIMIT
    return {"state": "reported" if simulated and complete else "passed" if kept else "failed", "ticks": ticks, "jniToC": ratios}


def passed(report, simulated):
    # A simulated GPU's memory is this machine's, and its sizes are small: its rates decide nothing.
    rates = simulated or all(row["state"] != "failed" for row in report["compute"] + report["vram"])
    # Its rows are all "not run" where its programs do not work at all.
    rates = rates and any(row["state"] != "not run" for row in report["vram"])
    repaired = all(row["state"] != "failed" for row in report["repair"]) and any(row["state"] != "not run" for row in report["repair"])
    return report["contract"]["passed"] and report["comparison"]["passed"] and report["sampler"]["state"] != "failed" and rates and repaired


# ---- text ---------------------------------------------------------------------------------------


def slug(text):
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-")


def cpu_model():
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return lines + ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows] + [""]


def gpus(result):
    return ", ".join(map(str, result["gpus"]))


def grouped(results, verdicts):
    """One row per client and cause, with the readings concerned; links and GPUs taken together."""
    groups = collections.OrderedDict()
    for r in results:
        if r["verdict"] in verdicts:
            name = re.sub(r"^links\[\d+\]", "links[]", r["reading"])
            readings = groups.setdefault((r["client"], r["verdict"], r["why"]), [])
            if name not in readings:
                readings.append(name)
    return [(client, verdict, why, ", ".join(readings)) for (client, verdict, why), readings in groups.items()]


def markdown(report):
    comparison, tests, ticks = report["comparison"], report["contract"], report["sampler"]
    driver = comparison["node"]["driver"]
    word = {True: "passed", False: "**failed**", "failed": "**failed**"}
    lines = ["# Acceptance on %s" % report["gpu"], ""]
    lines += table(
        ["", ""],
        [
            ["date", report["date"]],
            ["command", "`%s`" % report["command"]],
            ["result", word[report["passed"]]],
            ["GPUs", "%d x %s" % (len(comparison["gpus"]), ", ".join(sorted({str(gpu["name"]) for gpu in comparison["gpus"]})))],
            ["driver", "%s, library %s, CUDA %s" % (driver.get("driverVersion"), driver.get("libraryPath"), driver.get("cudaVersion"))],
            ["sampler", driver.get("samplerPath")],
            ["scan says", comparison["node"]["verdict"]],
            ["machine", "%s, %d CPUs, load %s, Linux %s" % (report["cpu"], report["cpus"], report["load"], report["kernel"])],
        ],
    )
    lines += ["## Contract tests: %s" % word[tests["passed"]], ""]
    lines += ["%s." % ", ".join("%d %s" % (n, w) for w, n in tests["counts"].items()) if tests["counts"] else "No summary: see the log.", ""]
    lines += ["- failed: `%s`" % f for f in tests["failures"]] + ([""] if tests["failures"] else [])
    lines += ["## Readings compared with other clients: %s" % word[comparison["passed"]], ""]
    counts = collections.Counter()
    for r in comparison["results"]:
        counts[r["client"], r["verdict"]] += len(r["gpus"])
    verdicts = [SAME, BOTH_ABSENT, NOT_SERVED, ELSEWHERE] + list(FAILURES)
    lines += table(
        ["client"] + verdicts,
        [["%s %s" % (name, version)] + [counts[name, v] for v in verdicts] for name, version in comparison["clients"].items()]
        + [["%s: %s" % item] + [""] * len(verdicts) for item in comparison["clientsMissing"].items()],
    )
    unnoticed = comparison["controlsUnnoticed"]
    lines += ["Controls: %d comparisons that agreed were repeated with a false value and with none; %s." % (
        comparison["controls"], "all of them noticed" if not unnoticed else "NOT noticed: " + ", ".join(unnoticed)), ""]
    lines += ["Looks taken: %d." % comparison["attempts"], ""]
    failing = [(gpus(r), r["reading"], r["client"], r["verdict"], r["why"]) for r in comparison["results"] if r["verdict"] in FAILURES]
    lines += table(["GPU", "reading", "client", "verdict", "seen"], failing) if failing else []
    lines += ["## What clients do not show, and why", ""]
    lines += table(["client", "verdict", "cause", "readings"], grouped(comparison["results"], (NOT_SERVED, ELSEWHERE)))
    lines += ["## What neither side has", ""]
    lines += table(["client", "verdict", "cause", "readings"], grouped(comparison["results"], (BOTH_ABSENT,)))
    lines += ["## Rates compared with plain CUDA, cuBLAS and nccl-tests", ""]
    lines += table(["", "", ""], compute(report["compute"]))
    lines += ["## Cost of sampling for the VRAM watchdog, and attribution", ""]
    lines += table(["", "", ""], compute(report["vram"]))
    lines += ["## Repair of a GPU, with an nvidia-smi that records and resets nothing", ""]
    lines += table(["", "", ""], compute(report["repair"]))
    lines += ["## Sampler, one tick over all GPUs: %s (limit: JNI at most %.1f times C)" % (word.get(ticks["state"], ticks["state"]), JNI_LIMIT), ""]
    lines += table(
        ["cadence", "C us", "JNI us", "JNA us", "JNI / C", "JNA / C", "bytes per JNI tick"],
        [
            [cadence] + ["%.2f" % tick[p] for p in ("c", "jni", "jna")]
            + ["%.2f" % (tick[p] / tick["c"]) for p in ("jni", "jna")] + ["%.2f" % tick.get("jni bytes", float("nan"))]
            for cadence, tick in sorted(ticks["ticks"].items())
            if all(p in tick for p in ("c", "jni", "jna"))
        ],
    )
    lines += ["Best of %d measurements. Bytes: what the whole JVM allocated meanwhile, the harness included." % report["samplerRuns"], ""]
    return "\n".join(lines)


def compute(rows):
    """Returns a sentence for each comparison of rates."""
    for row in rows:
        if "why" in row:
            yield row["what"], row["state"], row["why"]
        else:
            yield row["what"], row["state"], "%.3g of %.3g units a second: %.2f, at least %.2f" % (row["ours"], row["theirs"], row["share"], row["least"])


def summary(report):
    word = {True: "passed", False: "FAILED"}
    counts = collections.Counter()
    for r in report["comparison"]["results"]:
        counts[r["verdict"]] += len(r["gpus"])
    yield "contract tests  %s  %s" % (word[report["contract"]["passed"]], ", ".join("%d %s" % (n, w) for w, n in report["contract"]["counts"].items()))
    yield "comparison      %s  %s" % (word[report["comparison"]["passed"]], ", ".join("%d %s" % (n, v) for v, n in counts.most_common()))
    for name, why in report["comparison"]["clientsMissing"].items():
        yield "                        without %s: %s" % (name, why)
    for r in report["comparison"]["results"]:
        if r["verdict"] in FAILURES:
            yield "                        GPU %s %s, %s: %s: %s" % (gpus(r), r["reading"], r["client"], r["verdict"], r["why"])
    for what, state, why in compute(report["compute"]):
        yield "compute         %s  %s: %s" % (state, what, why)
    for what, state, why in compute(report["vram"]):
        yield "vram            %s  %s: %s" % (state, what, why)
    for what, state, why in compute(report["repair"]):
        yield "repair          %s  %s: %s" % (state, what, why)
    ratios = ", ".join("%s JNI %.2f x C" % (cadence, ratio) for cadence, ratio in sorted(report["sampler"]["jniToC"].items()))
    yield "sampler         %s  %s" % (report["sampler"]["state"], ratios or "not measured: see the log")
    yield "acceptance      %s" % word[report["passed"]]


def json_lines(report):
    """Returns JSON with one line for each compared reading, so that diff shows the differences between two runs."""
    results = report["comparison"].pop("results")
    text = json.dumps(report, indent=1)
    report["comparison"]["results"] = results
    lines = ",\n".join("   " + json.dumps(r) for r in results)
    return text.replace('"comparison": {', '"comparison": {\n  "results": [\n' + lines + "\n  ],", 1) + "\n"


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True, help="folder with contract.log, compare.json, sampler-*.json")
    parser.add_argument("--results", required=True)
    parser.add_argument("--simulated", default="")
    parser.add_argument("--command", required=True)
    parser.add_argument("--judge-sampler", action="store_true", help="only say by the exit code whether the sampler's limit is kept")
    options = parser.parse_args(arguments)
    runs = [read_json(path) for path in sorted(glob.glob(os.path.join(options.work, "sampler-*.json")))]
    if options.judge_sampler:
        return 0 if sampler(runs, False)["state"] == "passed" else 1
    comparison = read_json(os.path.join(options.work, "compare.json"))
    if comparison is None:
        sys.exit("acceptance: the comparison left no result: see its log above")
    with open(os.path.join(options.work, "contract.log"), errors="replace") as file:
        tests = contract(file.read())
    names = sorted({str(gpu["name"]) for gpu in comparison["gpus"]})
    gpu = ("simulated " + options.simulated + ": " if options.simulated else "") + (", ".join(names) or "no GPU")
    report = {
        "schema": "gpuwarden.acceptance/v1",
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "command": options.command,
        "gpu": gpu,
        "cpu": cpu_model(),
        "cpus": os.cpu_count(),
        "load": "%.1f" % os.getloadavg()[0],
        "kernel": platform.release(),
        "contract": tests,
        "comparison": comparison,
        "sampler": sampler(runs, bool(options.simulated)),
        "samplerRuns": len(runs),
        "compute": read_json(os.path.join(options.work, "compute.json"))
        or [{"what": "all rates", "state": "not run", "why": "the comparison left no result"}],
        "vram": read_json(os.path.join(options.work, "vram.json"))
        or [{"what": "cost of sampling for the VRAM watchdog", "state": "not run", "why": "the measurement left no result"}],
        "repair": read_json(os.path.join(options.work, "repair.json")) or [{"what": "repair of a GPU", "state": "not run", "why": "the test left no result"}],
    }
    report["passed"] = passed(report, bool(options.simulated))
    driver = comparison["node"]["driver"].get("driverVersion") or "no-driver"
    name = "%s-%s-%s" % (report["date"][:10], slug("simulated " + options.simulated if options.simulated else gpu), slug(str(driver)))
    os.makedirs(options.results, exist_ok=True)
    base = os.path.join(options.results, name)
    with open(base + ".md", "w") as out:
        out.write(markdown(report))
    with open(base + ".json", "w") as out:
        out.write(json_lines(report))
    print("\n".join(summary(report)))
    print("written         %s.md, .json" % base)
    return 0 if report["passed"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
