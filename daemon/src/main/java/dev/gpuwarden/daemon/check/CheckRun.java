package dev.gpuwarden.daemon.check;

import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.RunningCheck;
import dev.gpuwarden.core.check.RunningCheck.Progress;
import java.time.Instant;

/** One run of a check, from its begin to its end. Thread-safe. */
final class CheckRun {

    private final CheckInfo info;
    private final Instant since;
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

    void report(Progress reported) {
        progress = reported;
    }

    RunningCheck now() {
        return new RunningCheck(info, since, progress);
    }
}
