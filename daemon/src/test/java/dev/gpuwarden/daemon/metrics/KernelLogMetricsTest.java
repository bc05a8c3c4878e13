package dev.gpuwarden.daemon.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.NodeFixture;
import dev.gpuwarden.core.kernel.KernelLogStatus;
import dev.gpuwarden.core.kernel.KernelLogStatus.Gap;
import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.Golden;
import dev.gpuwarden.daemon.kernlog.KernelLogStats;
import dev.gpuwarden.daemon.kernlog.KernelLogStats.Code;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Series of the kernel log, against golden/metrics/kernel-log.prom. */
class KernelLogMetricsTest {

    private static KernelLogStats stats(Reading<KernelLogStatus> status) {
        return new KernelLogStats(
                Map.of(Writer.KERNEL, 800_000L, Writer.PRIVILEGED, 3L, Writer.USER, 2L, Writer.UNTOLD, 1L),
                Map.of(
                        new Code("xid", "95"), 799_000L,
                        new Code("xid", "145.RLW_REMAP"), 7L,
                        new Code("pattern", "x\"} 1\ngpuwarden_up 1"), 1L),
                11,
                12,
                13,
                14,
                15,
                status);
    }

    private static Reading<KernelLogStatus> status(Optional<String> unreadable) {
        return Reading.of(new KernelLogStatus(
                "/dev/kmsg",
                Instant.EPOCH,
                800_006,
                2,
                41,
                Optional.of(new Gap(Instant.EPOCH, 40, "overwritten")),
                5,
                6,
                Optional.empty(),
                798_000,
                unreadable,
                Optional.empty()));
    }

    private static List<String> lines(Reading<KernelLogStatus> status) {
        Collector.Scrape scrape = Scrapes.scrape(NodeFixture.node(List.of()));
        Exposition exposition = new Exposition(
                MetricsOptions.of(false, false, false), () -> List.of(PartCollectors.kernelLog(() -> stats(status))));
        return Lines.text(TextFormat.PROMETHEUS, exposition.snapshots(scrape))
                .lines()
                .filter(line -> line.matches("(# (HELP|TYPE) )?gpuwarden_kernel_log.*"))
                .toList();
    }

    @Test
    void seriesMatchTheGoldenFile() throws IOException {
        List<String> now = lines(status(Optional.empty()));
        Golden.check("metrics/kernel-log.prom", now);
    }

    @Test
    void unreadableLogIsDown() {
        assertThat(lines(status(Optional.of("no permission"))))
                .contains("gpuwarden_kernel_log_up{source=\"/dev/kmsg\"} 0.0");
    }

    @Test
    void disabledLogHasNoSeries() {
        assertThat(lines(Reading.absent(Absence.NOT_SUPPORTED))).isEmpty();
    }
}
