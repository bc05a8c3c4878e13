package dev.gpuwarden.core.health;

import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.port.DriverOpening.Reason;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/** What a snapshot of a node says about its fitness. Pure: the same snapshot, the same findings, in the same order. */
public final class NodeAssessment {

    private static final String NODE = "node";

    private NodeAssessment() {}

    /** Findings of the driver first, then of the bus, then GPU by GPU; a PASS for every GPU without a complaint. */
    public static List<Finding> assess(NodeSnapshot node) {
        List<Finding> findings = new ArrayList<>();
        findings.addAll(driver(node));
        findings.addAll(pciBus(node));
        if (node.driver() instanceof DriverState.Running) {
            findings.addAll(noGpu(node));
            findings.addAll(missing(node));
            Optional<PciAddress> leftOver = leftOver(node);
            node.gpus().forEach(gpu -> findings.addAll(GpuAssessment.assess(gpu, leftOver)));
        }
        return List.copyOf(findings);
    }

    static List<Finding> driver(NodeSnapshot node) {
        DriverState state = node.driver();
        if (state instanceof DriverState.Unavailable none) {
            return List.of(unavailable(none, node.pciGpus()));
        }
        if (state instanceof DriverState.Silent silent) {
            boolean noGpu = node.pciGpus() instanceof Reading.Present<List<PciAddress>> p
                    && p.value().isEmpty();
            return List.of(new Finding(
                    noGpu ? Outcome.UNKNOWN : Outcome.FAIL,
                    "driver-not-answering",
                    NODE,
                    "the driver is loaded and does not say which GPUs there are: " + silent.detail(),
                    "look for the driver's messages in the kernel log; reload the driver or reboot"));
        }
        if (state instanceof DriverState.Opening) {
            return List.of(unknown("driver-opening", "the driver is still being opened", "wait"));
        }
        return List.of();
    }

    private static Finding unavailable(DriverState.Unavailable none, Reading<List<PciAddress>> pci) {
        String seen = sentence(none) + "; " + busSays(pci);
        int onBus = pci.asOptional().map(List::size).orElse(0);
        Reason reason = none.reason();
        if (reason == Reason.VERSION_MISMATCH) {
            return new Finding(
                    Outcome.FAIL,
                    "driver-mismatch",
                    NODE,
                    seen,
                    "the driver was upgraded under a running system: reload its kernel modules or reboot");
        }
        if (reason == Reason.NO_PERMISSION) {
            return unknown(code(reason), seen, "run as root, or with access to /dev/nvidiactl and /dev/nvidia*");
        }
        if (onBus > 0) {
            return new Finding(Outcome.FAIL, code(reason), NODE, seen, remedy(reason));
        }
        if (pci instanceof Reading.Present<?> && reason != Reason.FAILED && reason != Reason.LIBRARY_UNUSABLE) {
            return unknown(
                    "no-gpu", "no NVIDIA GPU: " + what(none) + "; " + busSays(pci), "doctor says where was looked");
        }
        return unknown(code(reason), seen, remedy(reason));
    }

    private static String sentence(DriverState.Unavailable none) {
        return what(none) + (none.detail().isEmpty() ? "" : ": " + none.detail());
    }

    private static String what(DriverState.Unavailable none) {
        String code = none.code() == 0 ? "" : " (code " + none.code() + ")";
        String what = switch (none.reason()) {
            case LIBRARY_MISSING -> "the driver library is not there";
            case LIBRARY_UNUSABLE -> "the driver library cannot be used";
            case DRIVER_NOT_LOADED -> "the driver library is there, the kernel driver is not loaded";
            case VERSION_MISMATCH -> "driver library and kernel driver are of different versions";
            case NO_PERMISSION -> "no permission to talk to the driver";
            case FAILED -> "the driver does not answer";
        };
        return what + code;
    }

