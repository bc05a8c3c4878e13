package dev.gpuwarden.checks.script;

import dev.gpuwarden.checks.child.ChildRun;
import dev.gpuwarden.checks.child.ChildRun.End;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** A bound on the number of the users' programs that run at the same time, because the node belongs to its workload. */
final class ChildSlots {

    /** The longest time that a program waits for the others. */
    static final Duration WAIT = Duration.ofMinutes(1);

    private static final int AT_ONCE = 2;

    private final Semaphore free = new Semaphore(AT_ONCE, true);

    /** Returns the deadline of a check whose program has this timeout. */
    static Duration deadline(Duration timeout) {
        return timeout.plus(WAIT).plusSeconds(5);
    }

    /** Runs a program as {@link ChildRun#of} when a slot is free. An interrupt ends the program and stays set. */
    ChildRun run(List<String> command, Path folder, Map<String, String> environment, Duration timeout) {
        try {
            if (!free.tryAcquire(WAIT.toMillis(), TimeUnit.MILLISECONDS)) {
                return notRun("other checks kept it waiting for " + WAIT.toSeconds() + " s");
            }
            try {
                return ChildRun.of(command, folder, environment, timeout);
            } finally {
                free.release();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return notRun("was stopped");
        }
    }

    private static ChildRun notRun(String why) {
        return new ChildRun(new End.NotStarted(why), "", "");
    }
}
