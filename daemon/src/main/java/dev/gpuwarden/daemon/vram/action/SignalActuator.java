package dev.gpuwarden.daemon.vram.action;

import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.observation.ProcessKey;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * Ends the processes of a tenant that hold the GPU: SIGTERM, and SIGKILL to those that still run after the grace while
 * the reason holds. A
 * signal reaches the process that was listed, or none.
 *
 * @param idPrefix beginning of the identity of the tenants that it handles
 */
public record SignalActuator(String idPrefix, ProcessSet all, Duration grace) implements Actuator {

    /** Signal numbers of x86-64 and arm64. */
    private static final int SIGTERM = 15;

    private static final int SIGKILL = 9;
    private static final long POLL_NANOS = Duration.ofMillis(50).toNanos();

    @Override
    public String name() {
        return "signal";
    }

    @Override
    public boolean handles(Tenant tenant) {
        return tenant.id().startsWith(idPrefix);
    }

    @Override
    public Outcome recycle(Decision decision, Tenant tenant, Recheck recheck) {
        Set<ProcessKey> processes = tenant.processes();
        List<String> errors = new ArrayList<>();
        long signalled = all.send(processes, SIGTERM, errors);
        if (signalled == 0 && !errors.isEmpty()) {
            return new Outcome(false, String.join("; ", errors));
        }
        long start = System.nanoTime();
        while (all.left(processes) > 0 && System.nanoTime() - start < grace.toNanos()) {
            LockSupport.parkNanos(this, POLL_NANOS);
        }
        String done = "SIGTERM to " + signalled + " of " + processes.size() + " processes";
        if (all.left(processes) > 0) {
            // A program that handles SIGTERM may have given its memory back, and run on.
            Optional<String> objection = recheck.objection();
            if (objection.isPresent()) {
                return Outcome.enough(done + ", no SIGKILL: " + objection.get());
            }
            long killed = all.send(processes, SIGKILL, errors);
            done += killed == 0 ? "" : ", SIGKILL to " + killed + " after " + Durations.text(grace);
        }
        return new Outcome(true, errors.isEmpty() ? done : done + "; " + String.join("; ", errors));
    }
}
