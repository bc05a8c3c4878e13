package dev.gpuwarden.daemon.checkpoint;

import dev.gpuwarden.checks.process.PodProcess;
import dev.gpuwarden.checks.process.PodProcesses;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.ProcessSignals;
import dev.gpuwarden.core.port.ProcessSignals.Target;
import dev.gpuwarden.core.util.BoundedMap;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * A sender of signals to the main processes of a pod's containers. It sends each request once and logs it. Blocks
 * while it reads the node's processes. Thread-safe.
 */
public final class PodSignals {

    private static final System.Logger LOG = System.getLogger(PodSignals.class.getName());

    /** The form of a pod's UID. Static pods have the digest of their manifest. */
    private static final Pattern UID = Pattern.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}");

    /**
     * The number of remembered answers. A request that is repeated because its answer was lost gets that answer and
     * no second signal.
     */
    private static final int REMEMBERED = 256;

    private final boolean on;
    private final PodProcesses processes;
    private final Supplier<ProcessSignals> signals;
    private final Map<String, Answer> answers = new BoundedMap<>(REMEMBERED, false);

    /**
     * The outcome of a request.
     *
     * @param signalled the number of processes that got the signal
     * @param error why other processes, or all, got none; empty if all did
     */
    public record Answer(int signalled, String error) {}

    /**
     * Creates a sender.
     *
     * @param on true if the node's operator permits signals
     */
    PodSignals(boolean on, PodProcesses processes, Supplier<ProcessSignals> signals) {
        this.on = on;
        this.processes = processes;
        this.signals = signals;
    }

    /**
     * Sends a signal.
     *
     * @param id of the request
     */
    public synchronized Answer send(String id, String podUid, String signal) {
        Answer before = answers.get(id);
        if (before != null) {
            return before;
        }
        Answer answer = send(podUid, signal);
        answers.put(id, answer);
        return answer;
    }

    private Answer send(String podUid, String signal) {
        if (!on) {
            return new Answer(0, "signals are off on this node (--checkpoint.signal=on)");
        }
        Optional<Integer> number = SignalName.number(signal);
        if (number.isEmpty()) {
            return new Answer(0, "expected one of " + SignalName.expected());
        }
        if (!UID.matcher(podUid).matches()) {
            return new Answer(0, "expected the UID of a pod");
        }
        Reading<List<PodProcess>> seen = processes.of(podUid);
        if (!(seen instanceof Reading.Present<List<PodProcess>> all)) {
            return new Answer(0, ((Reading.Absent<?>) seen).text());
        }
        List<PodProcess> mains = MainProcesses.of(all.value());
        if (mains.isEmpty()) {
            return new Answer(0, "no process of this pod runs here");
        }
        List<String> errors = new ArrayList<>();
        for (PodProcess main : mains) {
            send(main, podUid, signal, number.get()).ifPresent(why -> errors.add("process " + main.pid() + ": " + why));
        }
        return new Answer(mains.size() - errors.size(), String.join("; ", errors));
    }

    private Optional<String> send(PodProcess main, String podUid, String signal, int number) {
        Reading<Target> held = signals.get().hold(main.pid());
        if (!(held instanceof Reading.Present<Target> present)) {
            return Optional.of(((Reading.Absent<?>) held).text());
        }
        try (Target target = present.value()) {
            // The target is the process that was found, or one that has ended: a signal to it does nothing.
            boolean same = processes
                    .find(main.pid(), podUid)
                    .filter(now -> now.startTicks() == main.startTicks())
                    .isPresent();
            Optional<String> error = same ? target.send(number) : Optional.of("it has ended");
            LOG.log(
                    Level.INFO,
                    "checkpoint: " + signal + " for the aggregator to process " + main.pid() + " of container "
                            + main.containerId().substring(0, 12) + " of pod " + podUid
                            + error.map(why -> ": not sent, " + why).orElse(": sent"));
            return error;
        }
    }

    /** The signals that a pod may request. Signals that no program can handle (KILL, STOP) are not among them. */
    private static final class SignalName {

        /** Signal numbers of x86-64 and arm64. */
        private static final Map<String, Integer> NUMBERS =
                new TreeMap<>(Map.of("SIGHUP", 1, "SIGINT", 2, "SIGUSR1", 10, "SIGUSR2", 12, "SIGTERM", 15));

        private SignalName() {}

        static Optional<Integer> number(String name) {
            return Optional.ofNullable(NUMBERS.get(name));
        }

        static String expected() {
            return String.join(", ", NUMBERS.keySet());
        }
    }
}
