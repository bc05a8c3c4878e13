package dev.gpuwarden.daemon.page;

import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.GpuMemoryUse;
import dev.gpuwarden.core.process.MemoryShare;
import dev.gpuwarden.daemon.view.OwnerView;
import dev.gpuwarden.daemon.vram.VramView;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The owners of GPU memory during the last hour, in few and rough numbers, for a chart. Thread-safe. */
public final class MemoryHistory {

    static final int MOMENTS = 120;
    /** The number of lines in the chart. The others are summed up in one more. */
    static final int TENANTS = 7;

    static final String OTHERS = "others";
    static final String UNATTRIBUTED = "unattributed";

    private final Deque<Moment> moments = new ArrayDeque<>();

    /**
     * @param gpus for each GPU of the node the bytes of its tenants, the largest first
     * @param free bytes by index of the GPU, of those whose budgets are watched
     */
    record Moment(Instant time, List<Map<String, Long>> gpus, Map<Integer, Long> free) {}

    /**
     * Adds one moment and drops the oldest.
     *
     * @param budgets the VRAM watchdog's state; empty where it is off
     */
    public void note(Instant time, List<GpuMemoryUse> memory, List<VramView> budgets) {
        Map<Integer, Long> free = new HashMap<>();
        budgets.forEach(gpu -> gpu.memory().asOptional().ifPresent(now -> free.put(gpu.index(), now.free())));
        Moment moment =
                new Moment(time, memory.stream().map(MemoryHistory::tenants).toList(), free);
        synchronized (this) {
            moments.addLast(moment);
            if (moments.size() > MOMENTS) {
                moments.removeFirst();
            }
        }
    }

    static Map<String, Long> tenants(GpuMemoryUse gpu) {
        List<Map.Entry<String, Long>> known = new ArrayList<>();
        for (MemoryShare share : MemoryShare.byPod(gpu)) {
            if (share.bytes() instanceof Reading.Present<Long> bytes) {
                known.add(Map.entry(OwnerView.text(share.owner()), bytes.value()));
            }
        }
        known.sort(Map.Entry.comparingByValue(Comparator.reverseOrder()));
        Map<String, Long> tenants = new LinkedHashMap<>();
        for (int i = 0; i < known.size(); i++) {
            String name = i < TENANTS ? known.get(i).getKey() : OTHERS;
            tenants.merge(name, known.get(i).getValue(), Long::sum);
        }
        gpu.unattributedBytes().asOptional().filter(bytes -> bytes > 0).ifPresent(b -> tenants.put(UNATTRIBUTED, b));
        return tenants;
    }

    /** Returns the time of the last moment; empty before the first. */
    synchronized Optional<Instant> newest() {
        return Optional.ofNullable(moments.peekLast()).map(Moment::time);
    }

    /** Returns the free memory of a GPU over time, oldest first. */
    synchronized List<FloorForecast.Point> free(int index) {
        List<FloorForecast.Point> points = new ArrayList<>();
        for (Moment moment : moments) {
            Long bytes = moment.free.get(index);
            if (bytes != null) {
                points.add(new FloorForecast.Point(moment.time, bytes));
            }
        }
        return points;
    }

    /** Returns all moments, oldest first. */
    synchronized Map<String, Object> tree() {
        List<Object> all = new ArrayList<>();
        for (Moment moment : moments) {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("time", moment.time.toString());
            one.put("gpus", moment.gpus);
            one.put("free", moment.free);
            all.add(one);
        }
        return Map.of("moments", all);
    }
}
