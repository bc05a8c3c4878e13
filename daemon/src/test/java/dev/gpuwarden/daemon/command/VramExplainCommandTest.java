package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.cli.JsonReader;
import dev.gpuwarden.daemon.vram.action.Actuator;
import dev.gpuwarden.daemon.vram.rules.WatchdogRules;
import dev.gpuwarden.daemon.vram.trace.DecisionLog;
import dev.gpuwarden.daemon.vram.trace.DecisionRecord;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.decision.GpuWatchdog;
import dev.gpuwarden.watchdog.decision.RecycleHistory;
import dev.gpuwarden.watchdog.decision.WatchdogState;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VramExplainCommandTest {

    @TempDir
    Path folder;

    private String records = "";

    @BeforeEach
    void record() {
        Path file = folder.resolve("events-vram.jsonl");
        WatchdogRules rules = WatchdogRules.DEFAULT;
        GpuWatchdog watchdog = new GpuWatchdog(rules.pressure(), rules.recycle(), new RecycleHistory(rules.recycle()));
        DecisionRecord.Origin origin = new DecisionRecord.Origin("k8s-node1", "boot", "armed");
        try (DecisionLog log = new DecisionLog(file, 1 << 20, origin, rules, Clock.systemUTC())) {
            for (GpuObservation seen : VramStory.minute()) {
                WatchdogState before = watchdog.state();
                Decision decision = watchdog.decide(seen);
                log.decided(decision, before);
                log.acted(decision, "evict", new Actuator.Outcome(true, "the API server accepted the eviction"));
            }
        }
        records = file.toString();
    }

    @Test
    void theRecycleIsExplainedInWordsAndTakenAgain() {
        Program explain = Program.run("vram", "explain", records);
        assertThat(explain.err()).isEmpty();
        assertThat(explain.exitCode()).isZero();
        assertThat(explain.out())
                .contains(
                        "node     k8s-node1, armed",
                        "verdict  recycle",
                        "of 15360 MiB free",
                        "4 tenants, listed 0.0 s before the reading",
                        "floor    1536 MiB: not breached",
                        "demand   3 failed allocations within 5m: media/llama-swap",
                        "evict accepted: the API server accepted the eviction",
                        "again    rules, state and observation of the record give the same decision")
                .containsPattern("immich-ml +media/immich-ml +3000 MiB +10726 MiB +7726 MiB +0 +recycled")
                .containsPattern("frigate .* spared: within its budget");
    }

    @Test
    void theLastDecisionAndAnyOtherCanBeExplained() throws IOException {
        Program last = Program.run("vram", "explain", records, "--last", "-o", "json");
        assertThat(JsonReader.ofDepth(16).readObject(last.out()))
                .containsEntry("schema", "gpuwarden.vram-explanation/v1")
                .containsEntry("verdict", "releasing")
                .containsEntry("reproduced", true)
                .containsEntry("actions", List.of());
        assertThat(Program.run("vram", "explain", records, "--sequence=1").out())
                .contains("verdict  calm");
        assertThat(Program.run("vram", "explain", records, "--list").out())
                .containsPattern("GPU-t4 +1 +calm")
                .containsPattern("recycle +immich-ml");
    }

    @Test
    void aRecordThatGivesAnotherDecisionIsFound() throws IOException {
        Path file = Path.of(records);
        Files.writeString(file, Files.readString(file).replace("\"attempts\":\"3\"", "\"attempts\":\"9\""));
        Program explain = Program.run("vram", "explain", records);
        assertThat(explain.exitCode()).isEqualTo(1);
        assertThat(explain.out()).contains("again    NOT EQUAL: the record now gives deficit_grace: ");
    }

    @Test
    void recordsAreFoundBesideTheEventStore() {
        String store = "--store.path=" + folder.resolve("events.db");
        assertThat(Program.run("vram", "explain", store).exitCode()).isZero();
        Program none = Program.run("vram", "explain", "--gpu=other", store);
        assertThat(none.exitCode()).isEqualTo(3);
        assertThat(none.err()).contains("has no such decision");
        Program missing = Program.run("vram", "explain", folder.resolve("none").toString());
        assertThat(missing.exitCode()).isEqualTo(2);
        assertThat(missing.err()).contains("none: no such file");
    }
}
