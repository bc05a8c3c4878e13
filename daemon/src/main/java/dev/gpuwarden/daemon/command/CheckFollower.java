package dev.gpuwarden.daemon.command;

import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.RunListener;
import dev.gpuwarden.core.check.RunningCheck;
import dev.gpuwarden.core.check.RunningCheck.Progress;
import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** Puts the progress of requested checks into words. */
final class CheckFollower implements RunListener {

    private final int total;
    private final Clock clock;
    private final Consumer<String> line;
    private final Map<String, RunningCheck> running = new LinkedHashMap<>();
    private int ended;

    /** @param total number of requested checks */
    CheckFollower(int total, Clock clock, Consumer<String> line) {
        this.total = total;
        this.clock = clock;
        this.line = line;
    }

    @Override
    public void ended(CheckResult result) {
        running.remove(result.check().id());
        ended++;
    }

    @Override
    public void running(List<RunningCheck> now) {
        now.forEach(check -> running.put(check.check().id(), check));
        String checks = running.values().stream().map(this::text).collect(Collectors.joining("; "));
        line.accept(ended + " of " + total + " checks ended" + (checks.isEmpty() ? "" : "; " + checks));
    }

    /** Returns "gpumem for 12 s, 0 of 3 done: memory patterns". */
    private String text(RunningCheck check) {
        Progress progress = check.progress();
        // The clock may have been set back since the run began.
        long seconds =
                Math.max(0, Duration.between(check.since(), clock.instant()).toSeconds());
        return check.check().id() + " for " + seconds + " s"
                + (progress.total() == 0 ? "" : ", " + progress.done() + " of " + progress.total() + " done")
                + (progress.doing().isEmpty() ? "" : ": " + progress.doing());
    }
}
