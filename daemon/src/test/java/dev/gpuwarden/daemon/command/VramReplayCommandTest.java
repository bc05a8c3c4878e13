package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.cli.JsonReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VramReplayCommandTest {

    @TempDir
    Path folder;

    private String trace = "";

    @BeforeEach
    void write() throws IOException {
        trace = VramStory.trace(folder.resolve("trace")).toString();
    }

    @Test
    void theIncidentEndsWithItsCulprit() {
        Program replay = Program.run("vram", "replay", trace);
        assertThat(replay.err()).isEmpty();
        assertThat(replay.exitCode()).isEqualTo(1);
        assertThat(replay.out())
                .containsPattern(
                        "2026-06-02 \\S+ +GPU-t4 +recycle +immich-ml +.*failed allocations of media/llama-swap")
                .contains("60 observations of 1 GPU: ", "1 recycle");
    }

    @Test
    void otherRulesGiveOtherDecisions() throws IOException {
        Program replay = Program.run("vram", "replay", trace, "--set", "triggers=floor", "-o", "json");
        assertThat(replay.exitCode()).isZero();
        assertThat(JsonReader.ofDepth(16).readObject(replay.out()))
                .containsEntry("schema", "gpuwarden.vram-replay/v1")
                .containsEntry("recycles", 0L)
                .containsEntry("observations", 60L);
        assertThat(replay.out()).contains("\"triggers\": \"floor\"");
        assertThat(Program.run("vram", "replay", trace, "--set=floor=4GiB", "--set=floor-share=1")
                        .out())
                .containsPattern("recycle +immich-ml +.*MiB free, floor 4096 MiB");
    }

    @Test
    void allShowsEachDecision() {
        assertThat(Program.run("vram", "replay", trace, "--all").out().lines()).hasSize(63);
    }

    @Test
    void wrongUsageIsNamed() throws IOException {
        Program rule = Program.run("vram", "replay", trace, "--set", "floor=lots");
        assertThat(rule.exitCode()).isEqualTo(2);
        assertThat(rule.err()).contains("rule floor: expected a size such as 512MiB or 2GiB, seen 'lots'");
        Program none = Program.run("vram", "replay", folder.resolve("none").toString());
        assertThat(none.exitCode()).isEqualTo(2);
        assertThat(none.err()).contains("none: no such file");
        Path empty = Files.writeString(
                folder.resolve("empty"), Files.readAllLines(Path.of(trace)).get(0) + "\n");
        Program nothing = Program.run("vram", "replay", empty.toString());
        assertThat(nothing.exitCode()).isEqualTo(3);
        assertThat(nothing.out()).contains("the trace has no observation");
        Program audit = Program.run("vram", "audit", empty.toString());
        assertThat(audit.exitCode()).isEqualTo(3);
        assertThat(audit.out()).contains("no use was measured");
    }

    @Test
    void theRulesAreListedWithTheirDefaults() {
        Program rules = Program.run("vram", "rules");
        assertThat(rules.exitCode()).isZero();
        assertThat(rules.out()).containsPattern("floor +1536MiB +free memory").containsPattern("cooldown +10m ");
    }
}
