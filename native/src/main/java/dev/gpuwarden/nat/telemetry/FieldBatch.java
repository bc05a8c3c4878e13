package dev.gpuwarden.nat.telemetry;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.nat.lib.Invocation;
import dev.gpuwarden.nat.lib.NativeMemory;
import dev.gpuwarden.nat.nvml.CStruct;
import dev.gpuwarden.nat.nvml.NvmlReturn;
import dev.gpuwarden.nat.nvml.NvmlStructs;
import java.nio.ByteBuffer;
import java.util.List;

/** A call of nvmlDeviceGetFieldValues with its array of entries. */
final class FieldBatch {

    private static final CStruct ENTRY = NvmlStructs.of("nvmlFieldValue_t");
    private static final int STRIDE = ENTRY.size();
    private static final int SCOPE = ENTRY.offset("scopeId");
    private static final int TYPE = ENTRY.offset("valueType");
    private static final int RETURN = ENTRY.offset("nvmlReturn");
    private static final int VALUE = ENTRY.offset("value");

    private final Field[] fields;
    private final ByteBuffer memory;
    private final int entriesAt;
    private final Invocation invocation;

    FieldBatch(List<Field> fields, long function, NativeMemory memory, int at) {
        this.fields = fields.toArray(new Field[0]);
        this.memory = memory.buffer();
        this.entriesAt = at + Invocation.bytes(Shape.FIELDS.signature());
        this.invocation = new Invocation(Shape.FIELDS.signature(), function, memory, at);
        invocation.set(2, memory.address() + entriesAt);
    }

    static int bytes(int count) {
        return Invocation.bytes(Shape.FIELDS.signature()) + STRIDE * count;
    }

    int size() {
        return fields.length;
    }

    /**
     * Writes the queries. An entry without an answer is UNKNOWN.
     *
     * @return false where every slot has its value already
     */
    boolean prepare(int count, GpuFrame frame) {
        boolean anyOpen = false;
        for (int i = 0; i < count; i++) {
            int at = entriesAt + STRIDE * i;
            for (int word = 0; word < STRIDE; word += 8) {
                memory.putLong(at + word, 0);
            }
            memory.putInt(at, fields[i].id());
            memory.putInt(at + SCOPE, fields[i].scope());
            memory.putInt(at + RETURN, NvmlReturn.UNKNOWN);
            anyOpen |= StepRunner.isOpen(frame, fields[i].slot());
        }
        return anyOpen;
    }

    int call(int count, long device) {
        invocation.set(0, device);
        invocation.set(1, count);
        return invocation.callInt();
    }

    void collect(int count, int result, GpuFrame frame) {
        for (int i = 0; i < count; i++) {
            int slot = fields[i].slot();
            if (StepRunner.isOpen(frame, slot)) {
                int at = entriesAt + STRIDE * i;
                int code = result == NvmlReturn.SUCCESS ? memory.getInt(at + RETURN) : result;
                if (code == NvmlReturn.SUCCESS) {
                    put(frame, slot, memory.getInt(at + TYPE), at + VALUE);
                } else {
                    frame.putAbsent(slot, StepRunner.cause(code, true), code);
                }
            }
        }
    }

    /**
     * Writes a value by its type (nvml.h 13.3, nvmlValueType_t). Unknown types and doubles that are not whole numbers
     * are refused.
     */
    private void put(GpuFrame frame, int slot, int type, int at) {
        switch (type) {
            case 0 -> {
                double value = memory.getDouble(at);
                if (value > -0x1p62 && value < 0x1p62) {
                    frame.put(slot, (long) value);
                } else {
                    frame.putAbsent(slot, Absence.IMPLAUSIBLE, 0);
                }
            }
            case 1 -> frame.put(slot, Integer.toUnsignedLong(memory.getInt(at)));
            case 2, 3, 4 -> frame.put(slot, memory.getLong(at));
            case 5 -> frame.put(slot, memory.getInt(at));
            case 6 -> frame.put(slot, memory.getShort(at) & 0xffff);
            default -> frame.putAbsent(slot, Absence.IMPLAUSIBLE, 0);
        }
    }
}
