package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.NodeFixture;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.Golden;
import dev.gpuwarden.daemon.command.VramReport.By;
import dev.gpuwarden.daemon.vram.VramFixture;
import dev.gpuwarden.daemon.vram.VramView;
import dev.gpuwarden.daemon.vram.watch.VramStatus;
import dev.gpuwarden.watchdog.decision.RecycleRules;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BudgetTableTest {

    private static final Instant NOW = Instant.parse("2026-06-02T12:00:00Z");

    private static String table(VramStatus status) {
        StringWriter text = new StringWriter();
        new BudgetTable(List.of(VramView.of(status)), NOW).print(new PrintWriter(text, true));
        return text.toString();
    }

    @Test
    void incidentMatchesTheGoldenFile() throws IOException {
        Golden.check("vram/budgets.txt", table(VramFixture.incident(NodeFixture.identity(0), NOW)));
    }

    @Test
    void jsonHasBudgetsBesideTheHolders() throws IOException {
        VramView view = VramView.of(VramFixture.incident(NodeFixture.identity(0), NOW));
        VramReport report = new VramReport(By.pod, NodeFixture.node(List.of()), List.of());
        Golden.check("vram/budgets.json", Output.json(VramTopCommand.tree(report, List.of(view))) + "\n");
        assertThat(VramTopCommand.tree(report, List.of())).doesNotContainKey("budgets");
    }

    @Test
    void unknownMemoryIsACauseAndNoNumber() {
        assertThat(table(VramFixture.status(
                        NodeFixture.identity(0),
                        NOW,
                        Reading.absent(Absence.GPU_LOST),
                        Reading.absent(Absence.STALE),
                        RecycleRules.DEFAULT,
                        Map.of())))
                .contains(
                        "tenants unknown: the last sample is too old",
                        "blind",
                        "never",
                        "the memory of the GPU is unknown")
                .doesNotContain("MiB");
    }

    @Test
    void controlCharactersOfNamesAreNotPrinted() {
        assertThat(table(VramFixture.status(
                        NodeFixture.identity(0),
                        NOW,
                        VramFixture.memory(9000),
                        Reading.of(List.of(VramFixture.tenant("\u001b[31mx\n", 100, 1))),
                        RecycleRules.DEFAULT,
                        Map.of())))
                .doesNotContain("\u001b")
                .hasLineCount(6);
    }
}
