package dev.gpuwarden.nat.lib;

import com.sun.jna.Native;
import dev.gpuwarden.core.SuppressForbidden;
import java.nio.ByteBuffer;

/**
 * One function with memory for its arguments, which is set once and used for many calls. A call allocates nothing and
 * costs one JNI transition. Not thread-safe.
 */
@SuppressForbidden("calls a function by its address through JNA's libffi")
public final class Invocation {

    private final long callInterface;
    private final long function;
    private final ByteBuffer memory;
    private final Signature signature;
    private final int at;
    private final int cellsAt;
    private final int resultAt;
    private final long resultAddress;
    private final long argumentsAddress;

    /**
     * Creates an invocation.
     *
     * @param memory must stay open until the last call has returned
     * @param at offset of this invocation's {@link #bytes} in the memory, a multiple of 8
     */
    public Invocation(Signature signature, long function, NativeMemory memory, int at) {
        if (function == 0) {
            throw new IllegalArgumentException("a function at address 0");
        }
        int count = signature.count();
        this.callInterface = signature.callInterface();
        this.function = function;
        this.memory = memory.buffer();
        this.signature = signature;
        this.at = at;
        this.cellsAt = at + 8 * count;
        this.resultAt = at + 16 * count;
        this.argumentsAddress = memory.address() + at;
        this.resultAddress = memory.address() + resultAt;
        for (int i = 0; i < count; i++) {
            this.memory.putLong(at + 8 * i, memory.address() + cellsAt + 8L * i);
        }
    }

    /** Returns the memory that an invocation of this signature needs, in bytes. */
    public static int bytes(Signature signature) {
        return 16 * signature.count() + 8;
    }

    /** Sets an argument: a word, or the address of a structure that is passed by value. */
    public void set(int argument, long word) {
        if (signature.isStructure(argument)) {
            memory.putLong(at + 8 * argument, word);
        } else {
            memory.putLong(cellsAt + 8 * argument, word);
        }
    }

    /** Calls the function and returns the lower 32 bits of its result. */
    public int callInt() {
        Native.ffi_call(callInterface, function, resultAddress, argumentsAddress);
        return memory.getInt(resultAt);
    }

    public long callLong() {
        Native.ffi_call(callInterface, function, resultAddress, argumentsAddress);
        return memory.getLong(resultAt);
    }

    /** Makes a single call with memory of its own, for functions that are not called every second. */
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