    private static String busSays(Reading<List<PciAddress>> pci) {
        if (pci instanceof Reading.Absent<?> absent) {
            return "the PCI bus could not be read (" + absent.text() + ")";
        }
        List<PciAddress> gpus = pci.asOptional().orElse(List.of());
        return switch (gpus.size()) {
            case 0 -> "the PCI bus shows no NVIDIA GPU";
            case 1 -> "the PCI bus shows an NVIDIA GPU at " + gpus.get(0);
            default -> "the PCI bus shows " + gpus.size() + " NVIDIA GPUs";
        };
    }

    private static String code(Reason reason) {
        return switch (reason) {
            case LIBRARY_MISSING -> "library-missing";
            case LIBRARY_UNUSABLE -> "library-unusable";
            case DRIVER_NOT_LOADED -> "driver-not-loaded";
            case VERSION_MISMATCH -> "driver-mismatch";
            case NO_PERMISSION -> "driver-no-permission";
            case FAILED -> "driver-not-answering";
        };
    }

    private static String remedy(Reason reason) {
        return switch (reason) {
            case LIBRARY_MISSING -> "install the NVIDIA driver, or name its library with --driver.library-path";
            case LIBRARY_UNUSABLE -> "install the driver library for this architecture";
            case DRIVER_NOT_LOADED -> "load the kernel module: modprobe nvidia; see the kernel log if it fails";
            case VERSION_MISMATCH -> "reload the kernel modules or reboot";
            case NO_PERMISSION -> "run as root";
            case FAILED -> "look for the driver's messages in the kernel log; reload the driver or reboot";
        };
    }

    static List<Finding> pciBus(NodeSnapshot node) {
        if (node.driver() instanceof DriverState.Running && node.pciGpus() instanceof Reading.Absent<?> absent) {
            return List.of(unknown(
                    "pci-unreadable",
                    "expected to compare the driver's GPUs with the PCI bus, but it could not be read: "
                            + absent.text(),
                    "give the node's /sys with --path.sysfs"));
        }
        return List.of();
    }

    static List<Finding> noGpu(NodeSnapshot node) {
        int onBus = node.pciGpus().asOptional().map(List::size).orElse(0);
        if (!node.gpus().isEmpty() || onBus > 0) {
            return List.of();
        }
        return List.of(unknown("no-gpu", "no NVIDIA GPU: the driver lists none; " + busSays(node.pciGpus()), ""));
    }

    /** GPUs on the bus that the driver does not list. One that it listed before is reported as itself, as gone. */
    static List<Finding> missing(NodeSnapshot node) {
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
        // A GPU that does not tell its address may be any of the rest.
        if (unlisted.size() <= withoutAddress) {
            return List.of();
        }
        List<Finding> findings = new ArrayList<>();
        for (PciAddress address : unlisted) {
            findings.add(new Finding(
                    Outcome.FAIL,
                    "gpu-missing",
                    address.toString(),
                    "the PCI bus shows " + onBus + " NVIDIA GPUs, the driver lists " + listed + ": " + address
                            + " is not among them",
                    "look for " + address + " in the kernel log (fallen off the bus, failed to initialise);"
                            + " reset it or reboot"));
        }
        return findings;
    }

    /**
     * Where the one GPU must be that cannot tell its address: the one address on the bus that no other GPU claims. Empty where
     * that is not certain.
     */
    static Optional<PciAddress> leftOver(NodeSnapshot node) {
        TreeSet<PciAddress> unclaimed =
                new TreeSet<>(node.pciGpus().asOptional().orElse(List.of()));
        int withoutAddress = 0;
        for (GpuSnapshot gpu : node.gpus()) {
            if (gpu.identity().pci() instanceof Reading.Present<PciAddress> p) {
                unclaimed.remove(p.value());
            } else {
                withoutAddress++;
            }
        }
        return withoutAddress == 1 && unclaimed.size() == 1 ? Optional.of(unclaimed.first()) : Optional.empty();
    }

    private static Finding unknown(String code, String message, String remedy) {
        return new Finding(Outcome.UNKNOWN, code, NODE, message, remedy);
    }
}
