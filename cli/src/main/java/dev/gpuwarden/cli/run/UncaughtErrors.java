package dev.gpuwarden.cli.run;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.core.SuppressForbidden;
import java.lang.System.Logger.Level;
import java.util.function.IntConsumer;

/**
 * Ends a long-running program when an {@link Error} ends one of its threads. The program without that thread would seem well and do part
 * of its work; its supervisor starts it again. An exception that ends a thread is logged.
 */
public record UncaughtErrors(IntConsumer end) implements Thread.UncaughtExceptionHandler {

    private static final System.Logger LOG = System.getLogger(UncaughtErrors.class.getName());

    /** Applies to every thread of this process that has no handler of its own. */
    @SuppressForbidden("ends the process without the shutdown hooks, which wait for threads, one of which is gone")
    public static void endProgram() {
        Thread.setDefaultUncaughtExceptionHandler(new UncaughtErrors(Runtime.getRuntime()::halt));
    }

    @Override
    public void uncaughtException(Thread thread, Throwable cause) {
        boolean ends = cause instanceof Error;
        String what = ends ? "; the program ends, so that its supervisor starts it again" : "";
        try {
            LOG.log(Level.ERROR, "the thread " + thread.getName() + " failed" + what, cause);
        } finally {
            if (ends) {
                end.accept(ExitCode.NOT_FIT);
            }
        }
    }
}
