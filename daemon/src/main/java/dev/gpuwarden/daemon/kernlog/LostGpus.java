package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.model.PciAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** GPUs of which an Xid told that they fell off the bus, so that the words that follow it are not a second fault. */
final class LostGpus {

    /** GPU has fallen off the bus. */
    static final String XID = "79";

    private static final Duration LATELY = Duration.ofMinutes(5);

    /** No node has more GPUs. */
    private static final int MOST = 256;

    private final Map<Optional<PciAddress>, Instant> told = new LinkedHashMap<>();

    /** @param pci empty where the line did not say */
    void told(Optional<PciAddress> pci, Instant when) {
        told.remove(pci);
        if (told.size() >= MOST) {
            told.remove(told.keySet().iterator().next());
        }
        told.put(pci, when);
    }

    /** Whether the Xid came before; of any GPU where either line does not say which. */
    boolean toldLately(Optional<PciAddress> pci, Instant when) {
        return told.entrySet().stream()
                .filter(entry -> pci.isEmpty()
                        || entry.getKey().isEmpty()
                        || entry.getKey().equals(pci))
                .anyMatch(
                        entry -> Duration.between(entry.getValue(), when).abs().compareTo(LATELY) <= 0);
    }

    void isBack(Optional<PciAddress> pci) {
        if (pci.isPresent()) {
            told.remove(pci);
        }
    }
}
