package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.compute.Mismatch;
import dev.gpuwarden.core.compute.Verification;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.nat.lib.NativeMemory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;

/** The result of a verification in the GPU's memory: report_t of arguments.h. */
final class Report {

    private static final int SMS = 512;
    private static final int MISMATCH_BYTES = 5 * 8;
    private static final int BY_SM_AT = 2 * 8;
    private static final int KEPT_AT = BY_SM_AT + 8 * SMS;
    private static final int BYTES = KEPT_AT + Verification.MOST_KEPT * MISMATCH_BYTES;
    private static final int ALL_ONES = 0xff;
    private static final long UNKNOWN_SM = -1;

    private final CudaLibrary library;
    private final long stream;
    private final long address;
    private final NativeMemory host;

    Report(Resources resources, long stream) throws CudaException {
        this.library = resources.library();
        this.stream = stream;
        this.address = resources.memory(BYTES);
        this.host = resources.host(BYTES);
    }

    /** Returns its address in the GPU's memory. */
    long address() {
        return address;
    }

    /** Enqueues the content that a verification begins with. */
    void clear() throws CudaException {
        library.require(CudaSymbol.MEMORY_SET, address, 0, BYTES, stream);
        library.require(CudaSymbol.MEMORY_SET, address + 8, ALL_ONES, 8, stream);
    }

    /**
     * Reads the report of verifications that have ended. Memory that is faulty can hold the report too, so a report that contradicts
     * itself is no result.
     *
     * @param elements that were verified
     * @param firstIndex added to each index
     */
    Verification read(long elements, long firstIndex) throws CudaException {
        library.require(CudaSymbol.READ_MEMORY, host.address(), address, BYTES);
        ByteBuffer words = host.buffer();
        long wrong = words.getLong(0);
        long first = words.getLong(8);
        SortedMap<Integer, Long> bySm = new TreeMap<>();
        long counted = 0;
        for (int sm = 0; sm < SMS; sm++) {
            long count = words.getLong(BY_SM_AT + 8 * sm);
            counted += count;
            if (count != 0) {
                bySm.put(sm, count);
            }
        }
        boolean consistent = wrong >= 0
                && wrong <= elements
                && counted == wrong
                && (wrong == 0 ? first == -1 : first >= 0 && first < elements);
        if (!consistent) {
            throw new NoResult(
                    Absence.IMPLAUSIBLE,
                    "the GPU reports " + wrong + " wrong of " + elements + " elements, " + counted
                            + " of them by SM, and element " + first + " as the first");
        }
        return new Verification(
                elements,
                wrong,
                wrong == 0 ? OptionalLong.empty() : OptionalLong.of(firstIndex + first),
                kept((int) Math.min(wrong, Verification.MOST_KEPT), firstIndex),
                bySm);
    }

    private List<Mismatch> kept(int count, long firstIndex) {
        List<Mismatch> kept = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int at = KEPT_AT + i * MISMATCH_BYTES;
            ByteBuffer words = host.buffer();
            long writer = words.getLong(at + 24);
            kept.add(new Mismatch(
                    firstIndex + words.getLong(at),
                    words.getLong(at + 8),
                    words.getLong(at + 16),
                    writer == UNKNOWN_SM ? OptionalInt.empty() : OptionalInt.of((int) writer),
                    (int) words.getLong(at + 32)));
        }
        return kept;
    }
}
