package dev.gpuwarden.aggregator.rehearsal;

import dev.gpuwarden.aggregator.client.AccessReviewer.Right;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The result of a rehearsal. Pure.
 *
 * @param account user name of the aggregator's ServiceAccount
 * @param gpu the GPU of the fault, for operators
 * @param current the faults that the node has now, for operators
 * @param entries the steps in their order
 * @param checked user whose rights were checked: the ServiceAccount, or the caller
 */
public record Timeline(
        Instant at,
        String node,
        String account,
        String gpu,
        List<String> faults,
        List<String> current,
        List<Entry> entries,
        String checked,
        List<MissingRights> missing,
        List<String> notes) {

    /** The stages from the fault to the return. */
    public enum Stage {
        FAULT,
        QUARANTINE,
        DRAIN,
        REPAIR,
        MAINTENANCE,
        RETURN;

        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** The verdict on a step. */
    public enum Verdict {
        /** The step would be made. */
        DOES,
        /** The step would be made after something that this program does not cause. */
        WAITS,
        /** The step would not be made, so no later one either. */
        STOPS,
        /** The step is not known. */
        UNKNOWN;

        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * A step.
     *
     * @param what the step
     * @param why the reason of the verdict, or the answer of the API server; may be empty
     * @param most the longest time of the step; empty if no limit is known
     */
    public record Entry(Stage stage, Verdict verdict, String what, String why, Optional<Duration> most) {}

    /** @param source the manifests that grant the rights */
    public record MissingRights(String setting, List<Right> rights, String source) {}

    public Timeline {
        faults = List.copyOf(faults);
        current = List.copyOf(current);
        entries = List.copyOf(entries);
        missing = List.copyOf(missing);
        notes = List.copyOf(notes);
    }

    /**
     * Returns the longest time of all steps that have a limit. Pods leave at the same time, other steps follow each other. Steps
     * without a limit are not in it.
     */
    public Duration most() {
        Duration drain = Duration.ZERO;
        Duration others = Duration.ZERO;
        for (Entry entry : entries) {
            Duration most = entry.most().orElse(Duration.ZERO);
            if (entry.stage() != Stage.DRAIN) {
                others = others.plus(most);
            } else if (most.compareTo(drain) > 0) {
                drain = most;
            }
        }
        return drain.plus(others);
    }

    /** Returns the first step that would stop the repair; empty if none would. */
    public Optional<Entry> stop() {
        return entries.stream()
                .filter(entry -> entry.verdict() == Verdict.STOPS)
                .findFirst();
    }

    /** Returns the first step that is not known; empty if all are known. */
    public Optional<Entry> doubt() {
        return entries.stream()
                .filter(entry -> entry.verdict() == Verdict.UNKNOWN)
                .findFirst();
    }
}
