package dev.gpuwarden.core.kernel;

import dev.gpuwarden.core.kernel.Signal.Kind;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.util.BoundedMap;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * The suspicion that the NVLink fabric is broken and not a GPU: within a minute, NVLink errors (XIDs 144 to 150) end programs on several
 * GPUs, each with an XID 45. One such line asks for nothing. In NVIDIA/open-gpu-kernel-modules #1355 each collective hung until the node
 * was rebooted. Does no I/O. Not thread-safe.
 */
public final class FabricSuspicion {

    /** The code of the signal. */
    public static final String CODE = "nvlink-fabric-suspect";

    private static final String APPLICATION_ENDED = "45";

    /** The time within which the ends on several GPUs have one cause. */
    static final Duration TOGETHER = Duration.ofMinutes(1);

    private static final int FEWEST_GPUS = 2;

    /** No node has more GPUs. */
    private static final int MOST_GPUS = 256;

    private final Map<PciAddress, Instant> ended = new BoundedMap<>(MOST_GPUS, false);
    private Optional<Instant> reported = Optional.empty();
    private int incidents;

    /**
     * Adds a signal of the log and returns the suspicion if it follows now. A further one follows only after a minute without.
     *
     * @param when the time of the line
     */
    public Optional<Signal> add(Signal signal, Instant when) {
        if (signal.kind() != Kind.XID
                || !signal.code().equals(APPLICATION_ENDED)
                || signal.pci().isEmpty()) {
            return Optional.empty();
        }
        int cause = new Cursor(signal.details().getOrDefault("caused_by", ""), 0).number();
        if (!NvlinkRules.about(cause)) {
            return Optional.empty();
        }
        ended.put(signal.pci().get(), when);
        ended.values().removeIf(other -> apart(other, when));
        if (ended.size() < FEWEST_GPUS) {
            return Optional.empty();
        }
        boolean same = reported.isPresent() && !apart(reported.get(), when);
        reported = Optional.of(when);
        if (same) {
            return Optional.empty();
        }
        incidents++;
        return Optional.of(suspicion(cause));
    }

    /** Drops all that was added, after a reboot. */
    public void clear() {
        ended.clear();
        reported = Optional.empty();
        incidents = 0;
    }

    private static boolean apart(Instant one, Instant other) {
        return Duration.between(one, other).abs().compareTo(TOGETHER) > 0;
    }

    private Signal suspicion(int cause) {
        TreeSet<String> gpus = new TreeSet<>();
        ended.keySet().stream().limit(8).forEach(pci -> gpus.add(pci.toString()));
        String why = "NVLink errors ended programs on several GPUs within a minute, so the NVLink fabric is suspect; ";
        String then = incidents == 1
                ? "if collectives hang, or this occurs again, drain and reboot the node"
                : "incident " + incidents + " in the log: drain and reboot the node";
        return Signal.of(Kind.MESSAGE, CODE, Resolution.WATCH, why + then)
                .named(
                        "NVLink fabric suspect",
                        Map.of(
                                "caused_by", Integer.toString(cause),
                                "gpus", String.join(" ", gpus),
                                "incidents", Integer.toString(incidents)));
    }
}
