package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.model.PciAddress;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The last Xid of each GPU, whatever a rule makes of it. What an earlier process read of this boot is known as far as it is a
 * fault that is current. Written by the thread that reads, read by any.
 */
final class XidHistory {

    /** Addresses are what a line says. */
    private static final int MOST = 1024;

    private static final int MOST_DIGITS = 9;

    private final Map<PciAddress, Integer> last = new HashMap<>();

    /** @param code without the part that NVLink 5 errors have; the lines of a log come in their order */
    synchronized void told(PciAddress pci, String code) {
        boolean number =
                !code.isEmpty() && code.length() <= MOST_DIGITS && code.chars().allMatch(c -> c >= '0' && c <= '9');
        if (number && (last.size() < MOST || last.containsKey(pci))) {
            last.put(pci, Integer.parseInt(code));
        }
    }

    /** Takes up what an earlier process told of this boot. */
    void goOn(List<Fault> current) {
        current.stream()
                .filter(XidHistory::ofTheLog)
                .sorted(Comparator.comparing(Fault::lastSeen))
                .forEach(fault -> pci(fault.key().entity())
                        .ifPresent(pci -> told(pci, fault.key().errorCode().replaceFirst("\\..*", ""))));
    }

    private static boolean ofTheLog(Fault fault) {
        return fault.key().agent().equals(Checks.AGENT)
                && fault.key().checkName().equals(Checks.XID)
                // Another program may speak under the same name.
                && fault.cause().metadata().containsKey(KernelMessageClassifier.SEVERITY);
    }

    private static Optional<PciAddress> pci(Entity entity) {
        return entity.type().equals(Entity.PCI) ? PciAddress.parse(entity.value()) : Optional.empty();
    }

    /** The node was booted since. */
    synchronized void forget() {
        last.clear();
    }

    /** By address without a function; a GPU of which nothing was told is not in it. */
    synchronized Map<PciAddress, Integer> all() {
        return Map.copyOf(last);
    }
}
