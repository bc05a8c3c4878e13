package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.core.event.ActionName;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.daemon.repair.RepairAttempt.Kind;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The request of the faults of the same GPUs for the same action.
 *
 * @param name checks and codes, for operators
 * @param subjects UUIDs of the GPUs at fault; the name of the check if no GPU is named
 * @param since time at which the youngest of the faults was raised
 * @param cause event that raised the oldest of them; all recommend its action
 */
record RepairRequest(String name, Set<String> subjects, Instant since, HealthEvent cause) {

    private record Group(Set<String> subjects, String action) {}

    /** Returns the requests of the faults that make this server unfit, the oldest first. Those without an action are left out. */
    static List<RepairRequest> of(Collection<Fault> faults) {
        Map<Group, List<Fault>> groups = new LinkedHashMap<>();
        faults.stream()
                .filter(fault -> fault.decides() && fault.cause().action() != RecommendedAction.NONE)
                .sorted(Comparator.comparing(Fault::since))
                .forEach(fault -> groups.computeIfAbsent(
                                new Group(subjects(fault.cause()), ActionName.of(fault.cause())),
                                any -> new ArrayList<>())
                        .add(fault));
        List<RepairRequest> requests = new ArrayList<>();
        groups.forEach((group, raised) -> requests.add(new RepairRequest(
                raised.stream()
                        .map(fault -> name(fault.cause()))
                        .distinct()
                        .sorted()
                        .collect(Collectors.joining(", ")),
                group.subjects(),
                raised.get(raised.size() - 1).since(),
                raised.get(0).cause())));
        return requests;
    }

    /** Returns a task for each fatal fault whose evidence any user may have written: no repair follows from it. */
    static List<String> unproven(Collection<Fault> faults) {
        return faults.stream()
                .filter(Fault::unproven)
                .map(fault -> "examine " + name(fault.cause()) + " of " + String.join(", ", subjects(fault.cause()))
                        + ": the log does not show who wrote the line, so nothing acts on it (--kernel-log.trust-file)")
                .distinct()
                .toList();
    }

    /**
     * Returns the repair; empty if only an operator can carry it out.
     *
     * @param hooks names of the actions that the user's program carries out
     */
    Optional<Kind> kind(Set<String> hooks, ServerGpus gpus) {
        if (!foreign(gpus).isEmpty()) {
            return Optional.empty();
        }
        if (hooks.contains(ActionName.of(cause))) {
            return Optional.of(Kind.HOOK);
        }
        return switch (cause.action()) {
            case RESTART_VM, RESTART_BM -> Optional.of(Kind.REBOOT);
            case COMPONENT_RESET -> gpus.reset(subjects).isPresent() ? Optional.of(Kind.RESET) : Optional.empty();
            case NONE, CONTACT_SUPPORT, RUN_FIELDDIAG, REPLACE_VM, RUN_DCGMEUD, CUSTOM, REMEDIATE, UNKNOWN ->
                Optional.empty();
        };
    }

    /** Returns the task for an operator, where there is no kind. */
    String task(ServerGpus gpus) {
        Set<String> foreign = foreign(gpus);
        String task = cause.action().label() + " for " + name + " of " + String.join(", ", subjects);
        return foreign.isEmpty()
                ? task
                : task + ": expected a GPU of this server, one of " + new TreeSet<>(gpus.known()) + ", seen "
                        + String.join(", ", foreign);
    }

    /** Returns the names of GPUs that this server does not have. A GPU of this server without a known name may have this one. */
    private Set<String> foreign(ServerGpus gpus) {
        return cause.entities().stream().anyMatch(gpus.nameless()::contains) ? Set.of() : gpus.unknown(named(cause));
    }

    private static Set<String> subjects(HealthEvent cause) {
        Set<String> gpus = named(cause);
        return gpus.isEmpty() ? Set.of(cause.checkName()) : gpus;
    }

    private static Set<String> named(HealthEvent cause) {
        Set<String> gpus = new TreeSet<>();
        for (Entity entity : cause.entities()) {
            if (entity.type().equals(Entity.GPU_UUID) && !entity.value().isEmpty()) {
                gpus.add(entity.value());
            }
        }
        return gpus;
    }

    private static String name(HealthEvent cause) {
        return String.join(" ", cause.checkName(), String.join(",", cause.errorCodes()))
                .strip();
    }
}
