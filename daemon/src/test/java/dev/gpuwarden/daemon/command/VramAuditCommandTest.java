package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.vram.trace.Trace;
import dev.gpuwarden.watchdog.observation.GpuBytes;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.ProcessKey;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The original deployment of the measured Tesla T4, with the budgets and the use of its history. */
class VramAuditCommandTest {

    private static final long MIB = 1 << 20;

    @TempDir
    Path folder;

    private static Reading<Long> budget(String text) {
        return text.matches("\\d+")
                ? Reading.of(Long.parseLong(text) * MIB)
                : Reading.absent(Absence.FAILED, 0, "'" + text + "' is no quantity");
    }

    private static Tenant tenant(String name, String budget, long usedMib) {
        return new Tenant(
                "pod:" + name,
                name,
                "media/Deployment/" + name,
                budget(budget),
                Reading.of(usedMib * MIB),
                Set.of(new ProcessKey(1, 1)),
                0,
                Instant.EPOCH,
                Optional.empty(),
                false);
    }

    /** @param ml budget of immich-ml, and so on */
    private Path trace(String ml, String server, String llama, String frigate, String stt) throws IOException {
        Path file = folder.resolve("trace");
        try (OutputStream out = Files.newOutputStream(file)) {
            Trace.Writer writer = new Trace.Writer(out, VramStory.HEADER);
            for (int i = 0; i < 100; i++) {
                List<Tenant> tenants = new ArrayList<>(List.of(
                        tenant("immich-ml", ml, i % 10 == 0 ? 2900 : 2100),
                        tenant("immich-server", server, i % 10 == 0 ? 1200 : 145),
                        tenant("llama-swap", llama, i % 10 < 2 ? 6996 : 4455),
                        tenant("frigate", frigate, 1900),
                        tenant("portal-stt", stt, 1536)));
                long used = tenants.stream()
                        .mapToLong(tenant -> tenant.used().asOptional().orElseThrow())
                        .sum();
                GpuBytes bytes = new GpuBytes(15360 * MIB, 0, used, 15360 * MIB - used);
                writer.write(new GpuObservation("GPU-t4", i, i + 1, Reading.of(bytes), Reading.of(tenants), i));
            }
        }
        return file;
    }

    @Test
    void theFaultsOfTheOriginalDeploymentAreFoundInItsOwnData() throws IOException {
        Path file = trace("1800", "3000", "5000", "2k", "1500");
        Program audit =
                Program.run("vram", "audit", file.toString(), "--advertised=14000MiB", "--assumed=tts-gate=16384MiB");
        assertThat(audit.err()).isEmpty();
        assertThat(audit.exitCode()).isEqualTo(1);
        assertThat(audit.out())
                .containsPattern("floor_above_slack +GPU-t4 +14000 MiB advertised and a floor of 1536 MiB exceed the"
                        + " card's 15360 MiB by 176 MiB")
                .containsPattern("two_totals +GPU-t4 +tts-gate assumes 16384 MiB, the driver reports 15360 MiB")
                .containsPattern(
                        "swapped +media/Deployment/immich-ml +its budget and that of media/Deployment/immich-server \\(1800 MiB and"
                                + " 3000 MiB\\) would fit each other's use of 1200 MiB and 2900 MiB")
                .containsPattern(
                        "below_use +media/Deployment/llama-swap +budget 5000 MiB, but it used more than 6996 MiB")
                .containsPattern(
                        "over_at_rest +media/Deployment/portal-stt +budget 1500 MiB, but it used 1536 MiB half")
                .containsPattern("unreadable +media/Deployment/frigate +no budget: '2k' is no quantity")
                .containsPattern(
                        "GPU-t4 +media/Deployment/llama-swap +5000 MiB +4455 MiB +6996 MiB +6996 MiB +7744 MiB");
    }

    @Test
    void budgetsThatFitHaveNoFault() throws IOException {
        Path file = trace("3000", "1300", "7000", "2000", "1600");
        Program audit = Program.run("vram", "audit", file.toString(), "--advertised=13824MiB", "--set=floor=64MiB");
        assertThat(audit.out()).contains("no fault found");
        assertThat(audit.exitCode()).isZero();
    }

    @Test
    void budgetsBeyondTheCardAndBeyondAnyUseAreFaults() throws IOException {
        Path file = trace("3000", "4000", "7000", "2000", "1600");
        Program audit = Program.run("vram", "audit", file.toString(), "-o", "json");
        assertThat(audit.out())
                .contains("\"schema\": \"gpuwarden.vram-audit/v1\"", "\"kind\": \"far_above_use\"")
                .contains("budgets of 17600 MiB and a floor of 1536 MiB exceed the card's 15360 MiB by 3776 MiB")
                .contains("budget 4000 MiB, but it never used more than 1200 MiB");
    }

    @Test
    void wrongUsageIsNamed() throws IOException {
        String file = trace("1", "1", "1", "1", "1").toString();
        assertThat(Program.run("vram", "audit", file, "--assumed=gate=16").exitCode())
                .isEqualTo(2);
        assertThat(Program.run("vram", "audit", file, "--advertised=16").exitCode())
                .isEqualTo(2);
        Path other = Files.writeString(folder.resolve("other"), "{\"schema\":\"x\"}\n");
        Program audit = Program.run("vram", "audit", other.toString());
        assertThat(audit.exitCode()).isEqualTo(2);
        assertThat(audit.err()).contains("other:1: schema: expected gpuwarden.vram-decision/v1 or");
    }
}
