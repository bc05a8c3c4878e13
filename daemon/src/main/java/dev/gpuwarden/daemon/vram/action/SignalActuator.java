package dev.gpuwarden.daemon.vram.action;

import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.ProcessSignals;
import dev.gpuwarden.core.port.ProcessSignals.Target;
import dev.gpuwarden.daemon.process.RunningProcesses;
import dev.gpuwarden.daemon.vram.Actuator;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.observation.ProcessKey;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Ends the processes of a tenant that hold the GPU: SIGTERM, and SIGKILL to those that still run after the grace. A
 * signal reaches the process that was listed, or none.
 */
public final class SignalActuator implements Actuator {

    /** Signal numbers of x86-64 and arm64. */
    private static final int SIGTERM = 15;

    private static final int SIGKILL = 9;
    private static final long POLL_NANOS = Duration.ofMillis(50).toNanos();

    private final String idPrefix;
    private final Supplier<ProcessSignals> signals;
    private final RunningProcesses running;
    private final Duration grace;

    /** @param idPrefix beginning of the identity of the tenants that it handles */
    public SignalActuator(String idPrefix, Supplier<ProcessSignals> signals, RunningProcesses running, Duration grace) {
        this.idPrefix = idPrefix;
        this.signals = signals;
        this.running = running;
        this.grace = grace;
    }

    @Override
    public String name() {
        return "signal";
    }

    @Override
    public boolean handles(Tenant tenant) {
        return tenant.id().startsWith(idPrefix);
    }

    @Override
    public Outcome recycle(Decision decision, Tenant tenant) {
        Set<ProcessKey> processes = tenant.processes();
        List<String> errors = new ArrayList<>();
        long signalled = send(processes, SIGTERM, errors);
        if (signalled == 0 && !errors.isEmpty()) {
            return new Outcome(false, String.join("; ", errors));
        }
        long start = System.nanoTime();
        while (left(processes) > 0 && System.nanoTime() - start < grace.toNanos()) {
            LockSupport.parkNanos(this, POLL_NANOS);
        }
        long killed = send(processes, SIGKILL, errors);
        String done = "SIGTERM to " + signalled + " of " + processes.size() + " processes"
                + (killed == 0 ? "" : ", SIGKILL to " + killed + " after " + Durations.text(grace));
        return new Outcome(true, errors.isEmpty() ? done : done + "; " + String.join("; ", errors));
    }

    /** Returns the number of processes that got the signal; one that has ended gets none. */
    private long send(Set<ProcessKey> processes, int signal, List<String> errors) {
        long sent = 0;
        for (ProcessKey process : processes) {
            if (running.contains(process.pid(), process.startTicks())) {
                Optional<String> error = send(process, signal);
                error.ifPresent(why -> errors.add("process " + process.pid() + ": " + why));
                sent += error.isEmpty() ? 1 : 0;
            }
        }
        return sent;
    }

    private long left(Set<ProcessKey> processes) {
        return processes.stream()
                .filter(process -> running.contains(process.pid(), process.startTicks()))
                .count();
    }

    private Optional<String> send(ProcessKey process, int signal) {
        Reading<Target> held = signals.get().hold(process.pid());
        if (held instanceof Reading.Absent<Target> none) {
            return Optional.of(none.text());
        }
        try (Target target = held.asOptional().orElseThrow()) {
            // The handle is of a process that exists now; only if it is the listed one, the signal is for it.
            return running.contains(process.pid(), process.startTicks())
                    ? target.send(signal)
                    : Optional.of("it has ended");
        }
    }
}
