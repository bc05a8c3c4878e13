package dev.gpuwarden.core.util;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A daemon thread that takes turns until it is closed. After an exception it logs it and takes the next turn a while later. An {@link
 * Error} ends the thread, and so the program where its handler of uncaught errors does that. Thread-safe.
 */
public final class LoopThread {

    /** The result of a turn after which the thread waits for {@link #wake} alone. */
    public static final long UNTIL_WOKEN = Long.MAX_VALUE;

    /** The result of the last turn. */
    public static final long ENDED = Long.MIN_VALUE;

    private static final long FAILED_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final System.Logger LOG = System.getLogger(LoopThread.class.getName());

    private final Turn turn;
    private final long failedNanos;
    private final Thread thread;
    private final Wakeup wakeup = new Wakeup();
    private final CountDownLatch closed = new CountDownLatch(1);
    private Runnable atEnd = () -> {};
    /** False once no interrupt may hit the thread. Guarded by this. */
    private boolean interruptible = true;

    /** The work of the thread. */
    @FunctionalInterface
    public interface Turn {

        /**
         * Takes one turn.
         *
         * @return the longest time until the next turn, in nanoseconds; {@link #wake} shortens it
         * @throws InterruptedException if the thread was closed by {@link #interrupt}
         */
        long take() throws InterruptedException;
    }

    /** Creates the thread; {@link #start} starts it. */
    public LoopThread(String name, Turn turn) {
        this(name, 0, turn);
    }

    /** @param stackBytes 0 for the JVM's default */
    public LoopThread(String name, long stackBytes, Turn turn) {
        this(name, stackBytes, turn, FAILED_NANOS);
    }

    /** @param failedNanos the pause after an exception */
    LoopThread(String name, long stackBytes, Turn turn, long failedNanos) {
        this.turn = turn;
        this.failedNanos = failedNanos;
        thread = Threads.daemon(name, stackBytes, this::run);
    }

    /** Sets what the thread does after its last turn, without being interrupted. Must be called before the start. */
    public LoopThread atEnd(Runnable work) {
        atEnd = work;
        return this;
    }

    /** Starts the first turn, and returns immediately. */
    public LoopThread start() {
        thread.start();
        return this;
    }

    /** Requests a turn. Does not block. */
    public void wake() {
        wakeup.signal();
    }

    public boolean isClosed() {
        return closed.getCount() == 0;
    }

    /** For the thread: blocks until {@link #wake}, also one since the last wait, until this time is over or the thread is closed. */
    public void await(long nanos) throws InterruptedException {
        wakeup.await(nanos);
    }

    /** For the thread: blocks until this time is over or the thread is closed. */
    public void pause(long nanos) throws InterruptedException {
        var unused = closed.await(nanos, TimeUnit.NANOSECONDS);
    }

    /** Makes the present turn the last one, and ends a wait of the thread. Does not block. */
    public void end() {
        closed.countDown();
        wake();
    }

    /** Makes the present turn the last one, and blocks until the thread has ended, this long at most. */
    public void close(Duration most) {
        end();
        join(most);
    }

    /** Like {@link #close}, and interrupts the present turn. */
    public void interrupt(Duration most) {
        end();
        synchronized (this) {
            if (interruptible) {
                thread.interrupt();
            }
        }
        join(most);
    }

    /** Blocks until the thread has ended, this long at most. Returns whether it has. */
    public boolean join(Duration most) {
        // 0 would have no limit.
        Threads.join(thread, Math.max(1, most.toMillis()));
        return !thread.isAlive();
    }

    /** Returns the thread's name. */
    @Override
    public String toString() {
        return thread.getName();
    }

    private void run() {
        long pause = 0;
        while (pause != ENDED && !isClosed()) {
            try {
                await(pause);
                pause = take();
            } catch (InterruptedException e) {
                // A close interrupts the thread. Any other interrupt must not end it.
                pause = 0;
            }
        }
        // Not after an Error, which ends the program: this work may wait for a driver.
        end(atEnd);
    }

    private long take() throws InterruptedException {
        try {
            return isClosed() ? ENDED : turn.take();
        } catch (RuntimeException e) {
            LOG.log(isClosed() ? Level.DEBUG : Level.ERROR, thread.getName() + " failed", e);
            pause(failedNanos);
            return 0;
        }
    }

    private void end(Runnable work) {
        synchronized (this) {
            interruptible = false;
            var unused = Thread.interrupted();
        }
        try {
            work.run();
        } catch (RuntimeException e) {
            LOG.log(Level.ERROR, thread.getName() + " failed", e);
        }
    }
}
