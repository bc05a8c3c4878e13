package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.aggregator.nodehealth.FaultEntry.ShownText;
import dev.gpuwarden.aggregator.nodehealth.NodeHealth.ReportedState;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.model.Identifiers;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.node.PartNames;
import dev.gpuwarden.core.node.ReportedGpus;
import dev.gpuwarden.core.util.FieldReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedSet;
import java.util.TreeSet;

/** The status of a `NodeHealth` for server-side apply. Pure: the same report gives the same text. */
final class NodeHealthStatus {

    /** Bounded, since every watcher receives every change. */
    static final int MOST_FAULTS = 256;
    /** Bounded for the same reason; four times as many as the largest node has. */
    static final int MOST_GPUS = 64;
    /** For the listed faults together: half of the limit of etcd. Only strangers' faults come near it. */
    static final long MOST_BYTES = 768 << 10;

    private static final Comparator<FaultKey> KEYS = Comparator.comparing(FaultKey::agent)
            .thenComparing(FaultKey::componentClass)
            .thenComparing(FaultKey::checkName)
            .thenComparing(key -> key.entity().type())
            .thenComparing(key -> key.entity().value())
            .thenComparing(FaultKey::errorCode);

    /**
     * Orders faults that may stop work first, then those on which an operator can act, then the oldest. The keys make the order
     * total.
     */
    static final Comparator<Fault> WORST_FIRST = Comparator.<Fault, Boolean>comparing(fault -> !actedOn(fault))
            .thenComparing(fault -> !fault.cause().fatal())
            .thenComparing(Fault::since)
            .thenComparing(Fault::key, KEYS);

    private NodeHealthStatus() {}

    static Map<String, Object> tree(ReportedState report) {
        List<Fault> faults = report.faults().stream()
                .map(FaultEntry::named)
                .sorted(WORST_FIRST)
                .toList();
        PartNames names = report.gpus().names();
        List<Map<String, Object>> listed = listed(faults, names);
        List<Fault> acted = faults.stream().filter(NodeHealthStatus::actedOn).toList();
        long fatal = acted.stream().filter(fault -> fault.cause().fatal()).count();
        Map<String, Object> status = new LinkedHashMap<>();
        status.put("state", fatal > 0 ? "Faulty" : acted.isEmpty() ? "Healthy" : "Degraded");
        status.put("faultCount", faults.size());
        status.put("fatalCount", fatal);
        status.put("unlistedCount", faults.size() - listed.size());
        if (!acted.isEmpty()) {
            status.put("worst", worst(FaultEntry.of(acted.subList(0, 1)).get(0), names));
        }
        status.put("faults", listed);
        put(status, report.gpus());
        put(status, "bootID", report.bootId());
        put(status, "version", report.version());
        status.put("reported", FaultEntry.second(report.reported()).toString());
        status.put("connected", report.claim().connected().toString());
        status.put("reporter", report.claim().reporter());
        status.put("generation", report.generation());
        status.put("acknowledgedSequence", report.sequence());
        status.put("droppedEvents", report.droppedEvents());
        return status;
    }

    /**
     * Adds the GPUs with their reset units; nothing for a node that reports no GPUs. A list that is not full needs no count, so
     * that definitions of earlier versions still accept it.
     */
    private static void put(Map<String, Object> status, ReportedGpus gpus) {
        List<ReportedGpus.Gpu> all = gpus.gpus();
        if (!all.isEmpty()) {
            status.put(
                    "gpus",
                    all.stream().limit(MOST_GPUS).map(NodeHealthStatus::gpu).toList());
        }
        int cut = Math.max(0, all.size() - MOST_GPUS);
        long unlisted = cut + gpus.unlisted().orElse(0);
        if (unlisted > 0 || all.size() == MOST_GPUS && gpus.unlisted().isPresent()) {
            status.put("unlistedGpuCount", unlisted);
        }
    }

    private static Map<String, Object> gpu(ReportedGpus.Gpu gpu) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("index", gpu.index());
        gpu.uuid().ifPresent(uuid -> tree.put("uuid", uuid));
        gpu.pci().ifPresent(pci -> tree.put("pciAddress", pci.toString()));
        gpu.resetWith().ifPresent(others -> tree.put("resetWith", List.copyOf(others)));
        return tree;
    }

    private static List<Map<String, Object>> listed(List<Fault> worstFirst, PartNames names) {
        List<Map<String, Object>> listed = new ArrayList<>();
        long bytes = 0;
        // The others may be thousands of texts of strangers.
        for (Fault fault : FaultEntry.of(worstFirst.subList(0, Math.min(MOST_FAULTS, worstFirst.size())))) {
            Map<String, Object> tree = FaultEntry.tree(fault, names);
            bytes += ShownText.bytes(tree);
            if (bytes > MOST_BYTES) {
                break;
            }
            listed.add(tree);
        }
        return listed;
    }

    /** Returns false for faults that are for statistics alone, which make no node unfit. */
    static boolean actedOn(Fault fault) {
        return fault.cause().strategy().actedOn();
    }

    private static Map<String, Object> worst(Fault fault, PartNames names) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("summary", summary(fault, names));
        tree.put("recommendedAction", action(fault.cause()));
        tree.put("since", fault.since().toString());
        return tree;
    }

    /** Returns check, code and part. */
    static String summary(Fault fault, PartNames names) {
        List<String> name = new ArrayList<>(List.of(fault.key().checkName()));
        if (!fault.key().errorCode().isEmpty()) {
            name.add(fault.key().errorCode());
        }
        if (!fault.key().entity().equals(Entity.WHOLE)) {
            name.add(names.gpu(fault.key().entity())
                    .map(PartNames.Gpu::label)
                    .orElse(fault.key().entity().type() + ":"
                            + fault.key().entity().value()));
        }
        return ShownText.cut(String.join(" ", name), FaultEntry.LONGEST_MESSAGE);
    }

    private static String action(HealthEvent cause) {
        return cause.customAction().isEmpty() ? cause.action().name() : cause.customAction();
    }

    private static void put(Map<String, Object> tree, String key, String text) {
        if (!text.isEmpty()) {
            tree.put(key, text);
        }
    }

    /** Returns the node's GPUs in a status. */
    static ReportedGpus gpus(FieldReader status) throws IOException {
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
                        : gpus.size() < MOST_GPUS ? OptionalLong.of(0) : OptionalLong.empty());
    }
}
