package dev.gpuwarden.checks.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.gpu.GrowingWork.Sized;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class GrowingWorkTest {

    private static final Reading<String> NO_ROOM = Reading.absent(Absence.FAILED, 2, "memory");

    private final AtomicLong clock = new AtomicLong();

    /** Runs sizes 1 to 4 on two GPUs; a run takes as many milliseconds as the function returns. */
    private List<Sized<Integer, String>> run(
            Function<Integer, Integer> millis, Function<Integer, Reading<String>> second) {
        return new GrowingWork(clock::get)
                .run(
                        List.of(1, 2, 3, 4),
                        size -> {
                            clock.addAndGet(
                                    Duration.ofMillis(millis.apply(size)).toNanos());
                            return List.of(Reading.of("right " + size), second.apply(size));
                        },
                        result -> result.startsWith("right"));
    }

    private static Reading<String> right(int size) {
        return Reading.of("right " + size);
    }

    @Test
    void workGrowsUntilARunTakesLongerThanWhatAnyWorkTakes() {
        assertThat(run(size -> 400 + 60 * size, GrowingWorkTest::right).get(0)).isEqualTo(new Sized<>(3, right(3)));
        assertThat(run(size -> 1, GrowingWorkTest::right).get(0)).isEqualTo(new Sized<>(4, right(4)));
    }

    @Test
    void gpuWithoutRoomKeepsItsResultAndTheOtherGrows() {
        assertThat(run(size -> 1, size -> size < 3 ? right(size) : NO_ROOM))
                .containsExactly(new Sized<>(4, right(4)), new Sized<>(2, right(2)));
    }

    @Test
    void wrongResultIsNotReplacedByARightOne() {
        assertThat(run(size -> 1, size -> size == 2 ? Reading.of("wrong") : right(size))
                        .get(1))
                .isEqualTo(new Sized<>(2, Reading.of("wrong")));
    }
}
