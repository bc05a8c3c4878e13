package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.checks.NodeFixture;
import dev.gpuwarden.daemon.Golden;
import dev.gpuwarden.daemon.repair.RepairStatus;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RepairMetricsTest {

    @Test
    void stateTasksAndEndedRepairs() throws IOException {
        RepairStatus status = new RepairStatus(
                RepairStatus.State.OPERATOR,
                "an operator must: start the unit llama.service",
                List.of("start the unit llama.service"),
                Map.of(List.of("reset", "succeeded"), 2L, List.of("reboot", "failed"), 0L));
        Exposition exposition = new Exposition(
                MetricsOptions.of(false, false, false), () -> List.of(PartCollectors.repairs(() -> status)));
        Collector.Scrape scrape = Scrapes.scrape(NodeFixture.node(List.of()));
        List<String> now = Lines.text(TextFormat.PROMETHEUS, exposition.snapshots(scrape))
                .lines()
                .filter(line -> line.matches("(# (HELP|TYPE) )?gpuwarden_repair.*"))
                .toList();
        Golden.check("metrics/repair.prom", now);
    }
}
