package dev.gpuwarden.aggregator.rehearsal;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Identifiers;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.util.JsonTrees;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The GPUs of a node as far as the cluster's objects name them: the report of its daemon, its faults, the holders of its GPUs,
 * and the devices of its pods. Daemons of earlier versions report no list. Pure.
 *
 * @param unlisted number of further GPUs that the report has no room for
 */
record NodeGpus(List<Gpu> gpus, long unlisted) {

    private static final Pattern UUID = Pattern.compile("GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
    private static final Pattern INDEX = Pattern.compile("GPU (\\d{1,3})\\b.*");
    private static final int MOST_NAMED = 16;

    /**
     * A GPU.
     *
     * @param label its name for operators
     * @param names its names in events
     * @param source the object that names it
     */
    record Gpu(String uuid, String label, List<Entity> names, String source) {

        Optional<String> index() {
            Matcher index = INDEX.matcher(label);
            return index.matches() ? Optional.of(index.group(1)) : Optional.empty();
        }
    }

    NodeGpus {
        gpus = List.copyOf(gpus);
    }

    /**
     * @param health the API server's NodeHealth; empty if there is none
     * @param devices names of the devices of the node's pods
     */
    static NodeGpus of(Map<String, Object> health, Collection<String> devices) {
        Map<String, Gpu> found = new LinkedHashMap<>();
        Map<String, Object> status = JsonTrees.object(health, "status");
        List<Map<String, Object>> faults = JsonTrees.objects(status, "faults");
        for (Map<String, Object> fault : faults) {
            if (JsonTrees.text(fault, "entityType").equals(Entity.GPU_UUID)) {
                add(found, JsonTrees.text(fault, "entityValue"), label(fault), names(faults, fault), "its faults");
            }
        }
        JsonTrees.objects(status, "gpus").forEach(gpu -> reported(found, gpu));
        JsonTrees.objects(JsonTrees.object(status, "holdings"), "holders").stream()
                .map(holder -> JsonTrees.text(holder, "gpu"))
                .sorted()
                .forEach(uuid -> add(found, uuid, uuid, List.of(), "the last answer about the holders of its GPUs"));
        devices.stream()
                .map(device -> device.substring(Math.max(0, device.indexOf("GPU-"))))
                .map(device -> device.split("::", 2)[0])
                .sorted()
                .forEach(uuid -> add(found, uuid, uuid, List.of(), "the status of a pod"));
        return new NodeGpus(List.copyOf(found.values()), JsonTrees.longNumber(status, "unlistedGpuCount"));
    }

    private static void reported(Map<String, Gpu> found, Map<String, Object> gpu) {
        Optional<PciAddress> pci = PciAddress.parse(JsonTrees.text(gpu, "pciAddress"));
        String uuid = Identifiers.gpu(JsonTrees.text(gpu, "uuid"));
        String label = GpuIdentity.label((int) JsonTrees.longNumber(gpu, "index"), pci, Optional.of(uuid));
        add(found, uuid, label, pci.map(Entity::pci).stream().toList(), "the report of its daemon");
    }

    private static String label(Map<String, Object> fault) {
        String label = JsonTrees.text(fault, "gpu");
        return label.isEmpty() ? JsonTrees.text(fault, "entityValue") : label;
    }

    /** Returns the names of the same GPU in the other rows of its fault. */
    private static List<Entity> names(List<Map<String, Object>> faults, Map<String, Object> fault) {
        String label = JsonTrees.text(fault, "gpu");
        return faults.stream()
                .filter(other -> !label.isEmpty() && label.equals(JsonTrees.text(other, "gpu")))
                .filter(other -> JsonTrees.text(other, "entityType").equals(Entity.PCI))
                .map(other -> new Entity(Entity.PCI, JsonTrees.text(other, "entityValue")))
                .distinct()
                .limit(1)
                .toList();
    }

    private static void add(Map<String, Gpu> found, String text, String label, List<Entity> others, String source) {
        String uuid = Identifiers.gpu(text);
        if (UUID.matcher(uuid).matches()) {
            List<Entity> names = new ArrayList<>(others);
            names.add(Entity.gpu(uuid));
            found.putIfAbsent(uuid, new Gpu(uuid, label, names, source));
        }
    }

    /**
     * Returns the GPU of a fault.
     *
     * @param asked index or UUID; empty for the first
     * @throws IllegalArgumentException with the expected form and the text found
     */
    Gpu choose(String node, Optional<String> asked) {
        if (asked.isEmpty()) {
            return gpus.stream()
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException("node " + node
                            + ": expected a GPU in its NodeHealth or in the status of its pods, found none: give its"
                            + " UUID, --gpu GPU-..., as gpuwarden status on the node shows it"));
        }
        String text = asked.get();
        Optional<Gpu> known = gpus.stream()
                .filter(gpu ->
                        gpu.uuid().equals(Identifiers.gpu(text)) || gpu.index().equals(Optional.of(text)))
                .findFirst();
        if (known.isPresent()) {
            return known.get();
        }
        String uuid = Identifiers.gpu(text);
        if (UUID.matcher(uuid).matches()) {
            return new Gpu(uuid, uuid, List.of(Entity.gpu(uuid)), "");
        }
        throw new IllegalArgumentException("--gpu " + text + ": expected "
                + (gpus.isEmpty() ? "" : "one of " + listed() + ", or ")
                + "a UUID as gpuwarden status on the node shows it, found \"" + text + "\"");
    }

    private String listed() {
        long more = unlisted + Math.max(0, gpus.size() - MOST_NAMED);
        return gpus.stream()
                        .limit(MOST_NAMED)
                        .map(gpu -> gpu.label().contains(gpu.uuid()) ? gpu.label() : gpu.label() + " " + gpu.uuid())
                        .collect(Collectors.joining(", "))
                + (more > 0 ? " and " + more + " more" : "");
    }
}
