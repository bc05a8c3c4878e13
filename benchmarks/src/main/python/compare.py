"""Compares every reading of `gpuwarden scan -o json` with what other clients of the driver show.

Other clients read before and after the scan. Each comparison that agrees is made twice more, with a false value and with none
at all, and must disagree then: a comparison that cannot fail shows nothing.
"""

import argparse
import json
import math
import subprocess
import sys

import clients
from clients import CProgram, Missing, NotUnderstood, NvidiaMlPy, NvidiaSmi, Seen, Unasked, Unavailable, link_key
from readings import COUNTER, IDENTITY, LINK_READINGS, MOVING, ONLY_ELSEWHERE, READINGS, STATE, STATIC, Row

SAME, BOTH_ABSENT, NOT_SERVED, ELSEWHERE, DIFFERS, MISSED, STRANGE = (
    "same", "absent in both", "not served", "only elsewhere", "differs", "missed", "not understood"
)
FAILURES = (DIFFERS, MISSED, STRANGE)
FABRIC_PLACES = ("fabric_status", "fabric_clique", "fabric_health_mask", "fabric_health")
ATTEMPTS = 3  # the values of a busy GPU move between snapshots


# ---- one reading --------------------------------------------------------------------------------


def judge(row, ours, before, after, client=""):
    """Returns the verdict on one reading against one client's snapshots before and after the scan, and its cause."""
    served = [look for look in (before, after) if isinstance(look, Seen)]
    absent = isinstance(ours, dict) and "absent" in ours
    for look in (before, after):
        if isinstance(look, NotUnderstood):
            return STRANGE, look.cause
    if not served and isinstance(before, Unasked):
        return NOT_SERVED, before.cause
    if not served:
        return (BOTH_ABSENT, "%s here, %s there" % (text_of(ours), before.cause)) if absent else (NOT_SERVED, before.cause)
    if absent:
        there = "%s there" % served[0].value
        if (row.key, client) in ONLY_ELSEWHERE and ours["absent"] in ("no_symbol", "not_supported"):
            return ELSEWHERE, ONLY_ELSEWHERE[row.key, client]
        return MISSED, "%s here, %s" % (text_of(ours), there)
    values = [look.value for look in served]
    if agrees(row, ours, values, served[0].resolution):
        return SAME, ""
    return DIFFERS, "%s here, %s there" % (ours, " then ".join(str(v) for v in values))


def agrees(row, ours, values, resolution):
    if resolution is None or isinstance(ours, (str, bool)) or isinstance(values[0], (str, bool)):
        return all(ours == value for value in values) if row.kind == STATIC else ours in values
    low, high = min(values), max(values)
    if row.kind == STATIC:
        return all(close(ours, value, resolution) for value in values)
    if row.kind == STATE:
        return any(close(ours, value, resolution) for value in values)
    slack = resolution + (row.tolerance if row.kind == MOVING else 0)
    return low - slack <= ours <= high + slack or close(ours, low, slack) or close(ours, high, slack)


def close(a, b, slack):
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=slack)


def text_of(absent):
    return absent["absent"] + (" (code %d)" % absent["code"] if "code" in absent else "")


def falsified(row, ours, values, resolution):
    """Returns a wrong value, for which a valid comparison must fail."""
    if isinstance(ours, bool):
        return not ours
    if isinstance(ours, str):
        return ours + "x"
    return max(values + [ours]) + 2 * (row.tolerance + (resolution or 0)) + max(1, abs(ours) * 1e-3)


# ---- processes ----------------------------------------------------------------------------------

PROCESS_SLACK = 64 << 20


def judge_processes(ours, before, after):
    served = [look for look in (before, after) if isinstance(look, Seen)]
    absent = isinstance(ours, dict)
    if absent or not served:
        return judge(Row("processes", STATIC, None, None, 0), ours if absent else "listed", before, after)
    here = {process["pid"]: process["usedBytes"] for process in ours}
    for look in served:
        if set(here) == set(look.value) and all(memory_agrees(here[pid], look.value[pid], look.resolution) for pid in here):
            return SAME, ""
    return DIFFERS, "%s here, %s there" % (here, served[-1].value)


def memory_agrees(ours, theirs, resolution):
    if isinstance(ours, dict):
        return theirs is clients.NO_PROCESS_MEMORY
    return theirs is not clients.NO_PROCESS_MEMORY and abs(ours - theirs) <= PROCESS_SLACK + resolution


# ---- the node -----------------------------------------------------------------------------------


def rows_of(gpu):
    """Every (key, row, value) of a GPU; a reading that the table lacks is an error of this program."""
    known = {row.key: row for row in READINGS}
    unknown = set(gpu["readings"]) ^ set(known)
    if unknown:
        raise SystemExit("compare: expected the readings of readings.py and the scan to be the same, differing: %s" % sorted(unknown))
    for row in IDENTITY:
        yield row.key, row, gpu[row.key]
    for key, value in gpu["readings"].items():
        yield key, known[key], value
    by_link = {row.key: row for row in LINK_READINGS}
    for link in gpu["links"]:
        for key, value in link.items():
            if key != "link":
                yield link_key(link["link"], key), by_link[key], value


def in_a_fabric(look):
    """Returns a client's snapshot without the zeros that NVML returns for a GPU without a fabric, which gpuwarden omits."""
    state = look.get("fabric_state")
    if not isinstance(state, Seen) or state.value != 0:
        return look
    nowhere = Missing("the GPU belongs to no fabric")
    return {key: nowhere if key in FABRIC_PLACES and isinstance(seen, Seen) else seen for key, seen in look.items()}


