package dev.gpuwarden.checks.telemetry;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.GpuProcess;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The published readings of one GPU and of its partitions. Not thread-safe: its {@link GpuMonitor} has the lock. */
final class GpuReadings {

    private static final GpuFrame EMPTY = new GpuFrame();

    private final GpuFrame frame = EMPTY.copy();
    private GpuFrame[] mig;
    private Reading<List<GpuProcess>> processes = Reading.absent(Absence.PENDING);
    private long processesAt;
    private long refused;

    GpuReadings(GpuIdentity identity) {
        this.mig = emptyFrames(identity);
    }

    private static GpuFrame[] emptyFrames(GpuIdentity identity) {
        return Stream.generate(EMPTY::copy).limit(identity.mig().size()).toArray(GpuFrame[]::new);
    }

    /** Keeps the readings of the partitions that both have; those of new ones are empty. */
    void keepPartitions(GpuIdentity last, GpuIdentity next) {
        List<GpuIdentity.MigDevice> before = last.mig();
        List<GpuIdentity.MigDevice> after = next.mig();
        GpuFrame[] frames = emptyFrames(next);
        for (int i = 0; i < frames.length; i++) {
            for (int j = 0; j < mig.length; j++) {
                if (after.get(i).uuid().equals(before.get(j).uuid())) {
                    frames[i] = mig[j];
                }
            }
        }
        mig = frames;
    }

    /** Returns whether there are as many partitions as that. */
    boolean hasPartitions(GpuFrame[] freshMig) {
        return freshMig.length == mig.length;
    }

    void publish(GpuFrame fresh, GpuFrame[] freshMig, int refusedNow) {
        frame.copyFrom(fresh);
        for (int i = 0; i < mig.length; i++) {
            mig[i].copyFrom(freshMig[i]);
        }
        refused += refusedNow;
    }

    void publishProcesses(Reading<List<GpuProcess>> listed, long nowNanos) {
        processes = listed;
        processesAt = nowNanos;
    }

    void fill(GpuFrame scratch, GpuFrame[] migScratch) {
        scratch.copyFrom(frame);
        for (int i = 0; i < migScratch.length && i < mig.length; i++) {
            migScratch[i].copyFrom(mig[i]);
        }
    }

    /** Returns whether everything was read once. */
    boolean complete() {
        return frame.sampledAtNanos(Cadence.FAST) != 0 && frame.sampledAtNanos(Cadence.SLOW) != 0 && processesAt != 0;
    }

    /** Returns the published frame itself, not a copy. */
    GpuFrame frame() {
        return frame;
    }

    Reading<List<GpuProcess>> processes() {
        return processes;
    }

    /** Returns when the processes were listed; 0 before the first time. */
    long processesAtNanos() {
        return processesAt;
    }

    /**
     * Returns a copy of all readings.
     *
     * @param stale whether readings of the fast and of the slow cadence are stale
     * @param processes those to show, which may be stale
     */
    GpuSnapshot snapshot(
            GpuIdentity identity,
            GpuState state,
            String detail,
            boolean[] stale,
            Reading<List<GpuProcess>> processes,
            long nowNanos) {
        GpuFrame copy = frame.copy();
        FrameValidator.markStale(copy, stale);
        List<GpuSnapshot.MigSnapshot> partitions = new ArrayList<>(mig.length);
        for (int i = 0; i < mig.length; i++) {
            GpuFrame part = mig[i].copy();
            FrameValidator.markStale(part, stale);
            partitions.add(new GpuSnapshot.MigSnapshot(identity.mig().get(i), part));
        }
        return new GpuSnapshot(
                identity,
                state,
                detail,
                copy,
                age(frame.sampledAtNanos(Cadence.FAST), nowNanos),
                processes,
                age(processesAt, nowNanos),
                refused,
                List.copyOf(partitions));
    }

    private static Reading<Long> age(long atNanos, long nowNanos) {
        return atNanos == 0 ? Reading.absent(Absence.PENDING) : Reading.of(Math.max(0, nowNanos - atNanos));
    }
}
