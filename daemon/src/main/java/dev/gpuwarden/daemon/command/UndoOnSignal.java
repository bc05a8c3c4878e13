package dev.gpuwarden.daemon.command;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Keeps a process that a signal ends until its work is undone: the signal interrupts the thread that works, which undoes its
 * changes and closes this. Without it, Java would end the process in the middle.
 */
final class UndoOnSignal implements AutoCloseable {

    /** Less than the 30 s that Kubernetes leaves a pod of the janitor. */
    private static final Duration LONGEST = Duration.ofSeconds(25);

    private final Thread worker = Thread.currentThread();
    private final CountDownLatch undone = new CountDownLatch(1);
    private final Thread hook = new Thread(this::stop, "gpuwarden-undo");
    private volatile boolean stopped;

    private UndoOnSignal() {}

    /** Begins for the work of this thread. */
    static UndoOnSignal ofThisThread() {
        UndoOnSignal undo = new UndoOnSignal();
        Runtime.getRuntime().addShutdownHook(undo.hook);
        return undo;
    }

    private void stop() {
        stopped = true;
        worker.interrupt();
        try {
            if (undone.await(LONGEST.toMillis(), TimeUnit.MILLISECONDS)) {
                // Main ends the process with the command's exit code during this wait.
                var unused = new CountDownLatch(1).await(500, TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns true once a signal ends this process. */
    boolean isStopped() {
        return stopped;
    }

    /** Lets a process that a signal ends go. */
    @Override
    public void close() {
        undone.countDown();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The hook runs already.
        }
    }
}
