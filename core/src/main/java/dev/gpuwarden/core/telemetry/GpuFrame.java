package dev.gpuwarden.core.telemetry;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * All readings of one GPU, in one direct buffer that native code fills in one call.
 *
 * <p>Layout, native byte order: a header of {@value #HEADER_BYTES} bytes, then one slot of {@value #SLOT_BYTES} bytes for each
 * {@link GpuMetric}, then for each link of {@link LinkMetric#MAX_LINKS} one slot for each {@link LinkMetric}. A slot is the raw
 * value (int64 at 0), the {@link Absence} ordinal (int32 at 8) and the driver's return code (int32 at 12). A new frame is all
 * zeros: every reading {@link Absence#PENDING}.
 *
 * <p>Not thread-safe: one thread fills a frame, and hands on copies ({@link #copyFrom}). Reading primitives allocates nothing.
 */
public final class GpuFrame {

    public static final int HEADER_BYTES = 64;
    public static final int SLOT_BYTES = 16;
    /** int64 each, by {@link Cadence} ordinal: System.nanoTime when the cadence's last sampling ended; 0 = never. */
    public static final int HEADER_SAMPLED_AT = 0;
    /** int64 each, by {@link Cadence} ordinal: nanoseconds that the cadence's last sampling took. */
    public static final int HEADER_DURATION = 24;
    /** int64: driver calls of the last sampling. */
    public static final int HEADER_CALLS = 48;

    private static final int LINKS_AT = HEADER_BYTES + GpuMetric.count() * SLOT_BYTES;
    public static final int BYTES = LINKS_AT + LinkMetric.MAX_LINKS * LinkMetric.count() * SLOT_BYTES;
    /** Number of slots, whole-GPU and per-link ones together. */
    public static final int SLOTS = (BYTES - HEADER_BYTES) / SLOT_BYTES;

    private final ByteBuffer buffer;

    /** An empty frame that native code can fill. */
    public GpuFrame() {
        this(ByteBuffer.allocateDirect(BYTES));
    }

    private GpuFrame(ByteBuffer buffer) {
        this.buffer = buffer.order(ByteOrder.nativeOrder());
    }

    /**
     * Returns a copy on the Java heap, for readers: direct memory would wait for a garbage collection, which an idle
     * daemon runs rarely. No sampler can fill the copy.
     */
    public GpuFrame copy() {
        GpuFrame copy = new GpuFrame(ByteBuffer.allocate(BYTES));
        copy.copyFrom(this);
        return copy;
    }

    public static int slot(GpuMetric metric) {
        return metric.ordinal();
    }

    public static int slot(LinkMetric metric, int link) {
        return GpuMetric.count() + link * LinkMetric.count() + metric.ordinal();
    }

    /** Returns the memory itself, for the sampler that fills it. */
    public ByteBuffer buffer() {
        return buffer;
    }

    public Absence absence(int slot) {
        return Absence.of(buffer.getInt(at(slot) + 8));
    }

    public boolean present(int slot) {
        return buffer.getInt(at(slot) + 8) == Absence.PRESENT.ordinal();
    }

    /** Returns the raw value; valid only where {@link #present}. */
    public long raw(int slot) {
        return buffer.getLong(at(slot));
    }

    /** Returns the driver's return code; 0 where there was none. */
    public int code(int slot) {
        return buffer.getInt(at(slot) + 12);
    }

    public boolean present(GpuMetric metric) {
        return present(slot(metric));
    }

    public long raw(GpuMetric metric) {
        return raw(slot(metric));
    }

    /** Returns the reading in its raw unit, or the cause of its absence. Allocates. */
    public Reading<Long> reading(GpuMetric metric) {
        return reading(slot(metric));
    }

    public Reading<Long> reading(int slot) {
        return present(slot) ? Reading.of(raw(slot)) : Reading.absent(absence(slot), code(slot), "");
    }

    public void put(int slot, long raw) {
        int at = at(slot);
        buffer.putLong(at, raw);
        buffer.putInt(at + 8, Absence.PRESENT.ordinal());
        buffer.putInt(at + 12, 0);
    }

    public void putAbsent(int slot, Absence cause, int code) {
        int at = at(slot);
        buffer.putLong(at, 0);
        buffer.putInt(at + 8, cause.ordinal());
        buffer.putInt(at + 12, code);
    }

    /** Returns System.nanoTime of the end of the cadence's last complete sampling; 0 = never. */
    public long sampledAtNanos(Cadence cadence) {
        return buffer.getLong(HEADER_SAMPLED_AT + 8 * cadence.ordinal());
    }

    /** Returns the duration of the cadence's last sampling in nanoseconds. */
    public long durationNanos(Cadence cadence) {
        return buffer.getLong(HEADER_DURATION + 8 * cadence.ordinal());
    }

    /** Records a complete sampling; a sampler calls it after it has filled every slot of the cadence. */
    public void sampled(Cadence cadence, long startNanos, long endNanos, long calls) {
        buffer.putLong(HEADER_SAMPLED_AT + 8 * cadence.ordinal(), endNanos);
        buffer.putLong(HEADER_DURATION + 8 * cadence.ordinal(), endNanos - startNanos);
        buffer.putLong(HEADER_CALLS, calls);
    }

    /** Returns the driver calls of the last sampling. */
    public long calls() {
        return buffer.getLong(HEADER_CALLS);
    }

    public void copyFrom(GpuFrame other) {
        buffer.put(0, other.buffer, 0, BYTES);
    }

    private static int at(int slot) {
        return HEADER_BYTES + slot * SLOT_BYTES;
    }
}
