package dev.gpuwarden.daemon.metrics;

import static dev.gpuwarden.daemon.vram.VramFixture.memory;
import static dev.gpuwarden.daemon.vram.VramFixture.tenant;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.NodeFixture;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.Golden;
import dev.gpuwarden.daemon.vram.VramFixture;
import dev.gpuwarden.daemon.vram.watch.VramStatus;
import dev.gpuwarden.watchdog.decision.RecycleRules;
import dev.gpuwarden.watchdog.decision.Verdict;
import dev.gpuwarden.watchdog.observation.GpuBytes;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The series of real decisions about a T4 with 15360 MiB, 300 MiB of them reserved. */
class VramMetricsTest {

    private static final Instant NOW = Instant.parse("2026-06-02T12:00:00Z");
    private static final String GPU = "gpu=\"0\"";
    private static final String UUID = "uuid=\"GPU-00000000-0000-0000-0000-000000000000\"";

    private Map<String, Long> recycles = Map.of();
    private RecycleRules rules = RecycleRules.DEFAULT;

    private VramStatus decided(Reading<GpuBytes> memory, Reading<List<Tenant>> tenants) {
        return VramFixture.status(NodeFixture.identity(0), NOW, memory, tenants, rules, recycles);
    }

    private static String text(List<VramStatus> gpus) {
        Collector part = new VramCollector(() -> gpus, () -> NOW).collector();
        Exposition exposition = new Exposition(MetricsOptions.of(false, false, false), () -> List.of(part));
        return Lines.text(TextFormat.PROMETHEUS, exposition.snapshots(Scrapes.scrape(NodeFixture.node(List.of()))));
    }

    private static List<String> series(VramStatus status) {
        return Lines.series(text(List.of(status))).stream()
                .filter(line -> line.startsWith("gpuwarden_vram"))
                .toList();
    }

