package dev.gpuwarden.aggregator.rehearsal;

import dev.gpuwarden.aggregator.rehearsal.PipelineSettings.Mode;
import dev.gpuwarden.aggregator.rehearsal.Timeline.Entry;
import dev.gpuwarden.aggregator.rehearsal.Timeline.Stage;
import dev.gpuwarden.aggregator.rehearsal.Timeline.Verdict;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The steps of a rehearsal while it runs, and its time limit. Not thread-safe. */
final class Entries {

    private final List<Entry> all = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private final InstantSource clock;
    private final Instant end;
    private final Duration limit;

    Entries(InstantSource clock, Duration limit) {
        this.clock = clock;
        this.limit = limit;
        this.end = clock.instant().plus(limit);
    }

    List<Entry> all() {
        return all;
    }

    List<String> notes() {
        return notes;
    }

    void note(String text) {
        notes.add(text);
    }

    void add(Stage stage, Verdict verdict, String what, String why) {
        add(stage, verdict, what, why, Optional.empty());
    }

    void add(Stage stage, Verdict verdict, String what, String why, Optional<Duration> most) {
        all.add(new Entry(stage, verdict, what, why, most));
    }

    /** Adds the step that a mode other than armed makes instead of this stage. */
    void mode(Stage stage, Mode mode, String setting) {
        switch (mode) {
            case ARMED -> {}
            case DRY_RUN ->
                add(
                        stage,
                        Verdict.STOPS,
                        "report the decision only",
                        setting + "=dry-run: in reality the timeline stops here");
            case OFF ->
                add(stage, Verdict.STOPS, "decide nothing", setting + "=off: in reality the timeline stops here");
            case UNKNOWN -> add(stage, Verdict.UNKNOWN, "act, or report only", setting + " is unknown");
        }
    }

    /** Returns true if the time is over. Adds the step that was not validated then. */
    boolean late(Stage stage, String what) {
        if (clock.instant().isBefore(end)) {
            return false;
        }
        add(
                stage,
                Verdict.UNKNOWN,
                what,
                "not validated: the limit of " + limit.toSeconds() + " s is over (--timeout)");
        return true;
    }
}
