package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.core.kernel.KernelLogStatus;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.kernlog.KernelLogStats;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.Locale;
import java.util.function.Supplier;

/** The state of the kernel-log monitor, and the counts of its records. */
public final class KernelLogCollector implements Collector {

    private final Supplier<KernelLogStats> log;

    public KernelLogCollector(Supplier<KernelLogStats> log) {
        this.log = log;
    }

    @Override
    public String name() {
        return "kernel-log";
    }

    @Override
    public void collect(Scrape scrape, Family.Series out) {
        KernelLogStats stats = log.get();
        if (!(stats.status() instanceof Reading.Present<KernelLogStatus> present)) {
            return;
        }
        KernelLogStatus status = present.value();
        out.add(
                "gpuwarden_kernel_log_up",
                Labels.of("source", status.source()),
                status.unreadable().isEmpty() ? 1 : 0);
        stats.records()
                .forEach((writer, count) -> out.add(
                        "gpuwarden_kernel_log_records",
                        Labels.of("writer", writer.name().toLowerCase(Locale.ROOT)),
                        count));
        stats.signals()
                .forEach((code, count) -> out.add(
                        "gpuwarden_kernel_log_signals", Labels.of("kind", code.kind(), "code", code.code()), count));
        out.add("gpuwarden_kernel_log_silent_signals", Labels.EMPTY, stats.silent());
        out.add("gpuwarden_kernel_log_suppressed_signals", Labels.EMPTY, stats.suppressed());
        out.add("gpuwarden_kernel_log_collapsed_signals", Labels.EMPTY, status.collapsed());
        out.add("gpuwarden_kernel_log_forged_records", Labels.EMPTY, status.forged());
        out.add("gpuwarden_kernel_log_events", Labels.EMPTY, stats.events());
        out.add("gpuwarden_kernel_log_unstored_events", Labels.EMPTY, stats.unstored());
        out.add("gpuwarden_kernel_log_gaps", Labels.EMPTY, status.gaps());
        out.add("gpuwarden_kernel_log_lost_records", Labels.EMPTY, status.lost());
        out.add("gpuwarden_kernel_log_pattern_cutoffs", Labels.EMPTY, stats.patternsCutOff());
    }
}
