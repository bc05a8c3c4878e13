package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import dev.gpuwarden.core.kernel.Signal;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;

/** What was read and what it said, since the start. Written by one thread at a time, read by any. */
final class LogCounts {

    /** Codes are the catalogues' and the user's, and what a driver of tomorrow prints. */
    private static final int MOST_CODES = 1024;

    private final Map<Writer, Long> records = new EnumMap<>(Writer.class);
    private final Map<KernelLogStats.Code, Long> signals = new LinkedHashMap<>();
    private long all;
    private long forged;
    private long suppressed;
    private long silent;

    synchronized void record(Writer writer) {
        records.merge(writer, 1L, Long::sum);
        all++;
    }

    synchronized void signal(Signal signal) {
        code(new KernelLogStats.Code(signal.kind().label(), signal.code()));
    }

    synchronized void matched(String pattern) {
        code(new KernelLogStats.Code("pattern", pattern));
    }

    private void code(KernelLogStats.Code code) {
        boolean room = signals.size() < MOST_CODES || signals.containsKey(code);
        signals.merge(room ? code : new KernelLogStats.Code(code.kind(), "other"), 1L, Long::sum);
    }

    synchronized void forged() {
        forged++;
    }

    /** Said by an Xid before. */
    synchronized void suppressed() {
        suppressed++;
    }

    /** No event comes of it: it is no fault, or a rule says so. */
    synchronized void silent() {
        silent++;
    }

    synchronized long records() {
        return all;
    }

    synchronized long forgedRecords() {
        return forged;
    }

    synchronized long suppressedSignals() {
        return suppressed;
    }

    synchronized long silentSignals() {
        return silent;
    }

    synchronized Map<Writer, Long> byWriter() {
        return new EnumMap<>(records);
    }

    synchronized Map<KernelLogStats.Code, Long> bySignal() {
        return new LinkedHashMap<>(signals);
    }
}
