package dev.gpuwarden.nat.lib;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import dev.gpuwarden.core.SuppressForbidden;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Zeroed memory outside the heap with a fixed address. Only {@link #close} frees it: a caller that passes it to a
 * library must close it only after the library's call has returned.
 */
@SuppressForbidden("the one place that asks for native memory")
public final class NativeMemory implements AutoCloseable {

    private final long address;
    private final ByteBuffer buffer;

    private NativeMemory(long address, ByteBuffer buffer) {
        this.address = address;
        this.buffer = buffer;
    }

    public static NativeMemory allocate(int bytes) {
        long address = Native.malloc(bytes);
        if (address == 0) {
            throw new OutOfMemoryError("malloc(" + bytes + ")");
        }
        Pointer pointer = new Pointer(address);
        pointer.setMemory(0, bytes, (byte) 0);
        return new NativeMemory(address, pointer.getByteBuffer(0, bytes).order(ByteOrder.nativeOrder()));
    }

    /** Returns memory that a library allocated, in the machine's byte order. It must not be used after the library has freed it. */
    public static ByteBuffer view(long address, int bytes) {
        return new Pointer(address).getByteBuffer(0, bytes).order(ByteOrder.nativeOrder());
    }

    public long address() {
        return address;
    }

    /** Returns the memory itself, which must not be used after {@link #close}. */
    public ByteBuffer buffer() {
        return buffer;
    }

    public int size() {
        return buffer.capacity();
    }

    /** Writes the same byte everywhere from an offset on. */
    public void fill(int from, int bytes, byte value) {
        new Pointer(address).setMemory(from, bytes, value);
    }

    @Override
    public void close() {
        Native.free(address);
    }
}
