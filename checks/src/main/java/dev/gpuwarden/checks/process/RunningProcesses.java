package dev.gpuwarden.checks.process;

import java.nio.file.Path;

/** The processes that run now. Thread-safe; reads one small file for each query. */
public final class RunningProcesses {

    private final Procfs procfs;

    /** @param proc the /proc whose PIDs the caller uses */
    public RunningProcesses(Path proc) {
        this.procfs = new Procfs(proc);
    }

    /** Returns whether this process runs, and not a later one with its PID. */
    public boolean contains(int pid, long startTicks) {
        return procfs.runs(pid, startTicks);
    }
}
