package dev.gpuwarden.core.port;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.model.Reading.Absent;
import dev.gpuwarden.core.model.Reading.Present;
import dev.gpuwarden.core.port.Driver.EventStream;
import dev.gpuwarden.core.process.GpuProcess;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The contract of every driver, simulated or real, with at least one GPU that answers. */
public abstract class DriverContract extends SamplerContract {

    @Test
    void reportsTheDriversIdentity() {
        DriverInfo info = driver().info();
        assertThat(info.name()).isNotBlank();
        assertThat(info.libraryPath().asOptional())
                .hasValueSatisfying(p -> assertThat(p).startsWith("/"));
        assertThat(info.driverVersion().asOptional())
                .hasValueSatisfying(v -> assertThat(v).matches("\\d+\\.[\\d.]+"));
        assertThat(info.samplerPath()).matches("(jni|jna).*");
    }

    @Test
    void eachCapabilityHasOneNameAndItsPurpose() {
        List<Capability> capabilities = driver().capabilities();
        assertThat(capabilities)
                .extracting(Capability::symbol)
                .doesNotHaveDuplicates()
                .isNotEmpty();
        assertThat(capabilities).allSatisfy(c -> {
            assertThat(c.feature()).isNotBlank();
            assertThat(c.available() || !c.note().isBlank()).as(c.symbol()).isTrue();
        });
    }

    @Test
    void identitiesAreDistinctAndStable() {
        List<GpuIdentity> first = gpus();
        assertThat(first).extracting(GpuIdentity::uuid).doesNotHaveDuplicates();
        assertThat(first).extracting(GpuIdentity::pci).doesNotHaveDuplicates();
        assertThat(first).extracting(GpuIdentity::index).isSorted();
        assertThat(gpus()).isEqualTo(first);
    }

    @Test
    void identitiesOutliveInitialisingAgain() {
        List<GpuIdentity> before = gpus();
        assertThat(driver().reinitialise()).isEqualTo(Reading.of(true));
        assertThat(gpus()).isEqualTo(before);
    }

    @Test
    void keptGpusAreReadAndTheOthersAreReleased() {
        List<GpuIdentity> all = gpus();
        List<GpuIdentity> kept = all.size() == 1 ? all : all.subList(1, all.size());
        assertThat(driver().reinitialiseWith(kept)).isEqualTo(Reading.of(true));
        assertThat(kept)
                .allSatisfy(gpu -> assertThat(driver().identify(gpu.index())).isEqualTo(gpu));
        assertThat(all)
                .filteredOn(gpu -> !kept.contains(gpu))
                .extracting(gpu -> driver().identify(gpu.index()).uuid())
                .allSatisfy(uuid -> assertThat(uuid)
                        .isInstanceOfSatisfying(
                                Absent.class,
                                absent -> assertThat(absent.cause()).isEqualTo(Absence.RELEASED)));
        assertThat(driver().reinitialise()).isEqualTo(Reading.of(true));
        assertThat(gpus()).isEqualTo(all);
    }

    @Test
    void aProcessIsListedOnceForEachPartitionItHolds() {
        for (GpuIdentity gpu : gpus()) {
            Reading<List<GpuProcess>> processes = driver().processes(gpu.index());
            if (processes instanceof Present<List<GpuProcess>> present) {
                assertThat(present.value()).allSatisfy(p -> assertThat(p.pid()).isPositive());
                assertThat(present.value())
                        .extracting(p -> p.pid() + " " + p.gpuInstance())
                        .doesNotHaveDuplicates();
            } else {
                assertThat(((Absent<List<GpuProcess>>) processes).detail()).isNotBlank();
            }
        }
    }

    @Test
    void processesOfAMissingGpuAreAbsentWithTheFunction() {
        assertThat(driver().processes(gpus().size() + 7))
                .isInstanceOfSatisfying(
                        Absent.class, a -> assertThat(a.detail()).isNotBlank());
    }

    @Test
    void waitingForEventsEndsWhenTheTimeIsUp() {
        Reading<EventStream> events = driver().events();
        if (events instanceof Present<EventStream> present) {
            try (EventStream stream = present.value()) {
                long start = System.nanoTime();
                stream.await(Duration.ofMillis(30));
                assertThat(System.nanoTime() - start)
                        .isLessThan(Duration.ofSeconds(10).toNanos());
            }
        } else {
            assertThat(((Absent<EventStream>) events).text()).isNotBlank();
        }
    }

    @Test
    void closedEventStreamIsEmptyImmediately() {
        driver().events().asOptional().ifPresent(stream -> {
            stream.close();
            long start = System.nanoTime();
            assertThat(stream.await(Duration.ofSeconds(30))).isEmpty();
            assertThat(System.nanoTime() - start)
                    .isLessThan(Duration.ofSeconds(10).toNanos());
            stream.close();
        });
    }
}
