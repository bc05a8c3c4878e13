package dev.gpuwarden.nccl.data;

import dev.gpuwarden.core.port.ElementType;
import java.nio.ByteBuffer;

/** Numbers as elements of a type, in the machine's byte order. */
final class Elements {

    private Elements() {}

    /** Returns the largest integer up to which the type holds every integer. */
    static long exactLimit(ElementType type) {
        return switch (type) {
            case INT8 -> Byte.MAX_VALUE;
            case UINT8 -> 255;
            case HALF -> 1 << 11;
            case FLOAT -> 1 << 24;
            case BFLOAT16 -> 1 << 8;
            case F8E4M3 -> 1 << 4;
            case F8E5M2 -> 1 << 3;
            default -> Integer.MAX_VALUE;
        };
    }

    static void put(ElementType type, ByteBuffer to, int index, double value) {
        switch (type) {
            case INT8, UINT8 -> to.put(index, (byte) (long) value);
            case INT32, UINT32 -> to.putInt(index * Integer.BYTES, (int) (long) value);
            case INT64, UINT64 -> to.putLong(index * Long.BYTES, (long) value);
            case HALF -> to.putShort(index * Short.BYTES, (short) SmallFloat.HALF.encode(value));
            case BFLOAT16 -> to.putShort(index * Short.BYTES, (short) SmallFloat.BFLOAT16.encode(value));
            case F8E4M3 -> to.put(index, (byte) SmallFloat.E4M3.encode(value));
            case F8E5M2 -> to.put(index, (byte) SmallFloat.E5M2.encode(value));
            case FLOAT -> to.putFloat(index * Float.BYTES, (float) value);
            case DOUBLE -> to.putDouble(index * Double.BYTES, value);
        }
    }

    /** Returns the bits of an element. */
    static long bits(ElementType type, ByteBuffer from, int index) {
        return switch (type.bytes()) {
            case 1 -> from.get(index) & 0xffL;
            case 2 -> from.getShort(index * Short.BYTES) & 0xffffL;
            case 4 -> from.getInt(index * Integer.BYTES) & 0xffff_ffffL;
            default -> from.getLong(index * Long.BYTES);
        };
    }

    /** Returns the number of representable numbers between two floating-point elements of the same bits' width. */
    static long distance(ElementType type, long one, long other) {
        int width = type.bytes() * Byte.SIZE;
        return Math.abs(SmallFloat.ordered(one, width) - SmallFloat.ordered(other, width));
    }
}
