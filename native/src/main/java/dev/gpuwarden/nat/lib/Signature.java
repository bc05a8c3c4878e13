package dev.gpuwarden.nat.lib;

import com.sun.jna.Native;
import com.sun.jna.Platform;
import com.sun.jna.Pointer;
import dev.gpuwarden.core.SuppressForbidden;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A C signature, prepared once for libffi. Arguments: {@code p} is a pointer or a 64-bit word, {@code u} is a 32-bit
 * word, {@code s} is a structure of {@link #STRUCTURE_BYTES} that is passed by value. The result is read as a 64-bit
 * word; an {@code int} function fills its lower half (little-endian machines, the only ones with these drivers).
 */
@SuppressForbidden("prepares call interfaces of libffi, which JNA carries")
public final class Signature {

    /** Size of a structure that is passed by value: ncclUniqueId, the only one here (nccl.h). */
    public static final int STRUCTURE_BYTES = 128;

    private static final Map<String, Signature> PREPARED = new ConcurrentHashMap<>();

    // ffi.h, FFI_TYPE_*: the numbers are part of libffi's binary interface.
    private static final short FFI_TYPE_UINT32 = 9;
    private static final short FFI_TYPE_STRUCT = 13;
    private static final short FFI_TYPE_POINTER = 14;
    private static final int FFI_TYPE_BYTES = 24;
    private static final long WORD_TYPE = ffiType(8, FFI_TYPE_POINTER);
    private static final long INT_TYPE = ffiType(4, FFI_TYPE_UINT32);
    private static final long STRUCTURE_TYPE = structureType();

    private final String arguments;
    private final long callInterface;

    private Signature(String arguments) {
        this.arguments = arguments;
        long types = Native.malloc(8L * Math.max(1, arguments.length()));
        for (int i = 0; i < arguments.length(); i++) {
            new Pointer(types).setLong(8L * i, typeOf(arguments.charAt(i)));
        }
        callInterface = Native.ffi_prep_cif(defaultAbi(), arguments.length(), WORD_TYPE, types);
    }

    /** Returns the same object for the same text; its native memory stays for the life of the process. */
    public static Signature of(String arguments) {
        return PREPARED.computeIfAbsent(arguments, Signature::new);
    }

    int count() {
        return arguments.length();
    }

    boolean isStructure(int argument) {
        return arguments.charAt(argument) == 's';
    }

    long callInterface() {
        return callInterface;
    }

    private static long typeOf(char argument) {
        return switch (argument) {
            case 'p' -> WORD_TYPE;
            case 'u' -> INT_TYPE;
            case 's' -> STRUCTURE_TYPE;
            default -> throw new IllegalArgumentException("argument kind " + argument);
        };
    }

    /** ffi_type: size_t size; unsigned short alignment, type; ffi_type **elements. */
    private static long ffiType(int bytes, short type) {
        long address = Native.malloc(FFI_TYPE_BYTES);
        Pointer p = new Pointer(address);
        p.setLong(0, bytes);
        p.setShort(8, (short) bytes);
        p.setShort(10, type);
        p.setInt(12, 0);
        p.setLong(16, 0);
        return address;
    }

    /**
     * Returns the type of a structure of words. libffi computes its size and decides how it is passed: on the stack of x86-64, and as a
     * pointer to a copy on AArch64. A structure of bytes of this size is passed in the same way.
     */
    private static long structureType() {
        int words = STRUCTURE_BYTES / Long.BYTES;
        long elements = Native.malloc(8L * (words + 1));
        for (int i = 0; i < words; i++) {
            new Pointer(elements).setLong(8L * i, WORD_TYPE);
        }
        new Pointer(elements).setLong(8L * words, 0);
        long type = ffiType(0, FFI_TYPE_STRUCT);
        new Pointer(type).setLong(16, elements);
        return type;
    }

    /** ffitarget.h, FFI_DEFAULT_ABI: FFI_UNIX64 on x86-64, FFI_SYSV on AArch64. */
    private static int defaultAbi() {
        return Platform.isARM() ? 1 : 2;
    }
}
