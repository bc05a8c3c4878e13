package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.repair.RepairAttempt.Kind;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The reason for a repair, as it is at this moment. The decision and each act ask here: faults end, GPUs vanish and processes begin
 * between the two, since a drain takes hours and evidence minutes.
 *
 * @param users processes that hold a GPU; empty if a reboot does not depend on them
 */
record RepairReason(ServerRepairLoop.Setup setup, RepairLog log, Optional<Supplier<Reading<Set<Integer>>>> users) {

    /** Returns the faults whose parts are bad now. */
    List<Fault> present(Instant now) {
        FaultEvidence evidence = setup.evidence().get();
        return setup.faults().faults().stream()
                .filter(fault -> evidence.against(fault, repaired(fault, now)).isEmpty())
                .toList();
    }

    /** Returns the end of the last reset or hook of the fault's part; empty if there is none, or the clock was set back since. */
    private Optional<Instant> repaired(Fault fault, Instant now) {
        return log.attempts().stream()
                .filter(each -> concerns(each, fault))
                .flatMap(each -> each.done(RepairAttempt.RESET).or(() -> each.done(RepairAttempt.HOOK)).stream())
                .map(RepairAttempt.Step::at)
                .filter(at -> !at.isAfter(now))
                .max(Comparator.naturalOrder());
    }

    /** Returns why the attempt must not go on; empty while it may. Call it immediately before each act. */
    Optional<String> gone(RepairAttempt attempt, Instant now) {
        Optional<String> incomplete = setup.incomplete().get();
        if (incomplete.isPresent()) {
            return incomplete;
        }
        List<RepairRequest> requests = RepairRequest.of(present(now)).stream()
                .filter(request -> request.subjects().stream().anyMatch(attempt.subjects()::contains))
                .toList();
        if (requests.isEmpty()) {
            return Optional.of("the fault is over, or its check does not find it now");
        }
        ServerGpus gpus = setup.gpus().get();
        return requests.stream().anyMatch(request -> requests(request, attempt, gpus))
                ? Optional.empty()
                : Optional.of("no fault requests it now");
    }

    private boolean requests(RepairRequest request, RepairAttempt attempt, ServerGpus gpus) {
        Optional<Kind> kind = request.kind(setup.rules().hooks(), gpus);
        return switch (attempt.kind()) {
            case HOOK -> kind.equals(Optional.of(Kind.HOOK));
            // A reset that failed leads to a reboot.
            case REBOOT -> kind.filter(any -> any != Kind.HOOK).isPresent();
            case RESET ->
                kind.equals(Optional.of(Kind.RESET))
                        && gpus.reset(request.subjects()).equals(Optional.of(attempt.subjects()))
                        && gpus.listed().containsAll(attempt.subjects());
        };
    }

    /** Returns why a reboot must wait for processes; empty if it need not. */
    Optional<String> used() {
        Optional<Reading<Set<Integer>>> seen = users.map(Supplier::get);
        return seen.filter(pids -> !pids.equals(Reading.of(Set.<Integer>of())))
                .map(pids -> "expected no process that holds a GPU (--repair.reboot=idle), seen "
                        + (pids instanceof Reading.Absent<?> absent
                                ? "none, and not all could be searched: " + absent.text()
                                : "processes " + pids.asOptional().orElseThrow()));
    }

    /** Returns whether a fault of the attempt's parts lasts. */
    boolean lasts(RepairAttempt attempt, Instant now) {
        return present(now).stream().filter(Fault::decides).anyMatch(fault -> concerns(attempt, fault));
    }

    /** Returns the event of the oldest fault that requests the hook of the attempt. */
    Optional<HealthEvent> hookCause(RepairAttempt attempt, Instant now) {
        Stream<RepairRequest> requests = RepairRequest.of(present(now)).stream();
        return requests.filter(request -> request.subjects().stream().anyMatch(attempt.subjects()::contains)
                        && request.kind(setup.rules().hooks(), setup.gpus().get())
                                .equals(Optional.of(Kind.HOOK)))
                .findFirst()
                .map(RepairRequest::cause);
    }

    static boolean concerns(RepairAttempt attempt, Fault fault) {
        return attempt.subjects().contains(fault.cause().checkName())
                || fault.cause().entities().stream()
                        .anyMatch(entity -> attempt.subjects().contains(entity.value()));
    }
}
