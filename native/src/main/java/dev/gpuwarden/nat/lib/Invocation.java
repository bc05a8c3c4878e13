package dev.gpuwarden.nat.lib;

import com.sun.jna.Native;
import dev.gpuwarden.core.SuppressForbidden;
import java.nio.ByteBuffer;

/**
 * One function with memory for its arguments, set once and called often. A call allocates nothing and costs one JNI transition.
 * Not thread-safe.
 */
@SuppressForbidden("calls a function by its address through JNA's libffi")
public final class Invocation {

    private final long callInterface;
    private final long function;
    private final ByteBuffer memory;
    private final int cellsAt;
    private final int resultAt;
    private final long resultAddress;
    private final long argumentsAddress;

    /**
     * @param memory lent until the last call has returned
     * @param at where in the memory this invocation's {@link #bytes} begin, a multiple of 8
     */
    public Invocation(Signature signature, long function, NativeMemory memory, int at) {
        if (function == 0) {
            throw new IllegalArgumentException("a function at address 0");
        }
        int count = signature.count();
        this.callInterface = signature.callInterface();
        this.function = function;
        this.memory = memory.buffer();
        this.cellsAt = at + 8 * count;
        this.resultAt = at + 16 * count;
        this.argumentsAddress = memory.address() + at;
        this.resultAddress = memory.address() + resultAt;
        for (int i = 0; i < count; i++) {
            this.memory.putLong(at + 8 * i, memory.address() + cellsAt + 8L * i);
        }
    }

    /** Memory that an invocation of this signature needs. */
    public static int bytes(Signature signature) {
        return 16 * signature.count() + 8;
    }

    public void set(int argument, long word) {
        memory.putLong(cellsAt + 8 * argument, word);
    }

    /** Calls; the result's lower 32 bits. */
    public int callInt() {
        Native.ffi_call(callInterface, function, resultAddress, argumentsAddress);
        return memory.getInt(resultAt);
    }

    public long callLong() {
        Native.ffi_call(callInterface, function, resultAddress, argumentsAddress);
        return memory.getLong(resultAt);
    }

    /** A single call with memory of its own: for what is not called every second. */
    public static long once(Signature signature, long function, long... arguments) {
        try (NativeMemory memory = NativeMemory.allocate(bytes(signature))) {
            Invocation invocation = new Invocation(signature, function, memory, 0);
            for (int i = 0; i < arguments.length; i++) {
                invocation.set(i, arguments[i]);
            }
            return invocation.callLong();
        }
    }
}
