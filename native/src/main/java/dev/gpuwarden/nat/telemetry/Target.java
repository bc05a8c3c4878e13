package dev.gpuwarden.nat.telemetry;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.model.Reading.Absent;
import dev.gpuwarden.core.model.Reading.Present;
import dev.gpuwarden.nat.nvml.NvmlSession;
import dev.gpuwarden.nat.nvml.NvmlSymbol;

/**
 * The GPU or MIG device that a sampler reads. It follows the GPU by its UUID over a restart of the library, since the
 * index of a GPU changes when another one falls off the bus. Not thread-safe.
 */
public final class Target {

    private static final int UUID_BYTES = 96;
    private static final int WHOLE = -1;

    private final NvmlSession session;
    private final int index;
    private final int migIndex;
    private Reading<String> uuid = Reading.absent(Absence.PENDING);
    private long handle;
    private long whole;
    private Reading<Integer> gpuInstance = Reading.absent(Absence.PENDING);
    private int generation;
    private Absence cause = Absence.PENDING;
    private int code;

    private Target(NvmlSession session, int index, int migIndex) {
        this.session = session;
        this.index = index;
        this.migIndex = migIndex;
    }

    public static Target gpu(NvmlSession session, int index) {
        return new Target(session, index, WHOLE);
    }

    public static Target mig(NvmlSession session, int index, int migIndex) {
        return new Target(session, index, migIndex);
    }

    /** Resolves the device unless this was done since the library's last start; allocates only then. */
    boolean resolve() {
        int now = session.generation();
        if (handle != 0 && generation == now) {
            return true;
        }
        Reading<Long> found = parent();
        if (migIndex != WHOLE && found instanceof Present<Long> parent) {
            whole = parent.value();
            found = session.migHandle(whole, migIndex);
        }
        if (found instanceof Present<Long> present) {
            handle = present.value();
            generation = now;
            gpuInstance = migIndex == WHOLE
                    ? Reading.absent(Absence.NOT_SUPPORTED)
                    : session.library().number(NvmlSymbol.GPU_INSTANCE_ID, handle);
            return true;
        }
        Absent<Long> absent = (Absent<Long>) found;
        handle = 0;
        cause = absent.cause();
        code = absent.code();
        return false;
    }

    long handle() {
        return handle;
    }

    boolean isPartition() {
        return migIndex != WHOLE;
    }

    /** Returns the GPU of the partition. */
    long whole() {
        return whole;
    }

    /** Returns the partition's GPU instance; absent for a whole GPU. */
    Reading<Integer> gpuInstance() {
        return gpuInstance;
    }

    /** Returns a number that changes with each start of the library. */
    int generation() {
        return generation;
    }

    /** Returns the reason why {@link #resolve} found nothing. */
    Absence cause() {
        return cause;
    }

    int code() {
        return code;
    }

    /** Discards the device after the library reported its shutdown; the next call resolves it again. */
    void forget() {
        handle = 0;
    }

    private Reading<Long> parent() {
        if (uuid instanceof Present<String> known && session.library().has(NvmlSymbol.HANDLE_BY_UUID)) {
            return session.handle(known.value());
        }
        Reading<Long> found = session.handle(index);
        if (found instanceof Present<Long> present) {
            uuid = session.library().text(NvmlSymbol.UUID, present.value(), UUID_BYTES);
        }
        return found;
    }
}
