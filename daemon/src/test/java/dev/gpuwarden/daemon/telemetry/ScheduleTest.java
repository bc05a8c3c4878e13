package dev.gpuwarden.daemon.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.daemon.telemetry.SamplerStats.Work;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ScheduleTest {

    private static final long SECOND = Duration.ofSeconds(1).toNanos();
    private static final SamplingSettings SETTINGS = new SamplingSettings();

    /** The clock may overflow: System.nanoTime promises differences only. */
    @ParameterizedTest
    @ValueSource(longs = {0, Long.MAX_VALUE - 5, -20_000_000_000L})
    void latenessDoesNotAddUp(long start) {
        Schedule schedule = new Schedule(SETTINGS, start, 0, 1);
        List<Long> turns = new ArrayList<>();
        long now = start;
        for (int i = 0; i < 100; i++) {
            assertThat(schedule.due(Work.FAST, now)).isTrue();
            turns.add(now - start);
            assertThat(schedule.done(Work.FAST, now + SECOND / 3)).isZero();
            schedule.done(Work.SLOW, now);
            schedule.postpone(Work.SLOW, now + 100 * SECOND);
            schedule.postpone(Work.PROCESSES, now + 100 * SECOND);
            now = schedule.next();
        }
        assertThat(turns.get(99)).isEqualTo(99 * SECOND);
    }

    @Test
    void eightGpusListTheirProcessesAtDifferentTimes() {
        List<Long> second = new ArrayList<>();
        for (int gpu = 0; gpu < 8; gpu++) {
            Schedule schedule = new Schedule(SETTINGS, 0, gpu, 8);
            for (Work work : Work.values()) {
                assertThat(schedule.due(work, 0)).isTrue();
                schedule.done(work, 0);
            }
            schedule.postpone(Work.FAST, 1000 * SECOND);
            schedule.postpone(Work.SLOW, 1000 * SECOND);
            second.add(schedule.next());
        }
        assertThat(second).doesNotHaveDuplicates().allMatch(at -> at > 0 && at <= 15 * SECOND);
        Schedule last = new Schedule(SETTINGS, 0, 7, 8);
        last.done(Work.PROCESSES, 0);
        last.done(Work.PROCESSES, 15 * SECOND);
        assertThat(last.due(Work.PROCESSES, 30 * SECOND - 1)).isFalse();
        assertThat(last.due(Work.PROCESSES, 30 * SECOND)).isTrue();
    }

    @Test
    void leavesOutWhatWasMissed() {
        Schedule schedule = new Schedule(SETTINGS, 0, 0, 1);
        schedule.done(Work.FAST, 0);
        assertThat(schedule.done(Work.FAST, 5 * SECOND + 1)).isEqualTo(4);
        assertThat(schedule.due(Work.FAST, 6 * SECOND - 1)).isFalse();
        assertThat(schedule.due(Work.FAST, 6 * SECOND)).isTrue();
    }
}
