package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.checks.NodeFixture;
import dev.gpuwarden.daemon.Golden;
import dev.gpuwarden.daemon.kube.KubeStats;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class KubernetesMetricsTest {

    @Test
    void requestMetricsMatchTheGoldenFile() throws IOException {
        Map<String, KubeStats> stats = new TreeMap<>(Map.of(
                "conditions", new KubeStats(3, 0, 1, "", Optional.of(Instant.parse("2026-11-22T12:00:00Z"))),
                "labels", new KubeStats(0, 2, 0, "the API server answers 403", Optional.empty())));
        Collector.Scrape scrape = Scrapes.scrape(NodeFixture.node(List.of()));
        Exposition exposition = new Exposition(
                MetricsOptions.of(false, false, false), () -> List.of(PartCollectors.kubernetes(() -> stats)));
        List<String> now = Lines.text(TextFormat.PROMETHEUS, exposition.snapshots(scrape))
                .lines()
                .filter(line -> line.matches("(# (HELP|TYPE) )?gpuwarden_kubernetes.*"))
                .toList();
        Golden.check("metrics/kubernetes.prom", now);
    }
}
