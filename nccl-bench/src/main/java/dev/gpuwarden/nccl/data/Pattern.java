package dev.gpuwarden.nccl.data;

import dev.gpuwarden.core.port.ElementType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.IntToDoubleFunction;

/**
 * Elements that repeat after {@link #PERIOD}. The period is a prime number, so that data that lands in the place of other data differs from
 * it: distances of chunks and of ranks are multiples of small numbers.
 */
public final class Pattern {

    public static final int PERIOD = 65_521;

    private final ElementType type;
    /** Twice the period, so that a period from any position on is in one piece. */
    private final ByteBuffer bytes;

    private Pattern(ElementType type, ByteBuffer bytes) {
        this.type = type;
        this.bytes = bytes;
    }

    /** @param value the element at a position below the period */
    static Pattern of(ElementType type, IntToDoubleFunction value) {
        ByteBuffer bytes = ByteBuffer.allocateDirect(2 * PERIOD * type.bytes()).order(ByteOrder.nativeOrder());
        for (int i = 0; i < PERIOD; i++) {
            double element = value.applyAsDouble(i);
            Elements.put(type, bytes, i, element);
            Elements.put(type, bytes, i + PERIOD, element);
        }
        return new Pattern(type, bytes);
    }

    public ElementType type() {
        return type;
    }

    /** Returns elements from a position on, a period of them at most. */
    public ByteBuffer slice(long position, int count) {
        int start = (int) (position % PERIOD);
        return bytes.slice(start * type.bytes(), count * type.bytes()).order(ByteOrder.nativeOrder());
    }

    /**
     * Returns the number of wrong elements.
     *
     * @param seen elements that begin at the position
     * @param tolerance permitted distance, in numbers that the type can represent
     */
    public int wrong(ByteBuffer seen, long position, int tolerance) {
        int count = seen.remaining() / type.bytes();
        ByteBuffer expected = slice(position, count);
        if (seen.mismatch(expected) < 0) {
            return 0;
        }
        int wrong = 0;
        for (int i = 0; i < count; i++) {
            long one = Elements.bits(type, seen, i);
            long other = Elements.bits(type, expected, i);
            if (one != other && (tolerance == 0 || Elements.distance(type, one, other) > tolerance)) {
                wrong++;
            }
        }
        return wrong;
    }
}