    private static double value(List<String> series, String name) {
        return series.stream()
                .filter(line -> line.startsWith(name + "{"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                .reduce((a, b) -> {
                    throw new AssertionError("two series of " + name);
                })
                .orElseThrow();
    }

    @Test
    void metricsOfAnIncidentMatchTheGoldenFile() throws IOException {
        recycles = Map.of("accepted", 2L, "failed", 1L);
        VramStatus status = decided(memory(2789), VramFixture.INCIDENT);
        List<String> own = text(List.of(status))
                .lines()
                .filter(line -> line.matches("(# (HELP|TYPE) )?gpuwarden_vram.*"))
                .toList();
        Golden.check("metrics/vram.prom", own);
    }

    @Test
    void partsMakeUpTheCardHoweverTheDriverCountsItsReserve() {
        Reading<List<Tenant>> noTenants = Reading.of(List.of());
        long mib = 1L << 20;
        for (GpuBytes bytes : List.of(
                new GpuBytes(15_360 * mib, 300 * mib, 12_271 * mib, 2789 * mib),
                new GpuBytes(15_360 * mib, 300 * mib, 12_571 * mib, 2789 * mib),
                new GpuBytes(15_360 * mib, 0, 12_571 * mib, 2789 * mib),
                new GpuBytes(15_360 * mib, 300 * mib, 0, 15_100 * mib))) {
            List<String> series = series(decided(Reading.of(bytes), noTenants));
            assertThat(value(series, "gpuwarden_vram_reserved_bytes")
                            + value(series, "gpuwarden_vram_used_bytes")
                            + value(series, "gpuwarden_vram_free_bytes"))
                    .as(bytes.toString())
                    .isEqualTo(value(series, "gpuwarden_vram_physical_bytes"));
            assertThat(value(series, "gpuwarden_vram_used_bytes")).isNotNegative();
        }
    }

    @Test
    void blindDecisionHasCountsAndNoMemory() {
        List<String> series =
                series(decided(Reading.absent(Absence.GPU_LOST), Reading.of(List.of(tenant("a", 1000, 500)))));
        assertThat(series)
                .contains(
                        "gpuwarden_vram_decisions_total{" + GPU + "," + UUID + ",verdict=\"blind\"} 3.0",
                        "gpuwarden_vram_verdict{" + GPU + "," + UUID + ",verdict=\"blind\"} 1.0",
                        "gpuwarden_vram_verdict{" + GPU + "," + UUID + ",verdict=\"calm\"} 0.0")
                .noneMatch(line -> line.startsWith("gpuwarden_vram_free_bytes"))
                .noneMatch(line -> line.startsWith("gpuwarden_vram_pressure"))
                .noneMatch(line -> line.startsWith("gpuwarden_vram_last_good_decision"));
    }

    @Test
    void implausibleMemoryHasNoSeries() {
        List<String> series =
                series(decided(Reading.of(new GpuBytes(15_360L << 20, 0, 99_999L << 20, 1)), Reading.of(List.of())));
        assertThat(series)
                .noneMatch(line -> line.startsWith("gpuwarden_vram_physical_bytes"))
                .noneMatch(line -> line.startsWith("gpuwarden_vram_used_bytes"));
    }

    @Test
    void unknownTenantsCostTheirOwnSeriesOnly() {
        List<String> series = series(decided(memory(9000), Reading.absent(Absence.NO_PERMISSION)));
        assertThat(value(series, "gpuwarden_vram_free_bytes")).isEqualTo(9000.0 * (1 << 20));
        assertThat(series).noneMatch(line -> line.startsWith("gpuwarden_vram_tenant"));
    }

    @Test
    void capOfTheNodeIsNotTheSparingOfTenants() {
        Reading<List<Tenant>> over = Reading.of(List.of(tenant("hog", 3000, 13_900)));
        rules = withMostPerHour(0);
        VramStatus capped = decided(memory(1000), over);
        assertThat(capped.decision().verdict()).isEqualTo(Verdict.CAPPED);
        assertThat(value(series(capped), "gpuwarden_vram_kill_cap_reached")).isEqualTo(1);

        Tenant hog = tenant("hog", 3000, 13_900);
        Tenant exempt = new Tenant(
                hog.id(),
                hog.name(),
                hog.workload(),
                hog.budget(),
                hog.used(),
                hog.processes(),
                0,
                Instant.EPOCH,
                Optional.of("a system pod"),
                false);
        VramStatus spared = decided(memory(1000), Reading.of(List.of(exempt)));
        assertThat(spared.decision().verdict()).isEqualTo(Verdict.CAPPED);
        assertThat(value(series(spared), "gpuwarden_vram_kill_cap_reached")).isZero();
    }

    private static RecycleRules withMostPerHour(int most) {
        RecycleRules r = RecycleRules.DEFAULT;
        return new RecycleRules(
                r.toleranceBytes(),
                r.toleranceShare(),
                r.deficitGrace(),
                r.newestWithin(),
                r.longestGap(),
                r.releaseWithin(),
                r.cooldown(),
                r.quickReturn(),
                r.mostQuickReturns(),
                r.wrongFor(),
                most);
    }

    @Test
    void largestTenantsHaveSeriesWhereThereAreTooMany() {
        List<Tenant> many = IntStream.range(0, 500)
                .mapToObj(i -> tenant("t" + i, 20, i == 333 ? 4000 : 1))
                .toList();
        List<String> series = series(decided(memory(9000), Reading.of(many)));
        assertThat(series)
                .filteredOn(line -> line.startsWith("gpuwarden_vram_tenant_used_bytes"))
                .hasSize(VramCollector.MOST_TENANTS)
                .anyMatch(line -> line.contains("tenant=\"t333\""));
        assertThat(series)
                .filteredOn(line -> line.startsWith("gpuwarden_vram_workload_starved"))
                .hasSize(VramCollector.MOST_TENANTS);
        assertThat(value(series, "gpuwarden_vram_tenants_without_series")).isEqualTo(500 - VramCollector.MOST_TENANTS);
    }

    @Test
    void hostileNameIsCutAndCannotForgeASeries() {
        String hostile = "x\"} 1\ngpuwarden_up 1\\" + "y".repeat(100_000);
        String text = text(List.of(decided(memory(9000), Reading.of(List.of(tenant(hostile, 1000, 500))))));
        assertThat(text.lines()).noneMatch(line -> line.startsWith("gpuwarden_up"));
        assertThat(text).contains("tenant=\"x\\\"} 1\\ngpuwarden_up 1\\\\yyy").hasSizeLessThan(20_000);
    }

    @Test
    void clockThatGoesBackMakesNoNegativeAge() {
        VramStatus status = decided(memory(9000), Reading.of(List.of()));
        VramCollector vram = new VramCollector(() -> List.of(status), () -> NOW.minus(Duration.ofHours(1)));
        Collector part = vram.collector();
        List<String> series = new ArrayList<>(Lines.of(Scrapes.scrape(NodeFixture.node(List.of())), part));
        assertThat(value(series, "gpuwarden_vram_last_good_decision_age_seconds"))
                .isZero();
    }

    @Test
    void watchdogWithoutADecisionIsStillVisible() {
        assertThat(Lines.series(text(List.of()))).contains("gpuwarden_vram_watched_gpus 0.0");
    }
}
