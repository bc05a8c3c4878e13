package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.ResetUnitRule;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The GPUs to reset. A GPU without a UUID or a number of its file is none: its users could not be found, and its fault not be lifted.
 *
 * @param gpus none where only the mode that earlier resets have left is restored
 */
record ResetTargets(List<GpuIdentity> gpus) {

    /**
     * Finds GPUs by index, UUID or PCI address.
     *
     * @throws UserError if one is not on this node, or does not identify itself, or can only be reset together with a GPU that has
     *     no name here
     */
    static ResetTargets of(NodeSnapshot node, List<String> names) {
        List<GpuIdentity> found =
                names.stream().map(name -> one(node, name)).distinct().toList();
        ResetTargets targets = new ResetTargets(found);
        targets.requireWholeUnits(
                node.gpus().stream().map(GpuSnapshot::identity).toList());
        return targets;
    }

    /** nvidia-smi refuses a part of a unit too, but by indexes, and after the daemon has let go. */
    private void requireWholeUnits(List<GpuIdentity> all) {
        Set<String> whole = ResetUnitRule.units(all).widened(uuids());
        if (!uuids().containsAll(whole)) {
            ResetTargets unit = new ResetTargets(all.stream()
                    .filter(gpu ->
                            gpu.uuid().asOptional().filter(whole::contains).isPresent())
                    .toList());
            throw new UserError("expected all GPUs that can only be reset together, " + unit.text() + ", seen " + text()
                    + "; name all of them: sudo gpuwarden gpu-reset " + String.join(" ", unit.uuids()) + " --arm");
        }
    }

    private static GpuIdentity one(NodeSnapshot node, String name) {
        GpuIdentity gpu = node.gpus().stream()
                .map(GpuSnapshot::identity)
                .filter(identity -> identity.isNamed(name))
                .findFirst()
                .orElseThrow(() -> new UserError("GPU '" + name + "' is not on this node; expected "
                        + (node.gpus().isEmpty()
                                ? "a GPU, and the driver reports none"
                                : "one of "
                                        + node.gpus().stream()
                                                .map(other -> other.identity().index() + " = "
                                                        + other.identity().selector())
                                                .collect(Collectors.joining(", ")))));
        if (gpu.uuid().asOptional().isEmpty() || gpu.minor().asOptional().isEmpty()) {
            throw new UserError(
                    gpu.label() + " does not report its UUID and its device file, so its users cannot be found;"
                            + " reboot the node");
        }
        return gpu;
    }

    List<String> uuids() {
        return gpus.stream().flatMap(gpu -> gpu.uuid().asOptional().stream()).toList();
    }

    List<PciAddress> addresses() {
        return gpus.stream().flatMap(gpu -> gpu.pci().asOptional().stream()).toList();
    }

    /** Returns the device files, with the node's /dev. */
    Set<Path> files(Path devices) {
        return gpus.stream()
                .flatMap(gpu -> gpu.minor().asOptional().stream())
                .map(minor -> devices.resolve("nvidia" + minor))
                .collect(Collectors.toSet());
    }

    String text() {
        return gpus.stream().map(GpuIdentity::label).collect(Collectors.joining(", "));
    }
}
