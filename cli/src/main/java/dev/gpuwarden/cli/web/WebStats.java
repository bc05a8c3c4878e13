package dev.gpuwarden.cli.web;

import java.lang.System.Logger.Level;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counters of one or more servers: connections, and requests that were refused. It logs refusals once a minute.
 * Thread-safe.
 */
public final class WebStats {

    private static final System.Logger LOG = System.getLogger(WebStats.class.getName());
    private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(1);

    /** The reason for which a client got no answer, or only a part of it. */
    public enum Refusal {
        /** Too many connections, and none of them is idle. */
        CONNECTIONS,
        /** An idle connection was closed for a new one. */
        EVICTED,
        /** Too many requests wait for the same handler. */
        QUEUE,
        /** Too many bytes of answers are being written. */
        MEMORY,
        /** The request came too slowly, or the answer was taken too slowly. */
        TIME;

        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private final AtomicInteger connections = new AtomicInteger();
    private final AtomicLong bodyBytes = new AtomicLong();
    private final LongAdder[] refused = new LongAdder[Refusal.values().length];
    private final AtomicLong loggedNanos = new AtomicLong(System.nanoTime() - QUIET_NANOS);

    public WebStats() {
        for (int i = 0; i < refused.length; i++) {
            refused[i] = new LongAdder();
        }
    }

    void connected() {
        connections.incrementAndGet();
    }

    void disconnected() {
        connections.decrementAndGet();
    }

    void held(long bytes) {
        bodyBytes.addAndGet(bytes);
    }

    void refused(Refusal why, Object peer) {
        refused[why.ordinal()].increment();
        long now = System.nanoTime();
        long last = loggedNanos.get();
        if (now - last >= QUIET_NANOS && loggedNanos.compareAndSet(last, now)) {
            LOG.log(
                    Level.WARNING,
                    "HTTP requests are refused: " + why.label() + ", the last from " + peer
                            + "; gpuwarden_web_refused_total counts them, this is logged once a minute");
        }
    }

    /** Returns the number of open connections. */
    public int connections() {
        return connections.get();
    }

    /** Returns the bytes of answers that are being written. */
    public long bodyBytes() {
        return bodyBytes.get();
    }

    public long refusals(Refusal why) {
        return refused[why.ordinal()].sum();
    }
}
