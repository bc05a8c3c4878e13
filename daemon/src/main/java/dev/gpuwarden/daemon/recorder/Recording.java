package dev.gpuwarden.daemon.recorder;

import dev.gpuwarden.checks.history.RecentSamples;
import dev.gpuwarden.checks.view.Values;
import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.GpuMemoryUse;
import dev.gpuwarden.core.process.MemoryUse;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.daemon.view.GpuView;
import dev.gpuwarden.daemon.view.OwnerView;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The recording around one moment: gpuwarden.recording/v1, see docs/reference/recording-json.md. Pure.
 *
 * @param at the moment, in wall clock
 * @param atNanos the same moment in the sampler's clock
 * @param grid the distance between two samples, and so between two columns
 * @param until the recorded time after the moment; {@link #AFTER} once the recording is complete
 * @param processes the processes on the affected GPUs at that moment
 */
record Recording(
        Instant at,
        long atNanos,
        Duration grid,
        Duration until,
        List<Lane> lanes,
        List<KernelRecord> lines,
        List<GpuMemoryUse> processes) {

    static final String SCHEMA = "gpuwarden.recording/v1";
    static final Duration BEFORE = Duration.ofSeconds(60);
    static final Duration AFTER = Duration.ofSeconds(30);

    /** The samples of one GPU; {@code concerned} if the event is about it, otherwise for comparison. */
    record Lane(GpuIdentity gpu, boolean concerned, RecentSamples samples) {}

    Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", SCHEMA);
        tree.put("at", at.toString());
        tree.put("from", at.minus(BEFORE).toString());
        tree.put("until", at.plus(until).toString());
        tree.put("complete", until.compareTo(AFTER) >= 0);
        tree.put("times", times());
        tree.put(
                "readings",
                RecentSamples.metrics().stream().map(Recording::name).toList());
        tree.put("gpus", lanes.stream().map(this::lane).toList());
        tree.put("kernel", lines.stream().map(Recording::line).toList());
        tree.put(
                "processes",
                processes.stream().flatMap(use -> processes(use).stream()).toList());
        return tree;
    }

    /** Returns the seconds from the moment to each column. */
    private List<Double> times() {
        List<Double> times = new ArrayList<>();
        for (int column = 0; column < columns(); column++) {
            times.add((column * grid.toNanos() - BEFORE.toNanos()) / 1e9);
        }
        return times;
    }

    private int columns() {
        return Math.toIntExact(BEFORE.plus(until).toNanos() / grid.toNanos()) + 1;
    }

    private Map<String, Object> lane(Lane lane) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("index", lane.gpu.index());
        tree.put("uuid", Values.tree(lane.gpu.uuid()));
        tree.put("concerned", lane.concerned);
        Map<String, Object> series = new LinkedHashMap<>();
        for (GpuMetric metric : RecentSamples.metrics()) {
            series.put(name(metric), series(lane.samples, metric));
        }
        tree.put("series", series);
        return tree;
    }

    /** Returns one value for each column; null if there was no sample or its reading was absent. */
    private List<@Nullable Number> series(RecentSamples samples, GpuMetric metric) {
        @Nullable Number[] row = new Number[columns()];
        for (int i = 0; i < samples.size(); i++) {
            long column = Math.round((samples.nanos(i) - atNanos + BEFORE.toNanos()) / (double) grid.toNanos());
            if (column >= 0
                    && column < row.length
                    && samples.reading(i, metric) instanceof Reading.Present<Long> value) {
                row[(int) column] = Values.base(metric.unit(), value.value());
            }
        }
        List<@Nullable Number> list = new ArrayList<>(row.length);
        for (Number value : row) {
            list.add(value);
        }
        return list;
    }

    private static String name(GpuMetric metric) {
        return GpuView.key(metric.label(), metric.unit());
    }

    private static Map<String, Object> line(KernelRecord record) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("time", record.time().toString());
        tree.put("writer", record.writer().name().toLowerCase(java.util.Locale.ROOT));
        tree.put("text", record.text());
        return tree;
    }

    private static List<Map<String, Object>> processes(GpuMemoryUse use) {
        return use.uses().asOptional().orElse(List.of()).stream()
                .map(Recording::process)
                .toList();
    }

    private static Map<String, Object> process(MemoryUse use) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("pid", use.process().pid());
        tree.put("name", Values.tree(use.command()));
        tree.put("owner", OwnerView.text(use.owner()));
        tree.put("usedBytes", Values.tree(use.usedBytes()));
        return tree;
    }
}
