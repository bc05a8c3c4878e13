package dev.gpuwarden.testkit.scenario;

import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * A process that holds GPUs.
 *
 * @param gpus each of them with `bytes`
 * @param mig the partition of each GPU that it runs in
 * @param bytes absent: the driver does not know
 * @param smPercent absent: the driver has no utilisation sample of it
 * @param inProc false: the node's /proc does not show it, as in a foreign PID namespace
 * @param startedAgo how long before the node's start it began
 */
public record SimProcess(
        int pid,
        List<Integer> gpus,
        OptionalInt mig,
        Type type,
        OptionalLong bytes,
        OptionalInt smPercent,
        String command,
        Duration startedAgo,
        boolean inProc,
        ProcessOwner owner) {

    /** How the process uses the GPU; in the order of the table's constants. */
    public enum Type {
        COMPUTE,
        GRAPHICS,
        MPS
    }
}
