package dev.gpuwarden.daemon.vram.kube;

import dev.gpuwarden.api.v1.BudgetedPod;
import java.util.Map;

/**
 * The pods of this node that have a budget.
 *
 * @param byUid pods by UID
 */
public record Pods(Map<String, BudgetedPod> byUid) {
    public Pods {
        byUid = Map.copyOf(byUid);
    }
}