def compare_gpu(gpu, looks):
    """Returns the results of one GPU: key, client, verdict, cause. Snapshots are {client: (before, after)}, for this GPU."""
    results, controls, unnoticed = [], 0, []
    for client, pair in looks.items():
        before, after = (in_a_fabric(look) for look in pair)
        nowhere = Missing("the client does not list this GPU")
        for key, row, ours in rows_of(gpu):
            b, a = before.get(key, default(client)), after.get(key, default(client))
            verdict, why = judge(row, ours, b, a, client)
            results.append({"gpu": gpu["index"], "reading": key, "client": client, "verdict": verdict, "why": why})
            if verdict == SAME:
                values = [look.value for look in (b, a) if isinstance(look, Seen)]
                resolution = next(look.resolution for look in (b, a) if isinstance(look, Seen))
                controls += 1
                wrong = falsified(row, ours, values, resolution)
                kept_back = {"absent": "not_supported"}
                if judge(row, wrong, b, a, client)[0] != DIFFERS or judge(row, kept_back, b, a)[0] != MISSED:
                    unnoticed.append("%s by %s" % (key, client))
        if clients.PROCESSES in before or clients.PROCESSES in after:
            verdict, why = judge_processes(gpu["processes"], before.get(clients.PROCESSES, nowhere), after.get(clients.PROCESSES, nowhere))
            results.append({"gpu": gpu["index"], "reading": "processes", "client": client, "verdict": verdict, "why": why})
    return results, controls, unnoticed


def default(client):
    return Unasked("%s does not ask for it" % client)


def compare_driver(driver, theirs):
    results = []
    for client, look in theirs.items():
        for key, seen in look.items():
            verdict, why = judge(Row(key, STATIC, None, None, 0), driver[key], seen, seen, client)
            results.append({"gpu": "driver", "reading": key, "client": client, "verdict": verdict, "why": why})
    return results


def scan(command):
    done = subprocess.run(command + ["scan", "-o", "json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    try:
        return json.loads(done.stdout.decode())
    except ValueError:
        raise SystemExit("compare: scan exited %d: %s" % (done.returncode, done.stderr.decode("utf-8", "replace")))


def once(command, sources):
    before, failed = {}, {}
    look_all(sources, before, failed)
    node = scan(command)
    after = {}
    look_all(sources, after, failed)
    uuids = [gpu["uuid"] if isinstance(gpu["uuid"], str) else "index %d" % gpu["index"] for gpu in node["gpus"]]
    results, controls, unnoticed = [], 0, []
    theirs = {}
    for source in sources:
        if source.name not in failed:
            theirs[source.name] = (by_uuid(before[source.name], uuids), by_uuid(after[source.name], uuids))
            listed = len(after[source.name])
            same = listed == len(uuids)
            results.append({"gpu": "driver", "reading": "GPUs", "client": source.name, "verdict": SAME if same else DIFFERS, "why": "" if same else "%d here, %d there" % (len(uuids), listed)})
    for gpu, uuid in zip(node["gpus"], uuids):
        looks = {name: (b.get(uuid, {}), a.get(uuid, {})) for name, (b, a) in theirs.items()}
        found, checked, missed = compare_gpu(gpu, looks)
        results += found
        controls += checked
        unnoticed += missed
    if "driverVersion" in node["driver"]:
        results += compare_driver(node["driver"], {source.name: source.driver() for source in sources if source.name in theirs})
    return node, results, controls, unnoticed, failed


def look_all(sources, looks, failed):
    for source in sources:
        try:
            looks[source.name] = source.look()
        except Unavailable as error:
            failed[source.name] = str(error)


def by_uuid(look, uuids):
    """Maps the C program's GPUs by index, since it reads no UUIDs: the driver's order is the scan's."""
    return dict(zip(uuids, look)) if isinstance(look, list) else look


def available(nvidia_smi, baseline):
    sources, missing = [CProgram(baseline)], {}
    for make in (lambda: NvidiaSmi(nvidia_smi), NvidiaMlPy):
        try:
            sources.append(make())
        except Unavailable as error:
            missing[NvidiaMlPy.name if make is NvidiaMlPy else NvidiaSmi.name] = str(error)
    return sources, missing


def merged(results):
    """Merges the same verdict with the same cause on several GPUs into one row."""
    rows = {}
    for r in results:
        rows.setdefault((r["reading"], r["client"], r["verdict"], r["why"]), []).append(r["gpu"])
    return [dict(zip(("reading", "client", "verdict", "why"), key), gpus=gpus) for key, gpus in rows.items()]


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpuwarden", required=True, help="the program under test")
    parser.add_argument("--baseline", required=True, help="the C program sampler_loop")
    parser.add_argument("--nvidia-smi", default="nvidia-smi")
    parser.add_argument("--need", action="append", default=[], help="a client without which this fails")
    parser.add_argument("--output", required=True)
    options = parser.parse_args(arguments)
    sources, missing = available(options.nvidia_smi, options.baseline)
    for attempt in range(1, ATTEMPTS + 1):
        node, results, controls, unnoticed, broken = once([options.gpuwarden], sources)
        failures = [r for r in results if r["verdict"] in FAILURES]
        if not failures:
            break
    missing.update(broken)
    failed = bool(failures or unnoticed or broken or not node["gpus"] or any(name in missing for name in options.need))
    result = {
        "passed": not failed,
        "attempts": attempt,
        "node": {key: node[key] for key in ("verdict", "driver")},
        "gpus": [{key: gpu[key] for key in ("index", "uuid", "pci", "name")} for gpu in node["gpus"]],
        "clients": {source.name: source.version for source in sources},
        "clientsMissing": missing,
        "controls": controls,
        "controlsUnnoticed": unnoticed,
        "results": merged(results),
    }
    with open(options.output, "w") as out:
        json.dump(result, out)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
