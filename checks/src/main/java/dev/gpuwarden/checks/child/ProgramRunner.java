package dev.gpuwarden.checks.child;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Starts programs, as {@link ChildRun#of} does. */
public interface ProgramRunner {

    ProgramRunner PROCESSES = ChildRun::of;

    /** Runs a program in this thread. Blocks for this time at most. @throws InterruptedException if this thread is interrupted */
    ChildRun run(
            List<String> command, Path folder, Map<String, String> environment, Duration timeout, ChildRun.Stop stop)
            throws InterruptedException;
}
