package dev.gpuwarden.core.port;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading.Present;
import dev.gpuwarden.core.port.Driver.Sampler;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.Plausibility;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The contract of every sampler, on either path and on every driver. */
public abstract class SamplerContract {

    /** A return code that no driver gives, to see which slots are written. */
    private static final int UNTOUCHED = 4711;

    /** Causes from elsewhere: the telemetry runner, or no source once a sampling is over. */
    private static final Set<Absence> NOT_A_SAMPLERS = EnumSet.of(Absence.PENDING, Absence.STALE);

    /** The open driver under test; closed by the test class. */
    protected abstract Driver driver();

    protected final List<GpuIdentity> gpus() {
        return ((Present<List<GpuIdentity>>) driver().enumerate()).value();
    }

    @Test
    void fillsEverySlotOfTheCadenceAndNoneOfTheOther() {
        for (Cadence cadence : Cadence.values()) {
            onEachGpu(sampler -> {
                GpuFrame frame = new GpuFrame();
                for (int slot = 0; slot < GpuFrame.SLOTS; slot++) {
                    frame.putAbsent(slot, Absence.PENDING, UNTOUCHED);
                }
                sampler.sample(cadence, frame);
                for (int slot = 0; slot < GpuFrame.SLOTS; slot++) {
                    boolean touched = frame.code(slot) != UNTOUCHED;
                    assertThat(touched).as("%s: slot %s", cadence, name(slot)).isEqualTo(isReadAt(slot, cadence));
                }
            });
        }
    }

    @Test
    void everyAbsenceHasACauseOfItsOwn() {
        onEachGpu(sampler -> {
            GpuFrame frame = sampleAll(sampler);
            for (int slot = 0; slot < GpuFrame.SLOTS; slot++) {
                Absence absence = frame.absence(slot);
                assertThat(NOT_A_SAMPLERS).as(name(slot)).doesNotContain(absence);
                if (absence == Absence.FAILED) {
                    assertThat(frame.code(slot)).as(name(slot)).isNotZero();
                }
                if (absence == Absence.PRESENT || absence == Absence.NO_SYMBOL) {
                    assertThat(frame.code(slot)).as(name(slot)).isZero();
                }
            }
        });
    }

    @Test
    void memoryAddsUp() {
        onEachGpu(sampler -> {
            GpuFrame frame = sampleAll(sampler);
            long total = frame.raw(GpuMetric.MEMORY_TOTAL);
            assertThat(frame.present(GpuMetric.MEMORY_TOTAL)).isTrue();
            assertThat(total).isPositive();
            // Without a reserved part of its own, it is within the used one.
            long reserved = frame.present(GpuMetric.MEMORY_RESERVED) ? frame.raw(GpuMetric.MEMORY_RESERVED) : 0;
            long parts = frame.raw(GpuMetric.MEMORY_USED) + frame.raw(GpuMetric.MEMORY_FREE) + reserved;
            assertThat(parts).isCloseTo(total, within(total / 64));
        });
    }

    @Test
    void healthyDriverHasNoImplausibleValue() {
        onEachGpu(sampler -> {
            GpuFrame frame = sampleAll(sampler);
            for (Cadence cadence : Cadence.values()) {
                assertThat(Plausibility.refuse(frame, cadence))
                        .as("%s", cadence)
                        .isZero();
            }
        });
    }

    @Test
    void headerHasTheTimeOfTheProcessClock() {
        onEachGpu(sampler -> {
            for (Cadence cadence : Cadence.values()) {
                GpuFrame frame = new GpuFrame();
                long before = System.nanoTime();
                sampler.sample(cadence, frame);
                long after = System.nanoTime();
                assertThat(frame.sampledAtNanos(cadence)).isBetween(before, after);
                assertThat(frame.durationNanos(cadence)).isBetween(1L, after - before);
                assertThat(frame.calls()).isPositive();
                Cadence other = cadence == Cadence.FAST ? Cadence.SLOW : Cadence.FAST;
                assertThat(frame.sampledAtNanos(other)).isZero();
            }
        });
    }

    @Test
    void samplersOutliveInitialisingAgain() {
        onEachGpu(sampler -> {
            GpuFrame before = sampleAll(sampler);
            driver().reinitialise();
            GpuFrame after = sampleAll(sampler);
            assertThat(after.raw(GpuMetric.MEMORY_TOTAL)).isEqualTo(before.raw(GpuMetric.MEMORY_TOTAL));
            assertThat(after.present(GpuMetric.MEMORY_TOTAL)).isTrue();
        });
    }

    @Test
    void aGpuThatIsNotThereIsAbsentInEverySlotAndThrowsNothing() {
        try (Sampler sampler = driver().sampler(gpus().size() + 7)) {
            GpuFrame frame = sampleAll(sampler);
            for (int slot = 0; slot < GpuFrame.SLOTS; slot++) {
                assertThat(frame.present(slot)).as(name(slot)).isFalse();
                if (frame.absence(slot) != Absence.OFF) {
                    assertThat(frame.code(slot)).as(name(slot)).isNotZero();
                }
            }
        }
    }

    @Test
    void aClosedSamplerIsAnErrorOfTheCaller() {
        Sampler sampler = driver().sampler(0);
        sampler.close();
        sampler.close();
        assertThatThrownBy(() -> sampler.sample(Cadence.FAST, new GpuFrame()))
                .isInstanceOf(IllegalStateException.class);
    }

    private void onEachGpu(Consumer<Sampler> check) {
        List<GpuIdentity> gpus = gpus();
        assertThat(gpus).isNotEmpty();
        for (GpuIdentity gpu : gpus) {
            try (Sampler sampler = driver().sampler(gpu.index())) {
                check.accept(sampler);
            }
        }
    }

    private static GpuFrame sampleAll(Sampler sampler) {
        GpuFrame frame = new GpuFrame();
        for (Cadence cadence : Cadence.values()) {
            sampler.sample(cadence, frame);
        }
        return frame;
    }

    /** The cadence that fills a slot: links are slow. */
    protected static boolean isReadAt(int slot, Cadence cadence) {
        return slot < GpuMetric.count() ? GpuMetric.of(slot).isReadAt(cadence) : cadence == Cadence.SLOW;
    }

    /** A slot's name for messages. */
    protected static String name(int slot) {
        return slot < GpuMetric.count() ? GpuMetric.of(slot).name() : "link slot " + (slot - GpuMetric.count());
    }
}
