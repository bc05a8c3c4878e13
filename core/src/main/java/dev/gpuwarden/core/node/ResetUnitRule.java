package dev.gpuwarden.core.node;

import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.NvLinkPeer;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.util.TsvResource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** The rule by which NVLinks join GPUs to reset units. The table {@code reset-units.tsv} has it with its source. Pure. */
public final class ResetUnitRule {

    /** Numbers of the GPUs that the driver lists. */
    private static final int NO_GPU = -1;

    private record Row(int from, boolean linked, boolean switched) {

        static Row of(String[] cells) {
            return new Row(Integer.parseInt(cells[0]), cells[1].equals("together"), cells[2].equals("together"));
        }

        boolean joins() {
            return linked || switched;
        }
    }

    private static final List<Row> ROWS = TsvResource.read(ResetUnitRule.class, "reset-units.tsv", 3, Row::of);

    private final List<GpuIdentity> gpus;
    /** A GPU of the same unit, for each GPU; its own number for one GPU of each unit. */
    private final int[] same;
    /** GPUs that may have a link which was not read. */
    private final Set<Integer> undecided = new TreeSet<>();

    private ResetUnitRule(List<GpuIdentity> gpus) {
        this.gpus = gpus;
        this.same = new int[gpus.size()];
        for (int gpu = 0; gpu < same.length; gpu++) {
            same[gpu] = gpu;
        }
    }

    /** Returns true if the links of a GPU decide what is reset with it, also where the capability is unknown. */
    public static boolean needsLinks(Reading<String> computeCapability) {
        return row(computeCapability).map(Row::joins).orElse(true);
    }

    /** @param gpus all GPUs of a node */
    public static ResetUnits units(List<GpuIdentity> gpus) {
        return new ResetUnitRule(gpus).units();
    }

    private static Optional<Row> row(Reading<String> capability) {
        return capability
                .asOptional()
                .map(text -> text.split("\\.", 2)[0])
                .flatMap(text -> text.matches("\\d{1,3}")
                        ? ROWS.stream()
                                .filter(row -> row.from() <= Integer.parseInt(text))
                                .max(Comparator.comparing(Row::from))
                        : Optional.empty());
    }

    private ResetUnits units() {
        List<Integer> unread = new ArrayList<>();
        List<Integer> switched = new ArrayList<>();
        for (int gpu = 0; gpu < gpus.size(); gpu++) {
            GpuIdentity identity = gpus.get(gpu);
            if (!needsLinks(identity.computeCapability())) {
                continue;
            }
            if (identity.nvlinks() instanceof Reading.Present<List<NvLinkPeer>> peers) {
                for (NvLinkPeer peer : peers.value()) {
                    join(gpu, peer, switched);
                }
            } else {
                unread.add(gpu);
            }
        }
        switched.forEach(gpu -> join(gpu, switched.get(0)));
        // A link between two GPUs was read at one of its ends, unless it was read at none.
        if (unread.size() > 1 || !switched.isEmpty()) {
            undecided.addAll(unread);
            undecided.addAll(unread.isEmpty() ? List.of() : switched);
        }
        return new ResetUnits(named());
    }

    private void join(int gpu, NvLinkPeer peer, List<Integer> switched) {
        int other = at(peer.address());
        switch (peer.type()) {
            case OTHER -> {}
            case SWITCH -> {
                if (row(gpus.get(gpu).computeCapability()).map(Row::switched).orElse(true)) {
                    switched.add(gpu);
                }
            }
            case GPU, UNKNOWN -> {
                if (other != NO_GPU) {
                    join(gpu, other);
                } else if (peer.type() == NvLinkPeer.Type.UNKNOWN
                        || gpus.stream()
                                .anyMatch(each -> each.pci().asOptional().isEmpty())) {
                    undecided.add(gpu);
                }
            }
        }
    }

    private int at(PciAddress address) {
        for (int gpu = 0; gpu < gpus.size(); gpu++) {
            if (gpus.get(gpu).pci().asOptional().filter(address::equals).isPresent()) {
                return gpu;
            }
        }
        return NO_GPU;
    }

    private void join(int one, int other) {
        same[first(one)] = first(other);
    }

    private int first(int gpu) {
        return same[gpu] == gpu ? gpu : first(same[gpu]);
    }

    private Map<String, Set<String>> named() {
        Map<Integer, Set<String>> units = new HashMap<>();
        for (int gpu = 0; gpu < gpus.size(); gpu++) {
            Optional<String> uuid = gpus.get(gpu).uuid().asOptional();
            if (uuid.isEmpty()) {
                undecided.add(gpu);
            } else {
                units.computeIfAbsent(first(gpu), any -> new TreeSet<>()).add(uuid.get());
            }
        }
        undecided.forEach(gpu -> units.remove(first(gpu)));
        Map<String, Set<String>> byGpu = new HashMap<>();
        units.values().forEach(unit -> unit.forEach(uuid -> byGpu.put(uuid, unit)));
        return byGpu;
    }
}
