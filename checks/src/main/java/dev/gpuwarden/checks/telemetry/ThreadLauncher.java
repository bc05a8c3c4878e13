package dev.gpuwarden.checks.telemetry;

import dev.gpuwarden.core.util.Threads;

/** A starter of threads. Tests use one that starts none, and take the turns themselves. */
interface ThreadLauncher {

    void launch(String name, Runnable body);

    /** Returns a launcher of daemon threads, because a thread may never return from the driver. */
    static ThreadLauncher threads() {
        // JNA and the driver need little; the default of a megabyte is only reserved, but 64 GPUs reserve it 64 times.
        return (name, body) ->
                Threads.daemon(name, Threads.SMALL_STACK_BYTES, body).start();
    }
}
