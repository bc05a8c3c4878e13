package dev.gpuwarden.core.kernel;

import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.model.PciAddress;
import java.util.Map;
import java.util.Optional;

/**
 * What one record of the kernel log says, explained by the catalogues.
 *
 * @param kind which family of messages it is of
 * @param code as events carry it: "79"; "145.RLW_REMAP" for a decoded NVLink 5 error, the part of the link unit being named as
 *     the driver prints it; a word such as "nvlink-down" for others
 * @param pci the GPU or switch, function dropped; empty where the line does not say or redacts it
 * @param gpuUuid empty where neither this nor an earlier line told
 * @param pid as printed, `<unknown>` included; empty where nothing was printed
 * @param name the mnemonic of the catalogue; empty where it has none
 * @param severity of the code by itself
 * @param action what the catalogue recommends
 * @param why the rule that gave severity and action, for people, with the catalogue's name
 * @param details particulars such as link, unit, registers, address; may be empty
 */
public record Signal(
        Kind kind,
        String code,
        Optional<PciAddress> pci,
        Optional<String> gpuUuid,
        Optional<String> pid,
        Optional<String> process,
        String name,
        Severity severity,
        RecommendedAction action,
        String why,
        Map<String, String> details) {

    public Signal {
        details = Map.copyOf(details);
    }

    /** One of which nothing else is known. */
    static Signal of(Kind kind, String code, Resolution resolution, String why) {
        return new Signal(
                kind,
                code,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                "",
                resolution.severity(),
                resolution.action(),
                why,
                Map.of());
    }

    /** What the code stands for: for NVLink 5 errors the Xid without the part, the code itself otherwise. */
    public String family() {
        int dot = kind == Kind.XID ? code.indexOf('.') : -1;
        return dot < 0 ? code : code.substring(0, dot);
    }

    /** The same, about this GPU: its address is known and its UUID was not printed. */
    public Signal ofGpu(String uuid) {
        return new Signal(kind, code, pci, Optional.of(uuid), pid, process, name, severity, action, why, details);
    }

    /** The same, at this address. */
    public Signal at(Optional<PciAddress> address) {
        return new Signal(kind, code, address, gpuUuid, pid, process, name, severity, action, why, details);
    }

    Signal by(Optional<String> printedPid, Optional<String> printedProcess) {
        return new Signal(kind, code, pci, gpuUuid, printedPid, printedProcess, name, severity, action, why, details);
    }

    Signal named(String mnemonic, Map<String, String> particulars) {
        return new Signal(kind, code, pci, gpuUuid, pid, process, mnemonic, severity, action, why, particulars);
    }

    /** Families of messages. */
    public enum Kind {
        XID,
        SXID,
        /** The text says that a GPU fell off the bus, without an XID. */
        FALLEN_OFF_BUS,
        /** The driver tells which UUID sits at which address. No fault. */
        GPU_NAMED,
        /** A reset job says that it reset a GPU; code "reset" or "reset-failed". */
        GPU_RESET,
        /** Another message of driver, PCIe or network link; the code tells which. */
        MESSAGE;

        /** Lower case with underscores. */
        public String label() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }
    }

    /** How bad a signal is by itself. */
    public enum Severity {
        /** Tells something, is no fault. */
        INFO,
        /** A fault, but the part can be worked with: application errors foremost. */
        WARNING,
        FATAL;

        public String label() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }
    }
}
