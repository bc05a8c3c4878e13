package dev.gpuwarden.checks.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.telemetry.SamplerStats.Work;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ScheduleTest {

    private static final long SECOND = Duration.ofSeconds(1).toNanos();
    private static final SamplingSettings SETTINGS = new SamplingSettings();

    private static Schedule begun(int gpu, int gpus) {
        Schedule schedule = new Schedule(SETTINGS, 0, 0, gpu, gpus);
        for (Work work : Work.values()) {
            assertThat(schedule.due(work, 0)).isEqualTo(work != Work.MEMORY);
            schedule.done(work, 0);
        }
        return schedule;
    }

    @Test
    void latenessDoesNotAddUp() {
        long epoch = -20 * SECOND - 7;
        SamplingSettings fastAlone = new SamplingSettings();
        fastAlone.slowInterval = Duration.ofDays(1);
        fastAlone.processInterval = Duration.ofDays(1);
        Schedule schedule = new Schedule(fastAlone, epoch, epoch + 3, 0, 1);
        schedule.done(Work.SLOW, epoch + 3);
        schedule.done(Work.PROCESSES, epoch + 3);
        List<Long> turns = new ArrayList<>();
        long now = epoch + 3;
        for (int i = 0; i < 100; i++) {
            assertThat(schedule.due(Work.FAST, now)).isTrue();
            turns.add(now - epoch);
            assertThat(schedule.done(Work.FAST, now + SECOND / 3)).isZero();
            now = schedule.next();
        }
        assertThat(turns.get(99)).isEqualTo(99 * SECOND);
    }

    @Test
    void fastTurnsOfAllGpusFallTogetherAndTheOthersOnThem() {
        List<Long> lists = new ArrayList<>();
        for (int gpu = 0; gpu < 8; gpu++) {
            Schedule schedule = begun(gpu, 8);
            assertThat(schedule.next()).isEqualTo(SECOND);
            long list = SECOND;
            while (!schedule.due(Work.PROCESSES, list)) {
                assertThat(schedule.due(Work.PROCESSES, list + SECOND - 1)).isFalse();
                list += SECOND;
            }
            lists.add(list);
        }
        assertThat(lists).doesNotHaveDuplicates().allMatch(at -> at > 0 && at <= 15 * SECOND);
    }

    @Test
    void processesAreListedOncePerInterval() {
        Schedule schedule = begun(7, 8);
        long first = 13 * SECOND;
        assertThat(schedule.due(Work.PROCESSES, first - 1)).isFalse();
        assertThat(schedule.due(Work.PROCESSES, first)).isTrue();
        assertThat(schedule.done(Work.PROCESSES, first + SECOND)).isZero();
        assertThat(schedule.due(Work.PROCESSES, first + 15 * SECOND - 1)).isFalse();
        assertThat(schedule.due(Work.PROCESSES, first + 15 * SECOND)).isTrue();
    }

    @Test
    void missedTurnsAreSkipped() {
        Schedule schedule = begun(0, 1);
        assertThat(schedule.done(Work.FAST, 5 * SECOND + 1)).isEqualTo(4);
        assertThat(schedule.due(Work.FAST, 6 * SECOND - 1)).isFalse();
        assertThat(schedule.due(Work.FAST, 6 * SECOND)).isTrue();
    }

    @Test
    void memoryIsReadBetweenFastTurnsAndSoonerOnDemand() {
        Schedule schedule = new Schedule(new SamplingSettings().withMemoryWatch(true), 0, 0, 7, 8);
        for (Work work : Work.values()) {
            schedule.done(work, 0);
        }
        assertThat(schedule.next()).isEqualTo(SECOND / 4);
        schedule.hastenMemory(SECOND / 10);
        assertThat(schedule.next()).isEqualTo(SECOND / 10);
        schedule.done(Work.MEMORY, SECOND / 10 + 1);
        assertThat(schedule.next()).isEqualTo(SECOND / 4);
        schedule.hastenMemory(SECOND);
        assertThat(schedule.next()).isEqualTo(SECOND / 4);
    }
}
