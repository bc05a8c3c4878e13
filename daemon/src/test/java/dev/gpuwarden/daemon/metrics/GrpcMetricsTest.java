package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.checks.NodeFixture;
import dev.gpuwarden.daemon.Golden;
import dev.gpuwarden.daemon.grpc.CallStats;
import io.grpc.Status;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class GrpcMetricsTest {

    @Test
    void callMetricsMatchTheGoldenFile() throws IOException {
        CallStats stats = new CallStats(() -> 4096);
        for (int i = 0; i < 5; i++) {
            stats.began();
        }
        stats.connected();
        stats.watchers(1);
        stats.ended("gpuwarden.v1.NodeService/GetNode", Status.Code.OK);
        stats.ended("gpuwarden.v1.NodeService/GetNode", Status.Code.OK);
        stats.ended("datamodels.PlatformConnector/HealthEventOccurredV1", Status.Code.UNAVAILABLE);
        stats.ended("", Status.Code.UNIMPLEMENTED);
        stats.refused(CallStats.Refusal.MEMORY);
        stats.refused(CallStats.RefusedReport.ACQUITTAL);
        Collector.Scrape scrape = Scrapes.scrape(NodeFixture.node(List.of()));
        Exposition exposition =
                new Exposition(MetricsOptions.of(false, false, false), () -> List.of(PartCollectors.grpc(stats)));
        List<String> now = Lines.text(TextFormat.PROMETHEUS, exposition.snapshots(scrape))
                .lines()
                .filter(line -> line.matches("(# (HELP|TYPE) )?gpuwarden_grpc.*"))
                .toList();
        Golden.check("metrics/grpc.prom", now);
    }
}
