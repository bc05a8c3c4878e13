package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.client.AccessReviewer.Right;
import dev.gpuwarden.aggregator.maintenance.RepairKind;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** The users' own ways of repair. No two are for the same action. */
public record RepairTemplates(List<RepairTemplate> all) {

    public static final RepairTemplates NONE = new RepairTemplates(List.of());

    public RepairTemplates {
        all = List.copyOf(all);
    }

    /** Returns the template for a fault; empty if this program's own action is the answer. */
    Optional<RepairTemplate> of(HealthEvent cause) {
        return all.stream().filter(each -> each.answers(cause)).findFirst();
    }

    Optional<RepairTemplate> of(RepairGroup group) {
        return of(group.kind());
    }

    Optional<RepairTemplate> of(RepairKind kind) {
        return all.stream().filter(each -> each.kind().equals(kind)).findFirst();
    }

    /** Returns the pods that leave before an action of the group. */
    RepairTemplate.Drain drain(RepairGroup group) {
        return of(group)
                .map(RepairTemplate::drain)
                .orElse(group.gpus().isEmpty() ? RepairTemplate.Drain.ALL : RepairTemplate.Drain.GPU);
    }

    /** Returns the group that restarts nodes instead of this program's; empty without one. */
    Optional<RepairGroup> restart() {
        return all.stream()
                .filter(each -> each.actions().contains(RecommendedAction.RESTART_BM.name()))
                .findFirst()
                .map(each -> new RepairGroup(each.kind(), Collections.emptySortedSet()));
    }

    /** Returns the rights that the creation and the watch of their resources need. */
    public List<Right> rights() {
        List<Right> rights = new ArrayList<>();
        for (RepairTemplate each : all) {
            for (String verb : List.of("get", "list", "watch", "create")) {
                Right right = new Right(
                        verb,
                        each.kind().resources().group(),
                        each.kind().resources().plural(),
                        each.kind().resources().namespace().orElse(""));
                if (!rights.contains(right)) {
                    rights.add(right);
                }
            }
        }
        return rights;
    }
}
