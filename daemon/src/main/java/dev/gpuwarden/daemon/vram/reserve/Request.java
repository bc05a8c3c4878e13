package dev.gpuwarden.daemon.vram.reserve;

import java.time.Duration;
import java.util.Optional;

/**
 * A request for GPU memory by a process of this node.
 *
 * @param caller the process that requests it
 * @param tenant identity or name of the tenant, if it is another one than the caller's own
 * @param bytes amount on one GPU
 * @param gpu UUID, PCI address or index; empty for any
 * @param borrows whether it may take memory that budgets promise to others
 * @param longestWait time after which it ends if it was not granted
 * @param longestHold time after which it ends if it was granted
 */
public record Request(
        Caller caller,
        Optional<String> tenant,
        long bytes,
        Optional<String> gpu,
        boolean borrows,
        Duration longestWait,
        Duration longestHold) {

    /**
     * A process as the kernel identifies it.
     *
     * @param connectedAtNanos time of its connection by {@link System#nanoTime}; a process that started later is another one
     * @param administers whether it may name another tenant, unless it runs in a container
     */
    public record Caller(int pid, int uid, long connectedAtNanos, boolean administers) {}
}
