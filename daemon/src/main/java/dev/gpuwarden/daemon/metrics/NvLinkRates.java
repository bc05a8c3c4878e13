package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.stream.Collectors;

/**
 * DCGM's field 449: bytes sent and received over all NVLinks, as a rate between two scrapes. DCGM divides the driver's
 * KiB per second by 1000 and calls the result MB/s; dashboards are made for that number. There is none at the first
 * scrape, and none after the counters fell. Thread-safe.
 */
final class NvLinkRates {

    private record Sample(long atNanos, long kibibytes, OptionalDouble rate) {}

    private final Map<String, Sample> previous = new HashMap<>();

    /** Returns the rates of all GPUs that have one, by UUID. Between two samplings of a GPU its rate stays the same. */
    synchronized Map<String, Double> of(List<GpuSnapshot> gpus) {
        previous.keySet()
                .retainAll(
                        gpus.stream().map(gpu -> GpuLabels.uuid(gpu.identity())).collect(Collectors.toSet()));
        Map<String, Double> rates = new HashMap<>();
        for (GpuSnapshot gpu : gpus) {
            String uuid = GpuLabels.uuid(gpu.identity());
            if (!uuid.isEmpty()) {
                rate(uuid, gpu.frame()).ifPresent(rate -> rates.put(uuid, rate));
            }
        }
        return rates;
    }

    private OptionalDouble rate(String uuid, GpuFrame frame) {
        if (!frame.present(GpuMetric.NVLINK_TRANSMITTED) || !frame.present(GpuMetric.NVLINK_RECEIVED)) {
            previous.remove(uuid);
            return OptionalDouble.empty();
        }
        long at = frame.sampledAtNanos(Cadence.SLOW);
        long kibibytes = frame.raw(GpuMetric.NVLINK_TRANSMITTED) + frame.raw(GpuMetric.NVLINK_RECEIVED);
        Sample before = previous.get(uuid);
        if (before != null && before.atNanos == at) {
            return before.rate;
        }
        OptionalDouble rate = before == null || kibibytes < before.kibibytes
                ? OptionalDouble.empty()
                : OptionalDouble.of((kibibytes - before.kibibytes) / ((at - before.atNanos) / 1e9) / 1000);
        previous.put(uuid, new Sample(at, kibibytes, rate));
        return rate;
    }
}
