package dev.gpuwarden.checks;

import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.RunningCheck;
import dev.gpuwarden.core.check.RunningCheck.Progress;
import dev.gpuwarden.core.health.Finding;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** One run of a check, from its begin to its end. Thread-safe. */
final class CheckRun {

    private final CheckInfo info;
    private final Instant since;
    private final List<Finding> proven = new CopyOnWriteArrayList<>();
    private volatile Progress progress = Progress.NONE;

    CheckRun(CheckInfo info, Instant since) {
        this.info = info;
        this.since = since;
    }

    CheckInfo info() {
        return info;
    }

    Instant since() {
        return since;
    }

    /** Keeps a finding that stands before the end of the run. */
    void prove(Finding finding) {
        if (proven.size() < CheckExecution.MOST_FINDINGS) {
            proven.add(finding);
        }
    }

    List<Finding> proven() {
        return List.copyOf(proven);
    }

    void report(Progress reported) {
        progress = reported;
    }

    RunningCheck now() {
        return new RunningCheck(info, since, progress);
    }
}
