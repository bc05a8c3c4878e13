package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.daemon.kernlog.Occurrence.Checks;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The last XID of each GPU, independent of rules, and the GPUs that reported XID 79. A new process of the same boot resumes both
 * from the current faults. Thread-safe.
 */
final class XidHistory {

    /** GPU has fallen off the bus. */
    static final String FALLEN_OFF = "79";

    /** The bound of remembered addresses: they come from log lines. */
    private static final int MOST = 1024;

    private static final int MOST_DIGITS = 9;

    /** The driver's words about the bus follow their XID within this time. */
    private static final Duration RECENT = Duration.ofMinutes(5);

    /** The bound of lost GPUs. No node has more GPUs. */
    private static final int MOST_LOST = 256;

    private final Map<PciAddress, Integer> last = new HashMap<>();
    private final Map<Optional<PciAddress>, Instant> lost = new LinkedHashMap<>();

    /**
     * Adds an XID. The lines of a log come in their order.
     *
     * @param pci empty where the line names no GPU
     * @param code the number, without the unit of an NVLink 5 error
     */
    synchronized void add(Optional<PciAddress> pci, String code, Instant when) {
        pci.ifPresent(address -> keepLast(address, code));
        if (code.equals(FALLEN_OFF)) {
            keepLost(pci, when);
        }
    }

    private void keepLast(PciAddress pci, String code) {
        if (isNumber(code) && (last.size() < MOST || last.containsKey(pci))) {
            last.put(pci, Integer.parseInt(code));
        }
    }

    private static boolean isNumber(String code) {
        for (int i = 0; i < code.length(); i++) {
            if (code.charAt(i) < '0' || code.charAt(i) > '9') {
                return false;
            }
        }
        return !code.isEmpty() && code.length() <= MOST_DIGITS;
    }

    private void keepLost(Optional<PciAddress> pci, Instant when) {
        lost.remove(pci);
        if (lost.size() >= MOST_LOST) {
            lost.remove(lost.keySet().iterator().next());
        }
        lost.put(pci, when);
    }

    /** Resumes from the faults that an earlier process of this boot raised. */
    synchronized void resume(List<Fault> current) {
        current.stream()
                .filter(XidHistory::ofThisMonitor)
                .sorted(Comparator.comparing(Fault::lastSeen))
                .forEach(fault -> pci(fault.key())
                        .ifPresent(pci -> keepLast(pci, fault.key().errorCode().replaceFirst("\\..*", ""))));
        current.stream()
                .filter(fault -> fault.key().checkName().equals(Checks.XID)
                        && fault.key().errorCode().equals(FALLEN_OFF))
                .forEach(fault -> pci(fault.key()).ifPresent(pci -> keepLost(Optional.of(pci), fault.lastSeen())));
    }

    private static boolean ofThisMonitor(Fault fault) {
        return fault.key().agent().equals(Checks.AGENT)
                && fault.key().checkName().equals(Checks.XID)
                // Another program may report under the same name.
                && fault.key().reporter().isEmpty()
                && fault.cause().metadata().containsKey(KernelMessageClassifier.SEVERITY);
    }

    private static Optional<PciAddress> pci(FaultKey key) {
        return key.entity().type().equals(Entity.PCI)
                ? PciAddress.parse(key.entity().value())
                : Optional.empty();
    }

    /** Returns whether XID 79 of this GPU came shortly before; of any GPU where either line names none. */
    synchronized boolean fellOffRecently(Optional<PciAddress> pci, Instant when) {
        return lost.entrySet().stream()
                .filter(entry -> pci.isEmpty()
                        || entry.getKey().isEmpty()
                        || entry.getKey().equals(pci))
                .anyMatch(
                        entry -> Duration.between(entry.getValue(), when).abs().compareTo(RECENT) <= 0);
    }

    /** Forgets that the GPU fell off the bus, after its reset. */
    synchronized void recovered(Optional<PciAddress> pci) {
        if (pci.isPresent()) {
            lost.remove(pci);
        }
    }

    /** Forgets the last XIDs, after a reboot. */
    synchronized void clearLast() {
        last.clear();
    }

    /** Returns the last XIDs by address without a function. A GPU without an XID is not in the map. */
    synchronized Map<PciAddress, Integer> last() {
        return Map.copyOf(last);
    }
}
