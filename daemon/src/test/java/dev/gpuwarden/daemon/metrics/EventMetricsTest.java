package dev.gpuwarden.daemon.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.CheckPlan;
import dev.gpuwarden.checks.NodeFixture;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.EventWriter.Receipt;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.LeftOut;
import dev.gpuwarden.core.event.Outbox.Lag;
import dev.gpuwarden.core.event.ProcessingStrategy;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.daemon.Golden;
import dev.gpuwarden.daemon.store.StoreStats.EventCounts.Kind;
import dev.gpuwarden.daemon.store.StoreStatus;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

/** Series of the event store, against golden/metrics/events.prom. */
class EventMetricsTest {

    private static StoreStatus status() {
        Histogram commits = new Histogram(1, 60_000_000, 2);
        for (int micros = 100; micros < 1000; micros += 100) {
            commits.recordValue(micros);
        }
        Map<Receipt, Long> receipts = new LinkedHashMap<>();
        for (Receipt receipt : Receipt.values()) {
            receipts.put(receipt, 10L + receipt.ordinal());
        }
        return new StoreStatus(
                Optional.empty(),
                Optional.of("disk full"),
                1 << 20,
                1234,
                99,
                2,
                17,
                20_000,
                receipts,
                4,
                new LeftOut(List.of(new LeftOut.Share("noisy", 4, 1))),
                5,
                1,
                commits,
                Map.of("uplink", new Lag(7, 3), "x\"} 1\n", new Lag(0, 0)));
    }

    private static List<Fault> faults() {
        FaultTable table = new FaultTable();
        table.apply(
                HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                        .fatal(true)
                        .errorCodes(List.of("79"))
                        .action(RecommendedAction.RESTART_BM)
                        .entities(List.of(new Entity(Entity.PCI, "0000:3b:00"), Entity.gpu("GPU-1")))
                        .build(),
                1,
                Instant.EPOCH);
        table.apply(
                HealthEvent.of("x\"} 1\ngpuwarden_up 1", "", "check")
                        .strategy(ProcessingStrategy.STORE_ONLY)
                        .build(),
                2,
                Instant.EPOCH);
        return table.faults();
    }

    private static List<String> lines(List<Collector> parts) {
        Collector.Scrape scrape = Scrapes.scrape(NodeFixture.node(List.of()));
        Exposition exposition = new Exposition(MetricsOptions.of(false, false, false), () -> parts);
        return Lines.text(TextFormat.PROMETHEUS, exposition.snapshots(scrape))
                .lines()
                .filter(line -> line.matches("(# (HELP|TYPE) )?gpuwarden_(store|event|fault|check_set).*"))
                .toList();
    }

    @Test
    void storeMetricsMatchTheGoldenFile() throws IOException {
        Map<Kind, Long> counts = new LinkedHashMap<>();
        counts.put(new Kind("syslog-health-monitor", "SysLogsXIDError", "79", true, false), 3L);
        counts.put(new Kind("other", "other", "other", false, true), 4L);
        List<String> now = lines(List.of(
                PartCollectors.store(EventMetricsTest::status),
                PartCollectors.checkSets(CheckPlan.installed().withLoad().only("pciebw"::equals)),
                new EventCollector(() -> counts, EventMetricsTest::faults).collector()));
        Golden.check("metrics/events.prom", now);
    }

    @Test
    void faultsBeyondFiveHundredShareTheirSeries() {
        FaultTable table = new FaultTable();
        for (int i = 0; i < 800; i++) {
            table.apply(
                    HealthEvent.of("agent", "GPU", "check")
                            .fatal(i % 4 != 0)
                            .errorCodes(List.of("code" + i))
                            .build(),
                    i,
                    Instant.EPOCH);
        }
        List<String> series = new ArrayList<>(lines(List.of(new EventCollector(Map::of, table::faults).collector())));
        series.removeIf(line -> line.startsWith("#"));
        assertThat(series)
                .hasSize(502)
                .filteredOn(line -> line.contains("entity=\"other\""))
                .satisfiesExactlyInAnyOrder(
                        line -> assertThat(line).endsWith("fatal=\"true\"} 100.0"),
                        line -> assertThat(line).endsWith("fatal=\"false\"} 200.0"));
    }
}
