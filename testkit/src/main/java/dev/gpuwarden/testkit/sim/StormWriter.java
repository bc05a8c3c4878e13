package dev.gpuwarden.testkit.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;

/** Writes many lines to the kernel log, in one write or at a rate per second. */
public final class StormWriter {

    private static final int CHUNK = 4096;
    private static final long PAUSE_MILLIS = 20;

    private final KernelLog log;
    private final LongFunction<KernelLine> lines;
    private final long count;
    private final long perSecond;
    private long written;

    /** @param lines by number, from 1 */
    StormWriter(KernelLog log, LongFunction<KernelLine> lines, long count, long perSecond) {
        this.log = log;
        this.lines = lines;
        this.count = count;
        this.perSecond = perSecond;
    }

    void writeAll() {
        writeUpTo(count);
    }

    private void writeUpTo(long due) {
        while (written < due) {
            long end = Math.min(due, written + CHUNK);
            List<KernelLine> chunk = new ArrayList<>((int) (end - written));
            for (long n = written + 1; n <= end; n++) {
                chunk.add(lines.apply(n));
            }
            log.append(chunk);
            written = end;
        }
    }

    /** Writes at the storm's pace on the executor's thread, which is free between writes. The future ends with the last line, or by cancellation. */
    public CompletableFuture<Void> play(ScheduledExecutorService executor) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        step(executor, System.nanoTime(), done);
        return done;
    }

    private void step(ScheduledExecutorService executor, long start, CompletableFuture<Void> done) {
        if (done.isDone()) {
            return;
        }
        try {
            double seconds = (System.nanoTime() - start) / 1e9;
            writeUpTo(Math.min(count, (long) (seconds * perSecond) + 1));
            if (written == count) {
                done.complete(null);
            } else {
                var unused = executor.schedule(() -> step(executor, start, done), PAUSE_MILLIS, TimeUnit.MILLISECONDS);
            }
        } catch (RuntimeException e) {
            done.completeExceptionally(e);
        }
    }
}
