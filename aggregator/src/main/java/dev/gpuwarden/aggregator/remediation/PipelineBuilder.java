package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.drain.DrainAnnotation;
import dev.gpuwarden.aggregator.drain.DrainEvents.DrainText;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.maintenance.MaintenanceRecord;
import dev.gpuwarden.aggregator.maintenance.RepairKind;
import dev.gpuwarden.aggregator.maintenance.Stage;
import dev.gpuwarden.aggregator.maintenance.Stage.State;
import dev.gpuwarden.aggregator.nodestatus.NodeNews;
import dev.gpuwarden.aggregator.quarantine.QuarantineEvents;
import dev.gpuwarden.aggregator.remediation.NodePipeline.Resources;
import dev.gpuwarden.aggregator.remediation.NodePipeline.Standing;
import dev.gpuwarden.aggregator.remediation.Repair.Outcome;
import dev.gpuwarden.aggregator.remediation.Repair.Result;
import dev.gpuwarden.api.kube.DriverUpgrade;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Computes the pipeline of a node from its annotations and its maintenance resources. Pure. */
public final class PipelineBuilder {

    /** The number of attempts that are shown in full, the latest ones. */
    private static final int MOST_ATTEMPTS = 3;

    private static final String NOT_KEPT = "the Node keeps no time of it after the quarantine";
    private static final String REPAIR = "repair";

    private final CachedNode node;
    private final Standing standing;
    private final Resources resources;
    private final List<Stage> stages = new ArrayList<>();

    private PipelineBuilder(CachedNode node, Standing standing, Resources resources) {
        this.node = node;
        this.standing = standing;
        this.resources = resources;
    }

    /** Returns the pipeline; empty for a node that was never repaired and that nothing holds out of service. */
    public static Optional<NodePipeline> of(CachedNode node, Standing standing, Resources resources) {
        PipelineBuilder builder = new PipelineBuilder(node, standing, resources);
        if (standing.quarantined()) {
            builder.quarantined();
        } else if (standing.refused()) {
            builder.refused();
        } else {
            builder.over();
        }
        return builder.stages.isEmpty()
                ? Optional.empty()
                : Optional.of(new NodePipeline(!standing.quarantined() && !standing.refused(), builder.stages));
    }

    private void add(Stage stage) {
        stages.add(stage);
    }

    // ---- in service ----

    private void refused() {
        add(Stage.of("fault", State.IN_PROGRESS, standing.faults()).from(standing.fault()));
        add(Stage.of("quarantine", State.WAITING, standing.why()));
    }

    /** Adds the stages of the last repair of a node that is not in quarantine. */
    private void over() {
        RepairRecord record;
        try {
            record = RepairAnnotations.of(node);
        } catch (IOException e) {
            // An unreadable annotation of a node in service holds nothing back.
            return;
        }
        List<Repair> last = last(record.history());
        if (last.isEmpty()) {
            byHand(Set.of(), Instant.MIN).stream()
                    .reduce((earlier, later) -> later)
                    .ifPresent(resource -> stages.addAll(resource.stages()));
            return;
        }
        Optional<Instant> out = node.time(NodeAnnotations.LET_THROUGH)
                .filter(at -> !at.isAfter(last.get(0).at()));
        add(Stage.of("fault", State.UNKNOWN, NOT_KEPT));
        add(Stage.of("quarantine", State.DONE, "").from(out).until(out));
        add(Stage.of("drain", State.UNKNOWN, NOT_KEPT));
        last.forEach(this::attempt);
        Repair end = last.get(last.size() - 1);
        // A node may return before its resource ends, and the Node then records no result.
        Optional<MaintenanceRecord> resource = resources.find(end.resource());
        Optional<Instant> ended = end.result().map(Result::at).or(() -> resource.flatMap(MaintenanceRecord::ended));
        Optional<NodeNews> returned =
                QuarantineEvents.of(node).filter(decision -> !decision.at().isBefore(end.at()));
        boolean verified =
                (succeeded(end) || resource.filter(MaintenanceRecord::succeeded).isPresent())
                        && returned.filter(decision -> decision.reason().equals("ReturnedToService"))
                                .isPresent();
        Optional<Instant> at = returned.map(NodeNews::at);
        add(
                verified
                        ? Stage.of("verification", State.DONE, "").from(ended).until(at)
                        : Stage.of("verification", State.UNKNOWN, NOT_KEPT));
        add(Stage.of("back in service", State.DONE, returned.map(NodeNews::text).orElse(""))
                .from(at)
                .until(at));
    }

    /** Returns the attempts for the fault of the latest one, the oldest first. */
    private static List<Repair> last(List<Repair> history) {
        if (history.isEmpty()) {
            return List.of();
        }
        String fault = history.get(history.size() - 1).fault();
        return latest(
                history.stream().filter(each -> each.fault().equals(fault)).toList());
    }

    private static <T> List<T> latest(List<T> all) {
        return all.subList(Math.max(0, all.size() - MOST_ATTEMPTS), all.size());
    }

    // ---- in quarantine ----

    private void quarantined() {
        Optional<Instant> out = standing.quarantine();
        add(Stage.of("fault", State.DONE, standing.faults())
                .from(standing.fault())
                .until(out));
        add(Stage.of("quarantine", State.DONE, "").from(out).until(out));
        try {
            RepairRecord record = RepairAnnotations.of(node);
            drain(record);
            boolean ended = repairs(record);
            verification(ended);
        } catch (IOException e) {
            add(Stage.of(REPAIR, State.UNKNOWN, String.valueOf(e.getMessage())));
        }
        add(Stage.of("back in service", State.NOT_YET, standing.next()));
    }

