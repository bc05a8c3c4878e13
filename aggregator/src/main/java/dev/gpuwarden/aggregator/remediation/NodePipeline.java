package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.drain.DrainAnnotation;
import dev.gpuwarden.aggregator.maintenance.MaintenanceRecord;
import dev.gpuwarden.aggregator.maintenance.Stage;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The way of a node from its fault back to service, as stages with their times. For display only.
 *
 * @param over true if the node is out of quarantine, so that the stages are those of its last repair
 */
public record NodePipeline(boolean over, List<Stage> stages) {

    public NodePipeline {
        stages = List.copyOf(stages);
    }

    public Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("over", over);
        tree.put("stages", stages.stream().map(Stage::tree).toList());
        return tree;
    }

    /**
     * The facts about a node that its annotations do not have.
     *
     * @param refused true if the node is in service although its faults stop work
     * @param fault time of the oldest fault; empty without one
     * @param faults the faults, in few words; empty without one
     * @param verification time since which the checks of a repair are awaited; empty if they are not
     * @param quarantine start of the quarantine; empty if unknown, or out of quarantine
     * @param why the reason of the node's state
     * @param next the next action or event; empty if none is needed
     * @param requested the action that the faults request; empty without one
     * @param operator the step of an operator who must carry it out; empty if a program does
     */
    public record Standing(
            boolean quarantined,
            boolean refused,
            Optional<Instant> fault,
            String faults,
            Optional<Instant> verification,
            Optional<Instant> quarantine,
            String why,
            String next,
            String requested,
            Optional<String> operator,
            Optional<DrainAnnotation> drain) {}

    /**
     * The maintenance resources of a node.
     *
     * @param unread reason why they could not be read; empty if they were
     */
    public record Resources(List<MaintenanceRecord> all, String unread) {

        public Resources {
            all = all.stream().sorted(MaintenanceRecord.ORDER).toList();
        }

        public static Resources unread(String why) {
            return new Resources(List.of(), why);
        }

        Optional<MaintenanceRecord> find(String name) {
            return all.stream().filter(each -> each.name().equals(name)).findFirst();
        }
    }
}
