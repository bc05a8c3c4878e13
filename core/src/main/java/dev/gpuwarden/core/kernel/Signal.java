package dev.gpuwarden.core.kernel;

import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.model.PciAddress;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The message of one record of the kernel log, explained by the catalogues.
 *
 * @param kind the family of messages
 * @param code the code in events: "79"; "145.RLW_REMAP" for a decoded NVLink 5 error, with the unit of the link as the driver
 *     prints it; a word such as "nvlink-down" for others
 * @param pci the address of the GPU or switch, without function; empty where the line has none or redacts it
 * @param gpuUuid the GPU's UUID; empty where the line has none
 * @param pid the process id as printed, `<unknown>` included; empty where nothing was printed
 * @param name the mnemonic of the catalogue; empty where it has none
 * @param severity the severity of the code by itself
 * @param action the catalogue's recommendation
 * @param why the rule that gave severity and action, with the catalogue's name, for operators
 * @param details details such as link, unit, registers, address; may be empty
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

    /** Returns a signal without details. */
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

    /** Returns the XID without the unit for NVLink 5 errors, else the code. */
    public String family() {
        int dot = kind == Kind.XID ? code.indexOf('.') : -1;
        return dot < 0 ? code : code.substring(0, dot);
    }

    /** Returns the signal with this UUID. */
    public Signal ofGpu(String uuid) {
        return new Signal(kind, code, pci, Optional.of(uuid), pid, process, name, severity, action, why, details);
    }

    /** Returns the signal with this address. */
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
        /** A GPU fell off the bus, by the driver's words without an XID. */
        FALLEN_OFF_BUS,
        /** The driver's line with the UUID of an address. No fault. */
        GPU_NAMED,
        /** A line of a reset job; the code is "reset" or "reset-failed". */
        GPU_RESET,
        /** An XID of a virtual machine, in the log of its host. No fault of a GPU of the host. */
        GUEST_XID,
        /** Another message of driver, PCIe or network link, by its code. */
        MESSAGE;

        private final String label = name().toLowerCase(Locale.ROOT);

        /** Returns the name in lower case with underscores. */
        public String label() {
            return label;
        }
    }

    /** The severity of a signal by itself. */
    public enum Severity {
        /** No fault. */
        INFO,
        /** A fault that leaves the part usable, mostly an application's error. */
        WARNING,
        FATAL;

        private final String label = name().toLowerCase(Locale.ROOT);

        public String label() {
            return label;
        }
    }
}
