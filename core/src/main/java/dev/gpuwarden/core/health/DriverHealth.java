package dev.gpuwarden.core.health;

import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.port.Opening.Reason;
import java.util.List;
import java.util.Optional;

/** The check for a driver that lists the GPUs. It fails only where the PCI bus shows a GPU that needs the driver. Pure. */
public final class DriverHealth {

    private DriverHealth() {}

    /**
     * Returns one finding, about the node.
     *
     * @param coming why the driver may still come, in words; then its absence is UNKNOWN. Empty if there is no reason to wait
     * @param ownLibrary whether this program has the library of its own container, which may be older than the node's driver
     */
    public static Finding judge(NodeSnapshot node, Optional<String> coming, boolean ownLibrary) {
        Finding finding = judge(node, ownLibrary);
        return finding.outcome() == Outcome.FAIL
                ? coming.map(why -> Finding.unknown(
                                finding.code(), finding.subject(), finding.message() + "; " + why, "wait"))
                        .orElse(finding)
                : finding;
    }

    private static Finding judge(NodeSnapshot node, boolean ownLibrary) {
        DriverState state = node.driver();
        if (state instanceof DriverState.Unavailable none) {
            return unavailable(none, node.pciGpus(), ownLibrary);
        }
        if (state instanceof DriverState.Silent silent) {
            boolean noGpu = node.pciGpus() instanceof Reading.Present<List<PciAddress>> p
                    && p.value().isEmpty();
            String message = "the driver is loaded but does not list the GPUs: " + silent.detail();
            String remedy = "read the driver's messages in the kernel log; reload the driver or reboot";
            return noGpu
                    ? unknown("driver-not-answering", message, remedy)
                    : fail("driver-not-answering", message, remedy);
        }
        if (state instanceof DriverState.Opening) {
            return unknown("driver-opening", "the driver is still being opened", "wait");
        }
        return Finding.pass("driver-answering", Subject.NODE, "the driver lists the GPUs");
    }

    private static Finding unavailable(
            DriverState.Unavailable none, Reading<List<PciAddress>> pci, boolean ownLibrary) {
        String seen = sentence(none) + "; " + busSays(pci);
        int onBus = pci.asOptional().map(List::size).orElse(0);
        Reason reason = none.reason();
        if (reason == Reason.VERSION_MISMATCH && ownLibrary) {
            return Finding.fail(
                    "driver-mismatch",
                    Subject.NODE,
                    seen + "; the library is the one of gpuwarden's own container",
                    "restart gpuwarden's pod, so that it gets the library of the present driver; if the mismatch stays, reload the"
                            + " node's kernel modules or reboot",
                    RecommendedAction.NONE);
        }
        if (reason == Reason.VERSION_MISMATCH) {
            return fail("driver-mismatch", seen, remedy(reason));
        }
        if (reason == Reason.NO_PERMISSION) {
            return unknown(code(reason), seen, "run as root, or with access to /dev/nvidiactl and /dev/nvidia*");
        }
        if (onBus > 0) {
            return fail(code(reason), seen, remedy(reason));
        }
        if (pci instanceof Reading.Present<?> && reason != Reason.FAILED && reason != Reason.LIBRARY_UNUSABLE) {
            return unknown(
                    "no-gpu",
                    "no NVIDIA GPU: " + what(none) + "; " + busSays(pci),
                    "gpuwarden doctor lists the places that were searched");
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

    static String busSays(Reading<List<PciAddress>> pci) {
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
            case VERSION_MISMATCH ->
                "the driver was upgraded under a running system: reload its kernel modules or reboot; if the library of a"
                        + " container is the older one, restart its pod";
            case NO_PERMISSION -> "run as root";
            case FAILED -> "read the driver's messages in the kernel log; reload the driver or reboot";
        };
    }

    /** Returns a failure of the whole driver: a reload takes every GPU of the node, as a reboot does. */
    private static Finding fail(String code, String message, String remedy) {
        return Finding.fail(code, Subject.NODE, message, remedy, RecommendedAction.RESTART_BM);
    }

    private static Finding unknown(String code, String message, String remedy) {
        return Finding.unknown(code, Subject.NODE, message, remedy);
    }
}
