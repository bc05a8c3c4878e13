package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.quarantine.FaultReport;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.node.ReportedGpus;
import dev.gpuwarden.core.util.Sha256;
import dev.gpuwarden.core.util.Text;
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

/**
 * The request of the faults that one event raised.
 *
 * @param fault identity of the fault, the same for the same faults since the same time
 * @param name check and code, for operators
 * @param subjects UUIDs of the GPUs at fault; the name of the check if no GPU is named
 * @param since time at which the youngest of the faults was raised
 * @param group group of the action; empty if no resource carries it out
 * @param person task for an operator, if there is no group; empty if the fault requests nothing
 * @param cause event that raised the faults
 */
record Demand(
        String fault,
        String name,
        RecommendedAction action,
        Set<String> subjects,
        Instant since,
        Optional<RepairGroup> group,
        String person,
        HealthEvent cause) {

    private static final int LONGEST_NAME = 256;
    private static final int DIGITS = 24;

    /**
     * Returns the requests of a node's faults, the oldest first.
     *
     * @param faults current faults of a trusted report
     * @param holding keys of the faults that hold the node in quarantine
     * @param templates users' own ways of repair, which go before those of this program
     * @param there GPUs that the node reports
     */
    static List<Demand> of(
            List<Fault> faults, Collection<FaultKey> holding, RepairTemplates templates, ReportedGpus there) {
        Set<FaultKey> held = Set.copyOf(holding);
        Map<HealthEvent, List<Fault>> byCause = new LinkedHashMap<>();
        faults.stream()
                .filter(fault -> held.contains(fault.key()))
                .sorted(Comparator.comparing(Fault::since).thenComparing(Fault::key, FaultKey.ORDER))
                .forEach(fault -> byCause.computeIfAbsent(fault.cause(), any -> new ArrayList<>())
                        .add(fault));
        List<Demand> demands = new ArrayList<>();
        byCause.forEach((cause, raised) -> demands.add(of(cause, raised, templates, there)));
        return demands;
    }

    private static Demand of(HealthEvent cause, List<Fault> raised, RepairTemplates templates, ReportedGpus there) {
        Set<String> gpus = new TreeSet<>();
        for (Fault fault : raised) {
            Entity entity = fault.key().entity();
            if (entity.type().equals(Entity.GPU_UUID) && !entity.value().isEmpty()) {
                gpus.add(entity.value());
            }
        }
        Instant since =
                raised.stream().map(Fault::since).max(Instant::compareTo).orElseThrow();
        String codes = String.join(",", cause.errorCodes());
        String name = Text.truncate(cause.checkName() + (codes.isEmpty() ? "" : " " + codes), LONGEST_NAME);
        Optional<RepairTemplate> template = templates.of(cause);
        // No reset of a GPU that the node does not report begins, also none of a vendor: it may be of another node, and
        // its unit is
        // unknown.
        boolean missed = cause.action() == RecommendedAction.COMPONENT_RESET
                && !there.unknown(gpus).isEmpty();
        Optional<RepairGroup> group = template.isEmpty()
                ? group(cause, gpus, there)
                : template.get()
                        .group(cause.drain().skip(), gpus)
                        .filter(any -> any.gpus().isEmpty() || !missed);
        return new Demand(
                digest(raised),
                name,
                cause.action(),
                gpus.isEmpty() ? Set.of(cause.checkName()) : gpus,
                since,
                group,
                group.isPresent() ? "" : RepairText.task(cause, gpus, there),
                cause);
    }

    /** Returns a digest of the faults and of the times at which they were raised. */
    private static String digest(List<Fault> faults) {
        StringBuilder text = new StringBuilder();
        for (Fault fault : faults) {
            text.append(FaultReport.identity(fault)).append('\n');
        }
        return Sha256.hex(text.toString(), DIGITS);
    }

    /** Returns true while the check of the faults passes, so that they stand for the quarantine alone. */
    boolean isHeld() {
        return cause.isHeld();
    }

    private static Optional<RepairGroup> group(HealthEvent cause, Set<String> gpus, ReportedGpus there) {
        if (cause.drain().skip()) {
            // No drain shows that its GPU is free.
            return Optional.empty();
        }
        return switch (cause.action()) {
            case RESTART_VM, RESTART_BM -> Optional.of(RepairGroup.RESTART);
            case COMPONENT_RESET ->
                there.unknown(gpus).isEmpty()
                        ? there.units()
                                .common(gpus)
                                .filter(unit -> unit.stream().allMatch(RepairGroup::isGpu))
                                .map(RepairGroup::reset)
                        : Optional.empty();
            case NONE, CONTACT_SUPPORT, RUN_FIELDDIAG, REPLACE_VM, RUN_DCGMEUD, CUSTOM, REMEDIATE, UNKNOWN ->
                Optional.empty();
        };
    }
}
