package dev.gpuwarden.daemon.holders;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class CachedGpuHoldersTest {

    private final AtomicLong now = new AtomicLong(1);
    private final AtomicInteger asked = new AtomicInteger();

    private static Reading<GpuHolders> answer(int number) {
        return Reading.of(new GpuHolders(Instant.ofEpochSecond(number), List.of(), List.of(), 0));
    }

    @Test
    void everyCallQueriesTheKubelet() {
        CachedGpuHolders holders =
                new CachedGpuHolders(() -> answer(asked.incrementAndGet()), now::get, Duration.ofSeconds(10));
        assertThat(holders.get()).isEqualTo(answer(1));
        assertThat(holders.get()).isEqualTo(answer(2));
    }

    @Test
    void theAnswerOfTheLastMinuteStandsWhenTheKubeletFails() {
        Reading<GpuHolders> gone = Reading.absent(Absence.NO_DATA);
        CachedGpuHolders holders = new CachedGpuHolders(
                () -> asked.incrementAndGet() == 1 ? answer(1) : gone, now::get, Duration.ofSeconds(10));
        assertThat(holders.get()).isEqualTo(answer(1));
        now.addAndGet(Duration.ofSeconds(60).toNanos());
        assertThat(holders.get()).isEqualTo(answer(1));
        now.addAndGet(1);
        assertThat(holders.get()).isEqualTo(gone);
    }

    @Test
    void aHangingKubeletIsQueriedOnceAndDelaysNoCaller() throws InterruptedException {
        CountDownLatch hang = new CountDownLatch(1);
        CachedGpuHolders holders = new CachedGpuHolders(
                () -> {
                    asked.incrementAndGet();
                    try {
                        hang.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    return answer(1);
                },
                now::get,
                Duration.ofMillis(5));
        for (int i = 0; i < 3; i++) {
            assertThat(holders.get())
                    .isInstanceOfSatisfying(
                            Reading.Absent.class,
                            absent -> assertThat(absent.cause()).isEqualTo(Absence.PENDING));
        }
        assertThat(asked).hasValue(1);
        hang.countDown();
    }

    @Test
    void aDefectIsAnAbsence() {
        CachedGpuHolders holders = new CachedGpuHolders(
                () -> {
                    throw new IllegalStateException("for this test");
                },
                now::get,
                Duration.ofSeconds(10));
        assertThat(holders.get())
                .isInstanceOfSatisfying(
                        Reading.Absent.class,
                        absent -> assertThat(absent.cause()).isEqualTo(Absence.FAILED));
    }
}
