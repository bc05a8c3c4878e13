package dev.gpuwarden.checks.gpu;

import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.LinkMetric;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The NVLinks of one GPU at one time, as bit masks; a link that sleeps is up.
 *
 * @param unread cause of absence of the first link whose state cannot be read; empty if all were read
 */
record Links(int count, long up, long down, Optional<Reading.Absent<?>> unread) {

    static Links of(GpuFrame frame) {
        int count = frame.present(GpuMetric.NVLINK_LINKS)
                ? (int) Math.min(LinkMetric.MAX_LINKS, frame.raw(GpuMetric.NVLINK_LINKS))
                : 0;
        long up = 0;
        long down = 0;
        Reading.Absent<?> unread = null;
        for (int link = 0; link < count; link++) {
            Reading<Long> state = frame.reading(GpuFrame.slot(LinkMetric.STATE, link));
            if (state instanceof Reading.Present<Long> present) {
                up |= present.value() == 0 ? 0 : 1L << link;
                down |= present.value() == 0 ? 1L << link : 0;
            } else if (unread == null) {
                unread = (Reading.Absent<?>) state;
            }
        }
        return new Links(count, up, down, Optional.ofNullable(unread));
    }

    /** Returns the links of a mask as text: "3, 7 to 9". */
    static String names(long mask) {
        return IntStream.range(0, Long.SIZE)
                .filter(link -> (mask >>> link & 1) == 1)
                .filter(link -> link == 0 || (mask >>> link - 1 & 1) == 0)
                .mapToObj(first -> {
                    int last = first + Long.numberOfTrailingZeros(~(mask >>> first)) - 1;
                    return last == first ? "" + first : last == first + 1 ? first + ", " + last : first + " to " + last;
                })
                .collect(Collectors.joining(", "));
    }
}
