package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.ClockEventReason;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.Locale;
import java.util.stream.IntStream;

/** Every reading of every GPU in base units, and the cause of each absent one. */
record GpuCollector(boolean unsupported) {

    private static final Absence[] CAUSES = Absence.values();
    private static final GpuState[] STATES = GpuState.values();
    private static final Cadence[] CADENCES = Cadence.values();
    private static final Family[] READINGS = IntStream.range(0, GpuMetric.count())
            .mapToObj(i -> Family.of("gpuwarden_gpu_", GpuMetric.of(i)))
            .toArray(Family[]::new);

    void collect(Collector.Scrape scrape, Family.Series out) {
        for (GpuSnapshot gpu : scrape.node().gpus()) {
            Labels labels = GpuLabels.of(gpu.identity());
            out.add("gpuwarden_gpu", info(gpu.identity(), labels), 1);
            for (GpuState state : STATES) {
                out.add("gpuwarden_gpu_state", labels.add("state", state.label()), gpu.state() == state ? 1 : 0);
            }
            age(out, "gpuwarden_gpu_sample_age_seconds", labels, gpu.ageNanos());
            age(out, "gpuwarden_gpu_process_list_age_seconds", labels, gpu.processesAgeNanos());
            out.add("gpuwarden_implausible_values", labels, gpu.refusedValues());
            readings(gpu.frame(), labels, out);
            if (gpu.processes() instanceof Reading.Absent<?> absent) {
                out.add("gpuwarden_gpu_reading_absent", absence(labels, "processes", absent.cause()), 1);
            }
            for (Cadence cadence : CADENCES) {
                if (gpu.frame().sampledAtNanos(cadence) != 0) {
                    Labels withCadence = labels.add("cadence", cadence.name().toLowerCase(Locale.ROOT));
                    out.add(
                            "gpuwarden_gpu_sample_duration_seconds",
                            withCadence,
                            gpu.frame().durationNanos(cadence) / 1e9);
                }
            }
        }
    }

    private void readings(GpuFrame frame, Labels labels, Family.Series out) {
        int[] absent = new int[CAUSES.length];
        for (int i = 0; i < READINGS.length; i++) {
            GpuMetric metric = GpuMetric.of(i);
            Absence absence = frame.absence(i);
            if (absence == Absence.PRESENT) {
                if (metric == GpuMetric.CLOCK_EVENT_REASONS) {
                    clockEvents(frame.raw(i), labels, out);
                } else {
                    out.add(READINGS[i], labels, metric.unit().toBase(frame.raw(i)));
                }
                continue;
            }
            absent[absence.ordinal()]++;
            if (unsupported || !isStatic(absence)) {
                out.add("gpuwarden_gpu_reading_absent", absence(labels, metric.label(), absence), 1);
            }
        }
        for (Absence cause : CAUSES) {
            if (absent[cause.ordinal()] > 0) {
                out.add("gpuwarden_gpu_readings_absent", labels.add("cause", cause.label()), absent[cause.ordinal()]);
            }
        }
    }

    private static Labels absence(Labels labels, String reading, Absence cause) {
        return labels.merge(Labels.of("reading", reading, "cause", cause.label()));
    }

    /**
     * Returns whether a cause is permanent. Board, driver and settings do not change while they run, so a series for
     * each reading would never change.
     */
    private static boolean isStatic(Absence absence) {
        return absence == Absence.NOT_SUPPORTED || absence == Absence.NO_SYMBOL || absence == Absence.OFF;
    }

    private static void clockEvents(long mask, Labels labels, Family.Series out) {
        for (ClockEventReason reason : ClockEventReason.all()) {
            out.add(
                    "gpuwarden_gpu_clock_event_reason",
                    labels.add("reason", reason.label()),
                    reason.isIn(mask) ? 1 : 0);
        }
    }

    private static void age(Family.Series out, String family, Labels labels, Reading<Long> nanos) {
        if (nanos instanceof Reading.Present<Long> age) {
            out.add(family, labels, age.value() / 1e9);
        }
    }

    private static Labels info(GpuIdentity gpu, Labels labels) {
        return labels.merge(Labels.of(
                "pci_bus_id", text(gpu.pci()),
                "minor", text(gpu.minor()),
                "name", text(gpu.name()),
                "serial", text(gpu.serial()),
                "vbios", text(gpu.vbios()),
                "board_part", text(gpu.boardPart()),
                "compute_capability", text(gpu.computeCapability()),
                "numa_node", text(gpu.numaNode())));
    }

    static String text(Reading<?> reading) {
        return reading.asOptional().map(Object::toString).orElse("");
    }
}
