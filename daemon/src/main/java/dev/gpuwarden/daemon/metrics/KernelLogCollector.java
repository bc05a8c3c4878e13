package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.core.kernel.KernelLogStatus;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.kernlog.KernelLogStats;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.Locale;
import java.util.function.Supplier;

/** The state of the kernel-log monitor, and the counts of its records. */
public final class KernelLogCollector implements Collector {

    private static final Family UP = Family.gauge(
            "gpuwarden_kernel_log_up", "1 while the kernel log can be read; missing if reading is switched off.");
    private static final Family RECORDS = Family.counter(
            "gpuwarden_kernel_log_records",
            "Records read from the kernel log, by their writer; a plain file does not record it.");
    private static final Family SIGNALS =
            Family.counter("gpuwarden_kernel_log_signals", "Records that were recognised, repetitions included.");
    private static final Family SILENT = Family.counter(
            "gpuwarden_kernel_log_silent_signals",
            "Recognised records without an event, because they report no fault or a rule drops them.");
    private static final Family SUPPRESSED =
            Family.counter("gpuwarden_kernel_log_suppressed_signals", "Recognised records that repeat an Xid.");
    private static final Family COLLAPSED = Family.counter(
            "gpuwarden_kernel_log_collapsed_signals",
            "Repetitions within the storm window, reported as a count with one event.");
    private static final Family FORGED = Family.counter(
            "gpuwarden_kernel_log_forged_records",
            "Records refused because they have the form of a kernel message and another writer.");
    private static final Family EVENTS =
            Family.counter("gpuwarden_kernel_log_events", "Events handed to the event store.");
    private static final Family UNSTORED = Family.counter(
            "gpuwarden_kernel_log_unstored_events", "Events that the event store could not write immediately.");
    private static final Family GAPS =
            Family.counter("gpuwarden_kernel_log_gaps", "Times that records were lost before they were read.");
    private static final Family LOST = Family.counter(
            "gpuwarden_kernel_log_lost_records", "Records known to be lost; a gap of unknown size adds none.");
    private static final Family CUT_OFF =
            Family.counter("gpuwarden_kernel_log_pattern_cutoffs", "Records for which a user's pattern took too long.");

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
        out.add(UP, Labels.of("source", status.source()), status.unreadable().isEmpty() ? 1 : 0);
        stats.records()
                .forEach((writer, count) ->
                        out.add(RECORDS, Labels.of("writer", writer.name().toLowerCase(Locale.ROOT)), count));
        stats.signals()
                .forEach((code, count) -> out.add(SIGNALS, Labels.of("kind", code.kind(), "code", code.code()), count));
        out.add(SILENT, Labels.EMPTY, stats.silent());
        out.add(SUPPRESSED, Labels.EMPTY, stats.suppressed());
        out.add(COLLAPSED, Labels.EMPTY, status.collapsed());
        out.add(FORGED, Labels.EMPTY, status.forged());
        out.add(EVENTS, Labels.EMPTY, stats.events());
        out.add(UNSTORED, Labels.EMPTY, stats.unstored());
        out.add(GAPS, Labels.EMPTY, status.gaps());
        out.add(LOST, Labels.EMPTY, status.lost());
        out.add(CUT_OFF, Labels.EMPTY, stats.patternsCutOff());
    }
}
