package dev.gpuwarden.checks.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.checks.telemetry.FrameListener;
import dev.gpuwarden.core.check.GpuHistory;
import dev.gpuwarden.core.health.Snapshots;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.LinkMetric;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class NodeHistoryTest {

    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private long now = Duration.ofHours(3).toNanos();
    private final NodeHistory history = new NodeHistory(SECOND, () -> now);
    private final GpuIdentity gpu = Snapshots.identity(0);
    private final FrameListener listener = history.get();
    private final GpuFrame frame = new GpuFrame();

    private void set(GpuMetric metric, long value) {
        frame.put(GpuFrame.slot(metric), value);
    }

    private void sampleFor(Duration time, Runnable eachSecond) {
        for (long second = 0; second < time.toSeconds(); second++) {
            eachSecond.run();
            listener.published(gpu, Cadence.FAST, frame);
            if (second % 10 == 0) {
                listener.published(gpu, Cadence.SLOW, frame);
            }
            now += SECOND.toNanos();
        }
    }

    @Test
    void countersOfGpuAndLinksRiseAndReasonsHaveShares() {
        set(GpuMetric.NVLINK_LINKS, 2);
        set(GpuMetric.ECC_VOLATILE_CORRECTED, 1000);
        set(GpuMetric.CLOCK_EVENT_REASONS, 0x40);
        int replays = GpuFrame.slot(LinkMetric.REPLAYS, 1);
        frame.put(replays, 0);
        sampleFor(Duration.ofMinutes(5), () -> {
            set(GpuMetric.ECC_VOLATILE_CORRECTED, frame.raw(GpuMetric.ECC_VOLATILE_CORRECTED) + 2);
            frame.put(replays, frame.raw(replays) + 1);
        });
        GpuHistory seen = history.of(gpu);
        assertThat(seen.increase(GpuMetric.ECC_VOLATILE_CORRECTED, MINUTE)
                        .asOptional()
                        .orElseThrow())
                .isBetween(90L, 120L);
        assertThat(seen.increase(1, LinkMetric.REPLAYS, MINUTE).asOptional().orElseThrow())
                .isBetween(35L, 65L);
        assertThat(seen.share(GpuMetric.CLOCK_EVENT_REASONS, 0x40, MINUTE)).isEqualTo(Reading.of(1.0));
        assertThat(cause(seen.increase(0, LinkMetric.REPLAYS, MINUTE))).isEqualTo(Absence.PENDING);
        assertThat(cause(seen.increase(2, LinkMetric.REPLAYS, MINUTE))).isEqualTo(Absence.PENDING);
        assertThat(cause(seen.increase(GpuMetric.ENERGY, MINUTE))).isEqualTo(Absence.NOT_SUPPORTED);
        assertThat(cause(seen.share(GpuMetric.MIG_MODE, 1, MINUTE))).isEqualTo(Absence.NOT_SUPPORTED);
        assertThat(cause(seen.increase(0, LinkMetric.SPEED, MINUTE))).isEqualTo(Absence.NOT_SUPPORTED);
    }

    private static Absence cause(Reading<?> reading) {
        return ((Reading.Absent<?>) reading).cause();
    }

    @Test
    void theLastNinetySecondsCanBeReadSampleBySample() {
        set(GpuMetric.TEMPERATURE, 0);
        frame.putAbsent(GpuFrame.slot(GpuMetric.RECOVERY_ACTION), Absence.NOT_SUPPORTED, 3);
        set(GpuMetric.MEMORY_TOTAL, 81559L << 20);
        sampleFor(Duration.ofMinutes(4), () -> set(GpuMetric.TEMPERATURE, frame.raw(GpuMetric.TEMPERATURE) + 1));
        RecentSamples samples = history.recent(gpu);
        assertThat(samples.size()).isEqualTo(91);
        for (int i = 0; i < samples.size(); i++) {
            long secondsAgo = samples.size() - i;
            assertThat(samples.nanos(i)).isEqualTo(now - secondsAgo * SECOND.toNanos());
            assertThat(samples.reading(i, GpuMetric.TEMPERATURE)).isEqualTo(Reading.of(241 - secondsAgo));
            assertThat(samples.reading(i, GpuMetric.MEMORY_TOTAL)).isEqualTo(Reading.of(81559L << 20));
            assertThat(cause(samples.reading(i, GpuMetric.RECOVERY_ACTION))).isEqualTo(Absence.NOT_SUPPORTED);
        }
        assertThatThrownBy(() -> samples.reading(0, GpuMetric.ENERGY)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> samples.nanos(91)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(RecentSamples.metrics()).contains(GpuMetric.POWER_USAGE).doesNotContain(GpuMetric.ENERGY);
    }

    @Test
    void fasterSamplingIsThinnedOut() {
        RecentSamples samples = RecentSamples.every(Duration.ofMillis(10));
        for (int i = 0; i < 20_000; i++) {
            samples.note(i * 10_000_000L, frame);
        }
        assertThat(samples.size()).isEqualTo(901);
        assertThat(samples.nanos(900) - samples.nanos(0))
                .isEqualTo(Duration.ofSeconds(90).toNanos());
    }

    @Test
    void aGpuIsFoundByWhatItTurnsOutToBe() {
        GpuIdentity unknown = GpuIdentity.unknown(0, new Reading.Absent<>(Absence.PENDING, 0, ""));
        set(GpuMetric.TEMPERATURE, 40);
        listener.published(unknown, Cadence.FAST, frame);
        assertThat(history.recent(unknown).size()).isEqualTo(1);
        listener.published(gpu, Cadence.FAST, frame);
        assertThat(history.recent(gpu).size()).isEqualTo(2);
        assertThat(history.recent(unknown).size()).isZero();
        assertThat(history.of(unknown)).isSameAs(GpuHistory.NONE);
    }

    @Test
    void theLastSeriesThatClaimsANameHasIt() {
        listener.published(gpu, Cadence.FAST, frame);
        FrameListener other = history.get();
        other.published(gpu, Cadence.FAST, frame);
        other.published(gpu, Cadence.FAST, frame);
        assertThat(history.recent(gpu).size()).isEqualTo(2);
        listener.published(Snapshots.identity(1), Cadence.FAST, frame);
        assertThat(history.recent(gpu).size()).isEqualTo(2);
        assertThat(history.recent(Snapshots.identity(1)).size()).isEqualTo(2);
    }

    @Test
    void memoryOfAGpuIsBounded() throws IllegalAccessException {
        listener.published(gpu, Cadence.FAST, frame);
        assertThat(arrayBytes(history)).isBetween(15_000, 22_000);
        set(GpuMetric.NVLINK_LINKS, 18);
        listener.published(gpu, Cadence.SLOW, frame);
        assertThat(arrayBytes(history)).isBetween(35_000, 42_000);
        set(GpuMetric.NVLINK_LINKS, 1_000_000);
        listener.published(gpu, Cadence.SLOW, frame);
        assertThat(arrayBytes(history)).isLessThan(65_000);
    }

    /** Returns the bytes of the arrays of numbers that an object of this package leads to. */
    private static int arrayBytes(Object root) throws IllegalAccessException {
        Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        Deque<Object> next = new ArrayDeque<>(List.of(root));
        int bytes = 0;
        while (!next.isEmpty()) {
            Object each = next.pop();
            if (!seen.add(each)) {
                continue;
            }
            if (each instanceof int[] cells) {
                bytes += Integer.BYTES * cells.length;
            } else if (each instanceof long[] cells) {
                bytes += Long.BYTES * cells.length;
            } else if (each instanceof Map<?, ?> map) {
                next.addAll(map.values());
            } else if (each.getClass().getPackage() == NodeHistory.class.getPackage()) {
                for (Field field : each.getClass().getDeclaredFields()) {
                    field.setAccessible(true);
                    if (!Modifier.isStatic(field.getModifiers()) && field.get(each) != null) {
                        next.add(field.get(each));
                    }
                }
            }
        }
        return bytes;
    }

    /** Every slot of a sample has the same number: a copy taken halfway would show two. */
    @Test
    void copiesAreWholeWhileTheGpuIsSampled() throws InterruptedException {
        NodeHistory live = new NodeHistory(Duration.ofMillis(100), System::nanoTime);
        FrameListener writer = live.get();
        AtomicBoolean stop = new AtomicBoolean();
        AtomicReference<Throwable> failed = new AtomicReference<>();
        Thread thread = new Thread(() -> {
            try {
                for (long i = 0; !stop.get(); i++) {
                    for (GpuMetric metric : RecentSamples.metrics()) {
                        set(metric, i);
                    }
                    writer.published(gpu, Cadence.FAST, frame);
                }
            } catch (RuntimeException e) {
                failed.set(e);
            }
        });
        thread.start();
        while (live.recent(gpu).size() == 0) {
            Thread.onSpinWait();
        }
        for (int i = 0; i < 2000; i++) {
            RecentSamples copy = live.recent(gpu);
            for (int sample = 0; sample < copy.size(); sample++) {
                long first = value(copy, sample, GpuMetric.MEMORY_TOTAL);
                assertThat(value(copy, sample, GpuMetric.RECOVERY_ACTION)).isEqualTo(first);
            }
        }
        stop.set(true);
        thread.join();
        assertThat(failed.get()).isNull();
    }

    private static long value(RecentSamples samples, int sample, GpuMetric metric) {
        return samples.reading(sample, metric).asOptional().orElseThrow();
    }
}
