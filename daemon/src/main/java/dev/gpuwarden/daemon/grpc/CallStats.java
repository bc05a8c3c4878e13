package dev.gpuwarden.daemon.grpc;

import io.grpc.Status;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.ObjLongConsumer;

/** Counters of calls and connections. Bounded: methods that are not served share one name. Thread-safe. */
public final class CallStats {

    /** The reason of a refusal before a call was served. */
    public enum Refusal {
        /** Too many connections. */
        CONNECTIONS,
        /** Unfinished calls hold too many bytes. */
        MEMORY,
        /** Too many requests wait for a worker. */
        QUEUE,
        /** Too many watchers. */
        WATCHERS;

        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** The reason why a report of another program was refused. */
    public enum RefusedReport {
        /** Its sender may not report here. */
        REPORTER,
        /** It names another node, or an agent that is not the reporter's. */
        NAME,
        /** It is healthy, and names only faults that its reporter may not end. */
        ACQUITTAL;

        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Calls of one method that ended with one status. */
    public record Ended(String service, String method, Status.Code code) {}

    private static final String UNKNOWN = "unknown";

    private final Map<Ended, LongAdder> ended = new ConcurrentHashMap<>();
    private final LongAdder[] refused = new LongAdder[Refusal.values().length];
    private final LongAdder[] refusedReports = new LongAdder[RefusedReport.values().length];
    private final AtomicInteger connections = new AtomicInteger();
    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicInteger watchers = new AtomicInteger();
    private final LongSupplier held;

    /** @param held returns the bytes that unfinished calls hold now */
    public CallStats(LongSupplier held) {
        this.held = held;
        for (int i = 0; i < refused.length; i++) {
            refused[i] = new LongAdder();
        }
        for (int i = 0; i < refusedReports.length; i++) {
            refusedReports[i] = new LongAdder();
        }
    }

    public void connected() {
        connections.incrementAndGet();
    }

    public void disconnected() {
        connections.decrementAndGet();
    }

    public void began() {
        calls.incrementAndGet();
    }

    /**
     * Counts the end of a call.
     *
     * @param method in full, "package.Service/Method"; empty if no such method is served
     */
    public void ended(String method, Status.Code code) {
        calls.decrementAndGet();
        int slash = method.lastIndexOf('/');
        Ended key = slash < 0
                ? new Ended(UNKNOWN, UNKNOWN, code)
                : new Ended(method.substring(0, slash), method.substring(slash + 1), code);
        ended.computeIfAbsent(key, k -> new LongAdder()).increment();
    }

    public void refused(Refusal why) {
        refused[why.ordinal()].increment();
    }

    public void refused(RefusedReport why) {
        refusedReports[why.ordinal()].increment();
    }

    public long refusals(RefusedReport why) {
        return refusedReports[why.ordinal()].sum();
    }

    public void watchers(int change) {
        watchers.addAndGet(change);
    }

    /** Returns the number of open connections. */
    public int connections() {
        return connections.get();
    }

    /** Returns the number of unfinished calls, watches included. */
    public int calls() {
        return calls.get();
    }

    /** Returns the bytes that unfinished calls hold. */
    public long heldBytes() {
        return held.getAsLong();
    }

    /** Returns the number of open watches. */
    public int watchers() {
        return watchers.get();
    }

    public void eachEnded(ObjLongConsumer<Ended> consumer) {
        ended.forEach((key, count) -> consumer.accept(key, count.sum()));
    }

    public long refusals(Refusal why) {
        return refused[why.ordinal()].sum();
    }
}
