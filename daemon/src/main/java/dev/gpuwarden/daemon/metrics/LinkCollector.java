package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.LinkMetric;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.stream.IntStream;

/** Every reading of every NVLink. Slots of links that a GPU does not have are left out. */
final class LinkCollector {

    private static final Family[] READINGS = IntStream.range(0, LinkMetric.count())
            .mapToObj(i -> Family.of("gpuwarden_nvlink_", LinkMetric.of(i)))
            .toArray(Family[]::new);

    private LinkCollector() {}

    static void collect(Collector.Scrape scrape, Family.Series out) {
        for (GpuSnapshot gpu : scrape.node().gpus()) {
            Labels labels = GpuLabels.of(gpu.identity());
            int links = links(gpu.frame());
            for (int link = 0; link < links; link++) {
                link(gpu.frame(), link, labels.add("link", Integer.toString(link)), out);
            }
        }
    }

    /** Returns the number of links that the GPU reports, and at least those that were read. */
    private static int links(GpuFrame frame) {
        int links = frame.present(GpuMetric.NVLINK_LINKS) ? (int) frame.raw(GpuMetric.NVLINK_LINKS) : 0;
        for (int link = LinkMetric.MAX_LINKS - 1; link >= links; link--) {
            for (int i = 0; i < READINGS.length; i++) {
                if (frame.present(GpuFrame.slot(LinkMetric.of(i), link))) {
                    return link + 1;
                }
            }
        }
        return links;
    }

    private static void link(GpuFrame frame, int link, Labels labels, Family.Series out) {
        for (int i = 0; i < READINGS.length; i++) {
            LinkMetric metric = LinkMetric.of(i);
            int slot = GpuFrame.slot(metric, link);
            Absence absence = frame.absence(slot);
            if (absence == Absence.PRESENT) {
                out.add(READINGS[i], labels, metric.unit().toBase(frame.raw(slot)));
            } else if (absence != Absence.NOT_SUPPORTED && absence != Absence.NO_SYMBOL) {
                out.add(
                        "gpuwarden_nvlink_reading_absent",
                        labels.merge(Labels.of("reading", metric.label(), "cause", absence.label())),
                        1);
            }
        }
    }
}
