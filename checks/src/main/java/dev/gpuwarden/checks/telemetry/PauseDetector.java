package dev.gpuwarden.checks.telemetry;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A detector of time in which this process did not run: it was stopped, its virtual machine was paused, or it got no processor. A
 * driver call is not late because of such time.
 *
 * <p>A thread that does nothing else wakes up four times in a deadline. Each interval counts for its planned length at most. A
 * wake-up that is late by more than a quarter of the deadline ends a pause. Calls under way are timed from that end, since the thread in
 * the driver needs the processor too before it can return. If pauses do not end, a call is late after ten counted deadlines, so
 * that a driver that hangs on a machine without spare time is found.
 *
 * <p>Thread-safe; queries allocate nothing, except for texts.
 */
final class PauseDetector implements Runnable {

    private static final System.Logger LOG = System.getLogger(PauseDetector.class.getName());

    /** Counted deadlines after which a call is late whatever pauses there were. */
    private static final int PATIENCE = 10;

    private static final long SHORTEST_TICK = TimeUnit.MILLISECONDS.toNanos(5);
    /** Less lateness is usual on a machine with other work. */
    private static final long LEAST_SLACK = TimeUnit.MILLISECONDS.toNanos(100);

    private static final long REPORT_INTERVAL = TimeUnit.MINUTES.toNanos(1);

    private final LongSupplier clock;
    /** The planned interval of ticks. */
    final long tick;

    private final long slack;
    /** Shorter pauses make no call late, and are usual while a program starts. */
    private final long shown;

    private long tickedAt;
    /** Time in which this process ran, up to the last tick. */
    private long counted;
    /** The counted time at the end of the last pause; before the first one, less than any. */
    private long resumed = Long.MIN_VALUE / 2;

    private long resumedAt;
    /** Length of the last pause that is shown; 0 before the first one. */
    private long paused;

    private boolean reported = true;
    private long reportedAt;

    private volatile boolean stopped;
    private volatile @Nullable Thread thread;

    PauseDetector(LongSupplier clock, Duration deadline) {
        this.clock = clock;
        this.tick = Math.max(deadline.toNanos() / 4, SHORTEST_TICK);
        this.slack = Math.max(deadline.toNanos() / 4, LEAST_SLACK);
        this.shown = Math.max(deadline.toNanos() - tick, slack);
        this.tickedAt = clock.getAsLong();
        this.reportedAt = tickedAt - REPORT_INTERVAL;
    }

    @Override
    public void run() {
        thread = Thread.currentThread();
        while (!stopped) {
            LockSupport.parkNanos(this, tick);
            tick(clock.getAsLong());
        }
    }

    /** Records that this process runs now. */
    synchronized void tick(long nowNanos) {
        long late = nowNanos - tickedAt - tick;
        counted = countedUntil(nowNanos);
        tickedAt = nowNanos;
        if (late > slack) {
            resumed(counted, nowNanos, late);
        }
    }

    /** Records that a thread woke up that waited for a time. It may have lacked a processor while this one's thread did not. */
    synchronized void woke(long plannedNanos, long nowNanos) {
        if (nowNanos - plannedNanos > slack) {
            resumed(countedUntil(nowNanos), nowNanos, nowNanos - plannedNanos);
        }
    }

    private void resumed(long countedNow, long nowNanos, long late) {
        resumed = countedNow;
        if (late >= shown) {
            resumedAt = nowNanos;
            paused = late;
            reported = false;
        }
    }

    /** Returns the counted time at a moment. Differences of it are the time in which this process ran. */
    synchronized long counted(long nowNanos) {
        return countedUntil(nowNanos);
    }

    private long countedUntil(long nowNanos) {
        return counted + Math.min(Math.max(0, nowNanos - tickedAt), tick);
    }

    /**
     * Returns whether a call is late.
     *
     * @param started {@link #counted} at its start
     */
    synchronized boolean late(long started, long deadlineNanos, long nowNanos) {
        if (lasts(nowNanos)) {
            return false;
        }
        long now = countedUntil(nowNanos);
        return now - Math.max(started, resumed) > deadlineNanos || now - started > PATIENCE * deadlineNanos;
    }

    /** Returns whether no tick has ended a pause yet; the present moment may be its end. */
    private boolean lasts(long nowNanos) {
        return nowNanos - tickedAt - tick > slack;
    }

    /** Returns the last pause that could have made a call late, as text, if it ended less than this time ago, or lasts; empty otherwise. */
    synchronized String recent(long withinNanos, long nowNanos) {
        if (nowNanos - tickedAt - tick >= shown) {
            return text(nowNanos - tickedAt - tick);
        }
        return paused > 0 && nowNanos - resumedAt < withinNanos ? text(paused) : "";
    }

    /** Logs a pause that was not reported yet, once a minute at most. */
    synchronized void report(long nowNanos) {
        if (reported || nowNanos - reportedAt < REPORT_INTERVAL) {
            return;
        }
        reported = true;
        reportedAt = nowNanos;
        LOG.log(Level.WARNING, text(paused) + "; driver calls under way are timed from its end");
    }

    private static String text(long nanos) {
        return String.format(Locale.ROOT, "the daemon itself did not run for %.1f s", nanos / 1e9);
    }

    void stop() {
        stopped = true;
        LockSupport.unpark(thread);
    }
}
