package dev.gpuwarden.checks.access;

import dev.gpuwarden.core.check.FindingEvents;
import dev.gpuwarden.core.check.GpuAccess.Refusal;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.event.EventWriter;
import dev.gpuwarden.core.event.EventWriter.Receipt;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.util.List;
import java.util.Optional;

/**
 * Checks that ended together with the program while they had work on a GPU, such as by a crash in the driver. Each is a
 * fault, and that check does not run on that GPU while the fault is current: an operator clears it. Thread-safe.
 */
public record CrashedChecks(EventWriter writer, EventReader reader, String nodeName, Clock clock) {

    /** The check's name in events. */
    public static final String EVENT = "GpuCheckCrash";

    private static final System.Logger LOG = System.getLogger(CrashedChecks.class.getName());

    /** Turns the records of an earlier run into faults. A record goes when its fault is stored. Blocks for the disk. */
    void report(InFlightRecords records) {
        for (InFlightRecords.InFlight left : records.all(clock.instant())) {
            String message = "the program ended while the check " + left.check() + " had work on GPU " + left.gpuUuid()
                    + " since " + left.since() + ", for example by a crash in the driver";
            if (raise(left.check(), left.gpuUuid(), message)) {
                records.end(left.check(), left.gpuUuid());
            }
        }
    }

    /** Raises a fault. Returns whether it is stored. Blocks for the disk. */
    boolean raise(String check, String gpuUuid, String message) {
        LOG.log(Level.WARNING, message);
        Receipt receipt = writer.accept(HealthEvent.of(FindingEvents.AGENT, "GPU", EVENT)
                .errorCodes(List.of(check))
                .entities(List.of(Entity.gpu(gpuUuid)))
                .action(RecommendedAction.CONTACT_SUPPORT)
                .message(message)
                .generated(clock.instant())
                .nodeName(nodeName)
                .build());
        return receipt != Receipt.REFUSED && receipt != Receipt.HELD;
    }

    /** Returns whether a fault of a crash is current. */
    public boolean isCurrent() {
        return reader.faults().stream()
                .anyMatch(fault -> fault.key().agent().equals(FindingEvents.AGENT)
                        && fault.key().checkName().equals(EVENT));
    }

    /** Returns why the check must not run on the GPU; empty if it did not crash there. */
    Optional<Refusal> refusal(String check, String gpuUuid) {
        Entity gpu = Entity.gpu(gpuUuid);
        return reader.faults().stream()
                .filter(fault -> fault.key().agent().equals(FindingEvents.AGENT)
                        && fault.key().checkName().equals(EVENT)
                        && fault.key().errorCode().equals(check)
                        && fault.cause().entities().stream().anyMatch(entity -> entity.equals(gpu)))
                .findFirst()
                .map(fault -> new Refusal(
                        "crashed-before",
                        "it does not run here since " + fault.since() + ": "
                                + fault.cause().message() + "; find the cause, then run 'gpuwarden set-healthy --check "
                                + EVENT + "'"));
    }
}
