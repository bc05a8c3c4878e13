package dev.gpuwarden.nccl.plan;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The sizes of a run, in bytes.
 *
 * @param step added to a size for the next one, where the factor is 1 at most
 * @param factor multiplied with a size for the next one
 */
public record MessageSizes(long least, long most, long step, long factor) {

    /** Bound on the rows of a run; nccl-tests has none, and does not end with a step of zero. */
    private static final int MOST_SIZES = 100_000;

    private static final Pattern SIZE = Pattern.compile("(\\d{1,18}(?:\\.\\d{1,9})?)([kKmMgG]?)");

    /** Returns a size such as 8, 1.5K or 128M in bytes; empty where the text is none. The units are powers of 1024. */
    public static OptionalLong parse(String text) {
        Matcher size = SIZE.matcher(text);
        if (!size.matches()) {
            return OptionalLong.empty();
        }
        long unit = switch (size.group(2)) {
            case "k", "K" -> 1L << 10;
            case "m", "M" -> 1L << 20;
            case "g", "G" -> 1L << 30;
            default -> 1;
        };
        BigDecimal bytes = new BigDecimal(size.group(1)).multiply(BigDecimal.valueOf(unit));
        return bytes.compareTo(BigDecimal.valueOf(Long.MAX_VALUE)) > 0
                ? OptionalLong.empty()
                : OptionalLong.of(bytes.longValue());
    }

    /** Returns the same sizes with this limit, which the memory of the GPUs gives. */
    public MessageSizes limited(long limit) {
        return most <= limit ? this : new MessageSizes(Math.min(least, limit), limit, step, factor);
    }

    /** @throws IllegalArgumentException where there are too many sizes */
    public List<Long> all() {
        return series(factor > 1 ? factor : 1, factor > 1 ? 0 : step);
    }

    /** Returns the sizes of the warm-up, which double in any case. */
    public List<Long> warmUp() {
        return series(2, 0);
    }

    private List<Long> series(long times, long plus) {
        List<Long> sizes = new ArrayList<>();
        long size = least;
        while (size <= most && size >= 0) {
            sizes.add(size);
            long next = size > Long.MAX_VALUE / times ? -1 : size * times + plus;
            if (next == size) {
                // Size zero does not grow by a factor, and a step of zero never ends.
                break;
            }
            if (sizes.size() == MOST_SIZES) {
                throw new IllegalArgumentException("more than " + MOST_SIZES + " sizes from " + least + " to " + most
                        + " bytes; a larger step (-i) or a factor (-f) gives fewer");
            }
            size = next;
        }
        return sizes;
    }
}
