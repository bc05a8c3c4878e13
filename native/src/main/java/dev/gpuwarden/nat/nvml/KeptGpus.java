package dev.gpuwarden.nat.nvml;

import dev.gpuwarden.core.model.GpuIdentity;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The GPUs that a library attached to no GPU may open, by the names under which callers ask for them.
 *
 * @param byIndex PCI addresses in the form of NVML
 */
public record KeptGpus(Map<Integer, String> byIndex, Map<String, String> byUuid) {

    public static KeptGpus of(List<GpuIdentity> gpus) {
        Map<Integer, String> byIndex = new HashMap<>();
        Map<String, String> byUuid = new HashMap<>();
        for (GpuIdentity gpu : gpus) {
            gpu.pci().asOptional().ifPresent(pci -> {
                byIndex.put(gpu.index(), pci.toString());
                gpu.uuid().asOptional().ifPresent(uuid -> byUuid.put(uuid, pci.toString()));
            });
        }
        return new KeptGpus(Map.copyOf(byIndex), Map.copyOf(byUuid));
    }

    Optional<String> pci(int index) {
        return Optional.ofNullable(byIndex.get(index));
    }

    Optional<String> pci(String uuid) {
        return Optional.ofNullable(byUuid.get(uuid));
    }
}