    private void drain(RepairRecord record) {
        if (standing.drain().isEmpty()) {
            boolean passed = record.inSession().findAny().isPresent();
            add(Stage.of("drain", passed ? State.NOT_NEEDED : State.NOT_YET, "no drain is recorded on the Node"));
            return;
        }
        DrainAnnotation drain = standing.drain().get();
        State state = drain.finished().isPresent()
                ? State.DONE
                : drain.failed() ? State.FAILED : drain.waiting().isEmpty() ? State.IN_PROGRESS : State.WAITING;
        add(Stage.of("drain", state, DrainText.of(drain))
                .from(Optional.of(drain.began()))
                .until(drain.finished()));
    }

    /** Adds the attempts, and the approval or operator that the node waits for. Returns true if the last attempt succeeded. */
    private boolean repairs(RepairRecord record) {
        List<Repair> attempts = record.inSession().toList();
        List<MaintenanceRecord> byHand = byHand(
                record.history().stream().map(Repair::resource).collect(Collectors.toSet()),
                standing.quarantine().orElse(Instant.MIN));
        Optional<String> upgrade = DriverUpgrade.underWay(node.labels());
        latest(attempts).forEach(this::attempt);
        latest(byHand).forEach(resource -> stages.addAll(resource.stages()));
        if (record.next().isPresent()) {
            Repair next = record.next().get();
            add(Stage.of("approval", State.WAITING, "gpuwarden approve " + node.name())
                    .from(Optional.of(next.at())));
            ahead(action(next.group().kind()), next.group().what());
        } else if (record.person().isPresent()) {
            add(Stage.of("operator", State.WAITING, record.person().get().task())
                    .from(Optional.of(record.person().get().since())));
        } else if (upgrade.isPresent() && follows(attempts) && byHand.isEmpty()) {
            add(Stage.of(REPAIR, State.WAITING, upgrade.get()));
        } else if (attempts.isEmpty() && byHand.isEmpty()) {
            if (!resources.unread().isEmpty()) {
                add(Stage.of(REPAIR, State.UNKNOWN, "could not be read: " + resources.unread()));
            } else if (standing.requested().isEmpty()) {
                add(Stage.of(REPAIR, State.NOT_NEEDED, "no fault requests an automatic action"));
            } else if (standing.operator().isPresent()) {
                add(Stage.of("operator", State.WAITING, standing.operator().get())
                        .from(standing.quarantine()));
            } else {
                ahead(REPAIR, standing.requested());
            }
        }
        return !attempts.isEmpty() && succeeded(attempts.get(attempts.size() - 1));
    }

    /** Returns true if another attempt may follow: none was made, or the last one did not succeed. */
    private boolean follows(List<Repair> attempts) {
        return attempts.isEmpty()
                ? !standing.requested().isEmpty()
                : attempts.get(attempts.size() - 1)
                        .result()
                        .filter(how -> how.outcome() != Outcome.SUCCEEDED)
                        .isPresent();
    }

    private void ahead(String action, String why) {
        add(Stage.of("lock", State.NOT_YET, ""));
        add(Stage.of(action, State.NOT_YET, why));
    }

    private void verification(boolean ended) {
        if (standing.verification().isPresent()) {
            add(Stage.of("verification", State.IN_PROGRESS, "the checks of the daemon must pass")
                    .from(standing.verification()));
        } else if (ended) {
            add(Stage.of("verification", State.IN_PROGRESS, "the node must report that its faults are over")
                    .from(stages.stream().flatMap(each -> each.end().stream()).reduce((a, b) -> b)));
        } else {
            add(Stage.of("verification", State.NOT_YET, ""));
        }
    }

    // ---- one attempt ----

    private void attempt(Repair repair) {
        if (!repair.approver().isEmpty()) {
            add(Stage.of("approval", State.DONE, "by " + repair.approver()).until(Optional.of(repair.at())));
        } else if (stages.stream().noneMatch(each -> each.name().equals("approval"))) {
            add(Stage.of("approval", State.NOT_NEEDED, "the action was automatic"));
        }
        Optional<MaintenanceRecord> resource = resources.find(repair.resource());
        if (resource.isPresent()) {
            stages.addAll(resource.get().stages());
        } else {
            add(recorded(repair));
        }
    }

    /** Returns the attempt as the Node records it, because its resource is gone or could not be read. */
    private Stage recorded(Repair repair) {
        String missing = resources.unread().isEmpty()
                ? "its resource is gone, and its steps with it"
                : "its steps could not be read: " + resources.unread();
        State state = repair.inProgress() ? State.IN_PROGRESS : succeeded(repair) ? State.DONE : State.FAILED;
        String why =
                repair.result().map(Result::why).filter(text -> !text.isEmpty()).orElse("");
        return Stage.of(action(repair.group().kind()), state, why.isEmpty() ? missing : why + "; " + missing)
                .owned(repair.group().kind().resources().kind() + " " + repair.resource())
                .from(Optional.of(repair.at()))
                .until(repair.result().map(Result::at));
    }

    private static boolean succeeded(Repair repair) {
        return repair.result().filter(how -> how.outcome() == Outcome.SUCCEEDED).isPresent();
    }

    /** Returns the name of the stage; that of a user's template is its kind. */
    private static String action(RepairKind kind) {
        if (!(kind instanceof MaintenanceKind maintenance)) {
            return kind.resources().kind();
        }
        return switch (maintenance) {
            case GPU_RESET -> "reset";
            case REBOOT_NODE -> "reboot";
            case TERMINATE_NODE -> "termination";
        };
    }

    /** Returns the resources that the record of repairs does not name, which another creator has made. */
    private List<MaintenanceRecord> byHand(Set<String> ours, Instant since) {
        return resources.all().stream()
                .filter(each -> !ours.contains(each.name()) && !each.created().isBefore(since))
                .toList();
    }
}
