package dev.gpuwarden.core.port;

import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** Types of elements (nccl.h 2.24, ncclDataType_t): the ordinal is the library's number. Names are those of nccl-tests. */
public enum ElementType {
    INT8(1),
    UINT8(1),
    INT32(4),
    UINT32(4),
    INT64(8),
    UINT64(8),
    HALF(2),
    FLOAT(4),
    DOUBLE(8),
    BFLOAT16(2),
    F8E4M3(1),
    F8E5M2(1);

    private final int bytes;

    ElementType(int bytes) {
        this.bytes = bytes;
    }

    /** Returns the size of an element. */
    public int bytes() {
        return bytes;
    }

    /** Returns the name in options and tables. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    public static Optional<ElementType> of(String label) {
        return Stream.of(values()).filter(type -> type.label().equals(label)).findFirst();
    }

    /** Returns whether elements are integers, which wrap around. */
    public boolean isInteger() {
        return ordinal() <= UINT64.ordinal();
    }

    /** Returns the lowest version of NCCL that has this type. */
    public int since() {
        return switch (this) {
            case F8E4M3, F8E5M2 -> 22400;
            case BFLOAT16 -> 21000;
            default -> 20000;
        };
    }
}
