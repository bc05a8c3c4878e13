package dev.gpuwarden.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/** Gives the API server and etcd processors of their own, because in a cluster they run on other machines. */
final class ControlPlaneProcessors {

    private static final Set<String> PROGRAMS = Set.of("kube-apiserver", "etcd");

    private ControlPlaneProcessors() {}

    /**
     * Moves the programs that this process has started. Its other processes must already be limited to the rest.
     *
     * @param processors as taskset(1) lists them, for example 2-3
     */
    static void move(String processors) throws IOException, InterruptedException {
        List<ProcessHandle> programs = ProcessHandle.current()
                .descendants()
                .filter(each -> each.info()
                        .command()
                        .map(command ->
                                PROGRAMS.contains(Path.of(command).getFileName().toString()))
                        .orElse(false))
                .toList();
        if (programs.size() != PROGRAMS.size()) {
            throw new IllegalStateException("expected one process of each of " + PROGRAMS + ", seen " + programs);
        }
        for (ProcessHandle program : programs) {
            Process taskset = new ProcessBuilder("taskset", "-a", "-c", "-p", processors, String.valueOf(program.pid()))
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            if (taskset.waitFor() != 0) {
                throw new IllegalStateException(
                        "taskset could not move process " + program.pid() + " to " + processors);
            }
        }
    }
}
