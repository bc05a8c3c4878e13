package dev.gpuwarden.watchdog.observation;

import dev.gpuwarden.core.model.Reading;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;

/**
 * One tenant of a GPU: a pod, a unit, a job, a container or a group of processes.
 *
 * @param id an identity that no other tenant ever has, such as a pod's UID
 * @param name for users, untrusted
 * @param workload the name that a tenant shares with its replacements: a pod's controller, a unit; its ID where it has none
 * @param budget bytes that it may always have; absent where it has none, or where its text cannot be read
 * @param used bytes; absent where the driver does not report the memory of one of its processes
 * @param processes its processes that hold the GPU
 * @param priority a higher number is more important
 * @param exempt why it must never be recycled; empty if it may be
 * @param leaving whether it already ends, so that its memory comes back
 */
public record Tenant(
        String id,
        String name,
        String workload,
        Reading<Long> budget,
        Reading<Long> used,
        Set<ProcessKey> processes,
        int priority,
        Instant started,
        Optional<String> exempt,
        boolean leaving) {

    public Tenant {
        processes = Set.copyOf(processes);
    }

    /** Returns the bytes of its budget that it does not use; 0 where one of both is unknown. */
    public long unmetBytes() {
        return Math.max(0, -overBytes());
    }

    /** Returns the bytes that it uses beyond its budget, negative below it; 0 where one of both is unknown. */
    public long overBytes() {
        return used instanceof Reading.Present<Long> taken && budget instanceof Reading.Present<Long> promised
                ? taken.value() - promised.value()
                : 0;
    }
}
