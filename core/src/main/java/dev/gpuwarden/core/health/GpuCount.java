package dev.gpuwarden.core.health;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/** The check whether the driver lists every GPU that the PCI bus shows. Pure. */
public final class GpuCount {

    private GpuCount() {}

    /**
     * Returns one finding for each GPU that is or should be listed, and one about the node where there is no GPU or no
     * bus to compare with. It returns nothing without a driver. The node has no PASS: a GPU that was missing and then
     * left the bus too is no better.
     */
    public static List<Finding> judge(NodeSnapshot node) {
        if (!(node.driver() instanceof DriverState.Running)) {
            return List.of();
        }
        if (node.pciGpus() instanceof Reading.Absent<?> absent) {
            return List.of(Finding.unknown(
                    "pci-unreadable",
                    Subject.NODE,
                    "expected to compare the driver's GPUs with the PCI bus, but it could not be read: "
                            + absent.text(),
                    "give the node's /sys with --path.sysfs"));
        }
        int onBus = node.pciGpus().asOptional().map(List::size).orElse(0);
        if (node.gpus().isEmpty() && onBus == 0) {
            return List.of(Finding.unknown(
                    "no-gpu",
                    Subject.NODE,
                    "no NVIDIA GPU: the driver lists none; " + DriverHealth.busSays(node.pciGpus()),
                    ""));
        }
        List<Finding> findings = new ArrayList<>(missing(node));
        for (GpuSnapshot gpu : node.gpus()) {
            if (gpu.state() != GpuState.GONE) {
                findings.add(listed(gpu));
            }
        }
        return findings;
    }

    /** The driver's count includes a GPU of which it gives no handle, so the count alone proves nothing about one GPU. */
    private static Finding listed(GpuSnapshot gpu) {
        GpuIdentity identity = gpu.identity();
        if (gpu.state() == GpuState.UNREADABLE) {
            return EachGpu.silent(gpu);
        }
        boolean named = identity.uuid() instanceof Reading.Present<?> || identity.pci() instanceof Reading.Present<?>;
        if (named || gpu.state() == GpuState.LOST || gpu.state() == GpuState.RESET_REQUIRED) {
            return Finding.pass("gpu-listed", Subject.of(identity), identity.label() + ": the driver lists it");
        }
        return gpu.state() == GpuState.ANSWERING
                ? Finding.unknown(
                        "gpu-unnamed",
                        Subject.of(identity),
                        identity.label() + ": the driver counts it, and gives neither its UUID nor its address",
                        "see doctor")
                : EachGpu.silent(gpu);
    }

    /**
     * Returns GPUs on the bus that the driver does not list. A GPU that it listed before is reported under its name, as
     * gone.
     */
    private static List<Finding> missing(NodeSnapshot node) {
        TreeSet<PciAddress> unlisted = new TreeSet<>(node.pciGpus().asOptional().orElse(List.of()));
        int onBus = unlisted.size();
        int withoutAddress = 0;
        int listed = 0;
        for (GpuSnapshot gpu : node.gpus()) {
            listed += gpu.state() == GpuState.GONE ? 0 : 1;
            if (gpu.identity().pci() instanceof Reading.Present<PciAddress> p) {
                unlisted.remove(p.value());
            } else {
                withoutAddress++;
            }
        }
        // A GPU without an address may be any of the rest.
        if (unlisted.size() <= withoutAddress) {
            return List.of();
        }
        List<Finding> findings = new ArrayList<>();
        for (PciAddress address : unlisted) {
            findings.add(Finding.fail(
                    "gpu-missing",
                    new Subject(address.toString(), List.of(Entity.pci(address))),
                    "the PCI bus shows " + onBus + " NVIDIA GPUs, the driver lists " + listed + ": " + address
                            + " is not among them",
                    "search the kernel log for " + address + " (fallen off the bus, failed to initialise);"
                            + " reset it or reboot",
                    RecommendedAction.RESTART_BM));
        }
        return findings;
    }
}
