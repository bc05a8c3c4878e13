package dev.gpuwarden.nat.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.model.Reading.Absent;
import dev.gpuwarden.core.model.Reading.Present;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.Driver.DriverEvent;
import dev.gpuwarden.core.port.Driver.EventStream;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.nat.sim.SimNode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NvmlEventsTest {

    private static final Duration AWHILE = Duration.ofSeconds(20);
    private static final long XID = 8;
    private static final long CLOCK_CHANGE = 0x10;

    @TempDir
    Path folder;

    private SimNode node;
    private Driver driver;

    private EventStream open(String generation) {
        node = SimNode.of(generation, folder);
        driver = node.open(SamplerPath.AUTO);
        return ((Present<EventStream>) driver.events()).value();
    }

    @AfterEach
    void close() {
        driver.close();
    }

    @Test
    void anXidComesWithItsGpu() {
        try (EventStream events = open("550")) {
            node.event(1, XID, 79);
            assertThat(events.await(AWHILE)).hasValueSatisfying(e -> {
                assertThat(e.gpuUuid()).isEqualTo(Reading.of("GPU-6f1a0000-1111-2222-3333-444455550001"));
                assertThat(e.type()).isEqualTo(XID);
                assertThat(e.data()).isEqualTo(79);
                assertThat(e.gpuInstance()).isInstanceOf(Absent.class);
            });
        }
    }

    @Test
    void eventsComeInOrderAndUnwantedOnesDoNotCome() {
        try (EventStream events = open("470")) {
            node.event(0, XID, 31);
            node.event(0, CLOCK_CHANGE, 0);
            node.event(0, XID, 43);
            assertThat(events.await(AWHILE)).map(DriverEvent::data).contains(31L);
            assertThat(events.await(AWHILE)).map(DriverEvent::data).contains(43L);
            assertThat(events.await(Duration.ZERO)).isEmpty();
        }
    }

    @Test
    void aWaitEndsAsSoonAsTheEventComes() throws Exception {
        try (EventStream events = open("580")) {
            CompletableFuture<Optional<DriverEvent>> waiting =
                    CompletableFuture.supplyAsync(() -> events.await(AWHILE));
            node.event(0, XID, 48);
            assertThat(waiting.get(AWHILE.toSeconds(), TimeUnit.SECONDS)).isPresent();
        }
    }

    @Test
    void eventsGoOnAfterInitialisingAgain() {
        try (EventStream events = open("550")) {
            driver.reinitialise();
            assertThat(events.await(Duration.ZERO)).isEmpty();
            node.event(0, XID, 62);
            assertThat(events.await(AWHILE)).map(DriverEvent::data).contains(62L);
        }
    }

    @Test
    void unregisteredGpuDoesNotHideOtherEvents() {
        node = SimNode.of("550", folder).set("gpu[0].events_supported", Long.MIN_VALUE);
        driver = node.open(SamplerPath.AUTO);
        try (EventStream events = ((Present<EventStream>) driver.events()).value()) {
            node.event(1, XID, 94);
            assertThat(events.await(AWHILE)).map(DriverEvent::data).contains(94L);
        }
    }

    @Test
    void missingEventsNameTheRefusingFunction() {
        node = SimNode.of("550", folder)
                .set("gpu[0].events_supported", Long.MIN_VALUE)
                .set("gpu[1].events_supported", Long.MIN_VALUE);
        driver = node.open(SamplerPath.AUTO);
        assertThat(driver.events())
                .isInstanceOfSatisfying(
                        Absent.class, a -> assertThat(a.detail()).contains("Event"));
    }

    @Test
    void aLibraryThatFailsEveryWaitDoesNotMakeTheCallerSpin() {
        try (EventStream events = open("550")) {
            node.error(0, "nvmlEventSetWait_v2", 15);
            long start = System.nanoTime();
            assertThat(events.await(Duration.ofMillis(50))).isEmpty();
            assertThat(System.nanoTime() - start)
                    .isGreaterThanOrEqualTo(Duration.ofMillis(45).toNanos());
        }
    }

    @Test
    void closingDoesNotWaitForADriverThatHangs() throws Exception {
        EventStream events = open("550");
        node.hang(0, "nvmlEventSetWait_v2");
        CompletableFuture<Optional<DriverEvent>> stuck = CompletableFuture.supplyAsync(() -> events.await(AWHILE));
        node.awaitHanging(0);
        events.close();
        assertThat(stuck).isNotDone();
        node.heal(0);
        assertThat(stuck.get(AWHILE.toSeconds(), TimeUnit.SECONDS)).isEmpty();
        assertThat(events.await(AWHILE)).isEmpty();
    }
}
