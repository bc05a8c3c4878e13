package dev.gpuwarden.daemon.command;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** A program that runs while the daemon keeps something for it, with this process's input and output. */
final class ReservedProgram {

    private static final String VISIBLE = "CUDA_VISIBLE_DEVICES";

    private final Process process;
    /** The end of this process by a signal ends the program first. */
    private final Thread onSignal = new Thread(this::end, "gpuwarden-stop");

    private ReservedProgram(Process process) {
        this.process = process;
    }

    /**
     * Starts it.
     *
     * @param uuid the GPU that it sees, unless its environment names others; empty for all
     * @throws IOException if there is no such program, or it cannot be run
     */
    static ReservedProgram start(List<String> command, Optional<String> uuid) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
        uuid.ifPresent(gpu -> builder.environment().putIfAbsent(VISIBLE, gpu));
        ReservedProgram program = new ReservedProgram(builder.start());
        Runtime.getRuntime().addShutdownHook(program.onSignal);
        return program;
    }

    boolean runs() {
        return process.isAlive();
    }

    /** Returns its exit code: 128 and the signal where one killed it. */
    int await() {
        try {
            return process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            process.destroy();
            return 128 + 15;
        } finally {
            forget();
        }
    }

    private void forget() {
        try {
            Runtime.getRuntime().removeShutdownHook(onSignal);
        } catch (IllegalStateException e) {
            // The hook runs already.
        }
    }

    /** Ctrl-C of a terminal reaches the program too, so it first gets a second to end by itself. */
    private void end() {
        try {
            if (!process.waitFor(1, TimeUnit.SECONDS)) {
                process.destroy();
                process.waitFor();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
