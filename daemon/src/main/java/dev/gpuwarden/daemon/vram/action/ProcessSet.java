package dev.gpuwarden.daemon.vram.action;

import dev.gpuwarden.checks.process.RunningProcesses;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.ProcessSignals;
import dev.gpuwarden.core.port.ProcessSignals.Target;
import dev.gpuwarden.watchdog.observation.ProcessKey;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** Signals to the listed processes of a tenant. A signal reaches the process that was listed, or none. */
public record ProcessSet(Supplier<ProcessSignals> signals, RunningProcesses running) {

    /**
     * Sends a signal.
     *
     * @param errors gets a sentence for each process that runs and did not get it
     * @return the number of processes that got it; one that has ended gets none
     */
    public long send(Set<ProcessKey> processes, int signal, List<String> errors) {
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

    /** Returns the number of those that still run. */
    long left(Set<ProcessKey> processes) {
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
