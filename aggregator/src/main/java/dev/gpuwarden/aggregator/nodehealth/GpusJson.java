package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.core.model.Identifiers;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.node.ReportedGpus;
import dev.gpuwarden.core.util.FieldReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedSet;
import java.util.TreeSet;

/** The field `status.gpus` of a `NodeHealth`: the node's GPUs with their reset units. Pure. */
final class GpusJson {

    /** Bounded, since every watcher receives every change; four times as many as the largest node has. */
    static final int MOST = 64;

    private GpusJson() {}

    /**
     * Adds the fields; none for a node that reports no GPUs. A list that is not full needs no count, so that definitions of
     * earlier versions still accept it.
     */
    static void put(Map<String, Object> status, ReportedGpus gpus) {
        List<ReportedGpus.Gpu> all = gpus.gpus();
        if (!all.isEmpty()) {
            status.put("gpus", all.stream().limit(MOST).map(GpusJson::tree).toList());
        }
        int cut = Math.max(0, all.size() - MOST);
        long unlisted = cut + gpus.unlisted().orElse(0);
        if (unlisted > 0 || all.size() == MOST && gpus.unlisted().isPresent()) {
            status.put("unlistedGpuCount", unlisted);
        }
    }

    private static Map<String, Object> tree(ReportedGpus.Gpu gpu) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("index", gpu.index());
        gpu.uuid().ifPresent(uuid -> tree.put("uuid", uuid));
        gpu.pci().ifPresent(pci -> tree.put("pciAddress", pci.toString()));
        gpu.resetWith().ifPresent(others -> tree.put("resetWith", List.copyOf(others)));
        return tree;
    }

    static ReportedGpus read(FieldReader status) throws IOException {
        List<ReportedGpus.Gpu> gpus = new ArrayList<>();
        for (FieldReader gpu : status.objects("gpus")) {
            Optional<SortedSet<String>> resetWith =
                    gpu.has("resetWith") ? Optional.of(new TreeSet<>(gpu.textList("resetWith"))) : Optional.empty();
            gpus.add(new ReportedGpus.Gpu(
                    (int) Math.min(gpu.count("index"), Integer.MAX_VALUE),
                    PciAddress.parse(gpu.textOrEmpty("pciAddress")),
                    Optional.of(Identifiers.gpu(gpu.textOrEmpty("uuid"))).filter(uuid -> !uuid.isEmpty()),
                    resetWith));
        }
        boolean counted = status.has("unlistedGpuCount");
        return new ReportedGpus(
                gpus,
                counted
                        ? OptionalLong.of(status.count("unlistedGpuCount"))
                        : gpus.size() < MOST ? OptionalLong.of(0) : OptionalLong.empty());
    }
}
