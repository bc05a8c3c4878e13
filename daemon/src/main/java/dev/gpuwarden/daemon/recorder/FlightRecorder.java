package dev.gpuwarden.daemon.recorder;

import dev.gpuwarden.checks.history.RecentSamples;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.core.event.EventChange;
import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.event.FaultTable.Effect;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.process.GpuMemoryUse;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.daemon.recorder.Recording.Lane;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.zip.GZIPOutputStream;

/**
 * A recorder that stores the node's readings around each new fault, from 60 s before to 30 s after. It stores the
 * first part immediately, in case the node fails before the rest. Faults of one GPU within those 30 s share one
 * recording, so that a storm costs no more than one.
 */
public final class FlightRecorder implements AutoCloseable {

    /** Recordings at one time: more than a node has GPUs. */
    static final int MOST_PENDING = 32;
    /** Faults of one GPU within half a minute; later ones of a storm get no recording. */
    static final int MOST_SHARING = 32;

    private final Sources sources;
    private final Duration grid;
    private final ScheduledExecutorService timer;
    private final LongSupplier nanoTime;
    private final Duration after;
    private final EventReader.Subscription subscription;
    /** Used by the timer's thread only. */
    private final Map<String, Pending> pending = new HashMap<>();

    /** The sources and the destination of recordings. */
    public interface Sources {
        NodeSnapshot node();

        /** Returns one entry for each GPU of the snapshot. */
        List<GpuMemoryUse> memory(NodeSnapshot node);

        RecentSamples samples(GpuIdentity gpu);

        RecentKernelLines lines();

        /** Stores a recording with an event, in place of an earlier one. */
        void keep(long sequence, byte[] gzip);
    }

    private record Pending(
            Instant at,
            long atNanos,
            List<GpuSnapshot> concerned,
            List<GpuMemoryUse> processes,
            List<Long> sequences) {}

    /**
     * @param grid the sampling interval
     * @param timer of one thread, which this may use for some milliseconds
     */
    public FlightRecorder(EventReader book, Sources sources, Duration grid, ScheduledExecutorService timer) {
        this(book, sources, grid, timer, System::nanoTime, Recording.AFTER);
    }

    FlightRecorder(
            EventReader book,
            Sources sources,
            Duration grid,
            ScheduledExecutorService timer,
            LongSupplier nanoTime,
            Duration after) {
        this.after = after;
        this.sources = sources;
        this.grid = grid;
        this.timer = timer;
        this.nanoTime = nanoTime;
        this.subscription = book.listen(this::received);
    }

    private void received(EventChange change) {
        if (change.stored().event().healthy() || change.change().effect() != Effect.RAISED) {
            return;
        }
        long now = nanoTime.getAsLong();
        try {
            timer.execute(() -> begin(
                    change.stored().event(),
                    change.stored().sequence(),
                    change.stored().lastSeen(),
                    now));
        } catch (RejectedExecutionException ending) {
            // The daemon ends: there is no thread left to record.
        }
    }

    private void begin(HealthEvent event, long sequence, Instant at, long atNanos) {
        NodeSnapshot node = sources.node();
        List<GpuMemoryUse> memory = sources.memory(node);
        List<GpuSnapshot> concerned = new ArrayList<>();
        List<GpuMemoryUse> processes = new ArrayList<>();
        for (int i = 0; i < node.gpus().size(); i++) {
            if (concerns(event, node.gpus().get(i).identity())) {
                concerned.add(node.gpus().get(i));
                processes.add(memory.get(i));
            }
        }
        String key = concerned.isEmpty() ? "" : concerned.get(0).identity().selector();
        Pending sharing = pending.get(key);
        if (sharing != null) {
            if (sharing.sequences.size() < MOST_SHARING) {
                sharing.sequences.add(sequence);
            }
            return;
        }
        if (pending.size() >= MOST_PENDING) {
            return;
        }
        Pending fresh = new Pending(at, atNanos, concerned, processes, new ArrayList<>(List.of(sequence)));
        pending.put(key, fresh);
        keep(fresh, Duration.ZERO);
        timer.schedule(() -> end(key), after.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void end(String key) {
        Pending ended = pending.remove(key);
        if (ended != null) {
            keep(ended, after);
        }
    }

    private void keep(Pending one, Duration until) {
        List<Lane> lanes = new ArrayList<>();
        for (GpuSnapshot gpu : sources.node().gpus()) {
            boolean concerned = one.concerned.stream()
                    .anyMatch(c -> c.identity().selector().equals(gpu.identity().selector()));
            lanes.add(new Lane(gpu.identity(), concerned, sources.samples(gpu.identity())));
        }
        Recording recording = new Recording(
                one.at,
                one.atNanos,
                grid,
                until,
                lanes,
                sources.lines().between(one.at.minus(Recording.BEFORE), one.at.plus(until)),
                one.processes);
        byte[] gzip = gzip(Output.json(recording.tree()));
        one.sequences.forEach(sequence -> sources.keep(sequence, gzip));
    }

    private static boolean concerns(HealthEvent event, GpuIdentity gpu) {
        return Subject.of(gpu).entities().stream().anyMatch(event.entities()::contains);
    }

    private static byte[] gzip(String text) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (OutputStream out = new GZIPOutputStream(bytes)) {
            out.write(text.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /** Stops recording. A recording in progress keeps its first part. */
    @Override
    public void close() {
        subscription.close();
    }
}
