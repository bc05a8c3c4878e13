package dev.gpuwarden.checks.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.InMemoryEvents;
import dev.gpuwarden.core.check.FindingEvents;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CrashedChecksTest {

    private static final Instant SINCE = Instant.parse("2026-11-24T10:00:00Z");
    private static final Instant NOW = Instant.parse("2026-11-24T10:05:00Z");
    private static final String GPU = "GPU-00000000-0000-0000-0000-000000000003";

    private final InMemoryEvents events = new InMemoryEvents();
    private final CrashedChecks crashed = new CrashedChecks(events, events, "node-1", Clock.fixed(NOW, ZoneOffset.UTC));

    @TempDir
    Path root;

    private InFlightRecords records() {
        return new InFlightRecords(root.resolve("in-flight"));
    }

    @Test
    void recordThatWasLeftIsAFaultThatKeepsThisCheckOffThisGpu() {
        records().begin("gpumem", GPU, SINCE);
        crashed.report(records());
        assertThat(events.faults()).singleElement().satisfies(fault -> {
            assertThat(fault.key().checkName()).isEqualTo("GpuCheckCrash");
            assertThat(fault.key().errorCode()).isEqualTo("gpumem");
            assertThat(fault.cause().fatal()).isFalse();
            assertThat(fault.cause().message()).contains("gpumem", GPU, SINCE.toString());
        });
        assertThat(records().all(NOW)).isEmpty();
        assertThat(crashed.refusal("gpumem", GPU).orElseThrow().code()).isEqualTo("crashed-before");
        assertThat(crashed.refusal("gpu-results", GPU)).isEmpty();
        assertThat(crashed.refusal("gpumem", GPU.replace('3', '4'))).isEmpty();
    }

    @Test
    void operatorWhoClearsTheFaultPermitsTheCheck() {
        records().begin("gpumem", GPU, SINCE);
        crashed.report(records());
        Fault fault = events.faults().get(0);
        events.accept(HealthEvent.of(FindingEvents.AGENT, "GPU", fault.key().checkName())
                .healthy(true)
                .entities(List.of(Entity.gpu(GPU)))
                .generated(NOW)
                .nodeName("node-1")
                .build());
        assertThat(crashed.refusal("gpumem", GPU)).isEmpty();
    }

    @Test
    void recordStaysUntilItsFaultIsStored() {
        records().begin("gpumem", GPU, SINCE);
        events.full = true;
        crashed.report(records());
        assertThat(records().all(NOW)).hasSize(1);
    }

    @Test
    void recordOfARunThatEndedIsGone() {
        records().begin("gpumem", GPU, SINCE);
        records().end("gpumem", GPU);
        crashed.report(records());
        assertThat(events.faults()).isEmpty();
    }

    @Test
    void brokenRecordsCountAndForeignFilesDoNot() throws IOException {
        Path folder = Files.createDirectories(root.resolve("in-flight"));
        Files.createFile(folder.resolve("gpumem@" + GPU + ".in-flight"));
        Files.writeString(folder.resolve("pciebw@GPU-1.in-flight"), "9".repeat(1000));
        Files.createFile(folder.resolve("notes.txt"));
        Files.createFile(folder.resolve("Check One@GPU-1.in-flight"));
        assertThat(records().all(NOW))
                .containsExactlyInAnyOrder(
                        new InFlightRecords.InFlight("gpumem", GPU, NOW),
                        new InFlightRecords.InFlight("pciebw", "GPU-1", NOW));
    }
}
