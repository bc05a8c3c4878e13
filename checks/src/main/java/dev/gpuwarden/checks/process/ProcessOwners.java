package dev.gpuwarden.checks.process;

import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.CgroupPath;
import dev.gpuwarden.core.process.MemoryAttribution;
import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.core.process.ProcessFacts;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * A lookup of the owners of processes. A result is cached while the process is requested and stays the same; at rest,
 * one small file for each process is read. Thread-safe; reads files, never waits for the driver.
 */
public final class ProcessOwners {

    static final String OWN_NAMESPACE = "gpuwarden runs in a PID namespace of its own; give it the host's (hostPID)";
    static final String REUSED = "the process ended and another one has its number";
    static final String GONE = "no such process";
    static final String HIDDEN = "processes are hidden from this user (hidepid)";

    /** A process may be moved to another cgroup, or run another program, without a new PID. */
    private static final long READ_AGAIN_NANOS = 60_000_000_000L;
    /** A process that started this much after the driver listed it is another one. The margin covers ticks and clocks. */
    private static final double REUSE_MARGIN_SECONDS = 0.5;

    private final Procfs procfs;
    private final PodNames pods;
    private final LongSupplier nanoTime;
    private final boolean privateNamespace;
    private final CgroupPath.NodeRoot nodeRoot;
    private final Map<Integer, Known> known = new HashMap<>();
    private double uptimeOffsetSeconds;

    public ProcessOwners(NodePaths paths) {
        this(paths, System::nanoTime);
    }

    public ProcessOwners(NodePaths paths, LongSupplier nanoTime) {
        this.procfs = new Procfs(paths.procfs());
        this.pods = new PodNames(paths.podLogs(), nanoTime);
        this.nanoTime = nanoTime;
        this.privateNamespace = procfs.inPrivatePidNamespace();
        this.nodeRoot = procfs.nodeRoot();
        this.uptimeOffsetSeconds = procfs.uptimeSeconds().asOptional().orElse(0.0) - nanoTime.getAsLong() / 1e9;
    }

    /**
     * Returns the facts of these processes and forgets all others.
     *
     * @param ageNanosByPid time since the driver listed each process
     */
    public synchronized Map<Integer, ProcessFacts> lookUp(Map<Integer, Long> ageNanosByPid) {
        known.keySet().retainAll(ageNanosByPid.keySet());
        Map<Integer, ProcessFacts> facts = new HashMap<>();
        ageNanosByPid.forEach((pid, age) -> facts.put(pid, lookUp(pid, age)));
        return facts;
    }

    /**
     * Returns whether a process shares the PID namespace of this /proc, as no process of an ordinary container does. Absent
     * where it cannot be seen, has ended, or another one has its number.
     *
     * @param ageNanos time since it had this number for certain
     */
    synchronized Reading<Boolean> sharesNamespace(int pid, long ageNanos) {
        Reading<Long> start = procfs.startTicks(pid);
        if (!(start instanceof Reading.Present<Long> ticks)) {
            return Reading.absent(Absence.NO_DATA, 0, cause(start));
        }
        if (startedSince(ticks.value(), ageNanos)) {
            return Reading.absent(Absence.NO_DATA, 0, REUSED);
        }
        Reading<Integer> namespaces = procfs.namespaces(pid);
        return procfs.startTicks(pid).equals(start)
                ? namespaces.map(count -> count == 1)
                : Reading.absent(Absence.NO_DATA, 0, GONE);
    }

    /** Returns why processes of others cannot be seen from here; empty if they can. */
    public Optional<String> hiddenBecause() {
        return privateNamespace
                ? Optional.of(OWN_NAMESPACE)
                : procfs.hidesProcesses() ? Optional.of(HIDDEN) : Optional.empty();
    }

    /** Returns whether the owner is unknown because the process has ended since the driver listed it. */
    public static boolean hasEnded(Owner owner) {
        return owner instanceof Owner.Unknown unknown
                && (unknown.cause().equals(GONE) || unknown.cause().equals(REUSED));
    }

    private ProcessFacts lookUp(int pid, long ageNanos) {
        if (privateNamespace) {
            return MemoryAttribution.unknown(OWN_NAMESPACE);
        }
        Reading<Long> start = procfs.startTicks(pid);
        if (!(start instanceof Reading.Present<Long> ticks)) {
            known.remove(pid);
            return MemoryAttribution.unknown(cause(start));
        }
        Known entry = known.get(pid);
        long now = nanoTime.getAsLong();
        if (entry == null || entry.startTicks != ticks.value() || now - entry.readAtNanos > READ_AGAIN_NANOS) {
            if (startedSince(ticks.value(), ageNanos)) {
                known.remove(pid);
                return MemoryAttribution.unknown(REUSED);
            }
            entry = read(pid, ticks.value(), now);
            known.put(pid, entry);
        }
        return new ProcessFacts(start, entry.command, pods.name(entry.owner));
    }

    private Known read(int pid, long startTicks, long now) {
        Reading<String> cgroup = procfs.cgroup(pid);
        Reading<String> command = procfs.command(pid);
        if (!procfs.startTicks(pid).equals(Reading.of(startTicks))) {
            return new Known(startTicks, now, Reading.absent(Absence.NO_DATA, 0, GONE), new Owner.Unknown(GONE));
        }
        Owner owner = cgroup instanceof Reading.Present<String> text
                ? CgroupPath.parse(text.value(), nodeRoot).owner()
                : new Owner.Unknown(cause(cgroup));
        return new Known(startTicks, now, command, owner);
    }

    /**
     * Returns whether the process started after the driver listed its PID. The node's uptime counts only while it
     * advances like this process's own clock; it does not on suspended nodes and copies.
     */
    private boolean startedSince(long startTicks, long ageNanos) {
        if (!(procfs.uptimeSeconds() instanceof Reading.Present<Double> uptime)) {
            return false;
        }
        double offset = uptime.value() - nanoTime.getAsLong() / 1e9;
        boolean steady = Math.abs(offset - uptimeOffsetSeconds) < REUSE_MARGIN_SECONDS;
        uptimeOffsetSeconds = offset;
        return steady && Procfs.seconds(startTicks) > uptime.value() - ageNanos / 1e9 + REUSE_MARGIN_SECONDS;
    }

    private String cause(Reading<?> reading) {
        if (reading instanceof Reading.Absent<?> absent && absent.cause() != Absence.NO_DATA) {
            return absent.text();
        }
        return procfs.hidesProcesses() ? HIDDEN : GONE;
    }

    private record Known(long startTicks, long readAtNanos, Reading<String> command, Owner owner) {}
}
