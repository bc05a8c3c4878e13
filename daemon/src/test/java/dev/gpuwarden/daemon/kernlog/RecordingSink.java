package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.kernel.KernelRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** A sink that records what a source sends, with the thread that reads it. */
final class RecordingSink implements LogSource.Sink, AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(15);

    private final List<KernelRecord> records = new ArrayList<>();
    private final List<String> cursors = new ArrayList<>();
    private final List<String> gaps = new ArrayList<>();
    private long lost;
    private String unreadable = "";
    private final LogSource source;
    private final Thread thread;

    private RecordingSink(LogSource source) {
        this.source = source;
        thread = new Thread(() -> source.read(this), "test-reader");
        thread.setDaemon(true);
    }

    static RecordingSink follow(LogSource source) {
        RecordingSink sink = new RecordingSink(source);
        sink.thread.start();
        return sink;
    }

    /** Reads a source that does not follow. */
    static RecordingSink once(LogSource source) {
        RecordingSink sink = new RecordingSink(source);
        source.read(sink);
        return sink;
    }

    @Override
    public synchronized void record(KernelRecord record, LogSource.Cursor behind) {
        records.add(record);
        cursors.add(behind.text());
        notifyAll();
    }

    @Override
    public synchronized void gap(long count, String why) {
        gaps.add(why);
        lost += count;
        notifyAll();
    }

    @Override
    public synchronized void unreadable(String why) {
        unreadable = why;
        notifyAll();
    }

    @Override
    public synchronized void readable() {
        unreadable = "";
        notifyAll();
    }

    synchronized RecordingSink await(Predicate<RecordingSink> what) {
        long until = System.nanoTime() + PATIENCE.toNanos();
        while (!what.test(this)) {
            long left = until - System.nanoTime();
            if (left <= 0) {
                throw new AssertionError("after " + PATIENCE + " there are " + records.size() + " records, gaps " + gaps
                        + ", unreadable '" + unreadable + "', last "
                        + (records.isEmpty() ? "" : records.get(records.size() - 1)));
            }
            try {
                java.util.concurrent.TimeUnit.NANOSECONDS.timedWait(this, left);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
        return this;
    }

    RecordingSink awaitRecords(int count) {
        return await(sink -> sink.records.size() >= count);
    }

    synchronized List<KernelRecord> records() {
        return List.copyOf(records);
    }

    synchronized List<String> texts() {
        return records.stream().map(KernelRecord::text).toList();
    }

    synchronized List<String> gaps() {
        return List.copyOf(gaps);
    }

    synchronized long lost() {
        return lost;
    }

    synchronized String unreadable() {
        return unreadable;
    }

    synchronized String cursor(int record) {
        return cursors.get(record);
    }

    synchronized String lastCursor() {
        return cursors.get(cursors.size() - 1);
    }

    /** Closes the source and waits for the reader; returns whether it ended. */
    boolean ends() throws InterruptedException {
        source.close();
        thread.join(10_000);
        return !thread.isAlive();
    }

    Thread thread() {
        return thread;
    }

    @Override
    public void close() {
        source.close();
    }
}
