package dev.gpuwarden.aggregator.vram;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.KubeClient.Pages;
import dev.gpuwarden.core.util.JsonTrees;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * The pods of a node that have a budget.
 *
 * @param holders pods, the largest budget first
 */
record NodeRoom(String node, List<Holder> holders) {

    /**
     * A pod with a budget.
     *
     * @param pod `NAMESPACE/NAME`
     */
    record Holder(String pod, String uid, long mib) {}

    NodeRoom {
        holders = List.copyOf(holders);
    }

    /** Reads the pods of a node. Blocks. */
    static NodeRoom read(KubeClient api, String node, String resource) throws ApiException, InterruptedException {
        List<Holder> holders = new ArrayList<>();
        Pages.each(
                api,
                "/api/v1/pods",
                "fieldSelector="
                        + Pages.encoded("spec.nodeName=" + node + ",status.phase!=Succeeded,status.phase!=Failed"),
                pod -> add(holders, pod, resource));
        holders.sort(Comparator.comparingLong(Holder::mib).reversed().thenComparing(Holder::pod));
        return new NodeRoom(node, holders);
    }

    private static void add(List<Holder> holders, Map<String, Object> pod, String resource) {
        long mib = RequestedBudget.mib(pod, resource);
        if (mib > 0) {
            Map<String, Object> metadata = JsonTrees.object(pod, "metadata");
            String name = JsonTrees.text(metadata, "namespace") + "/" + JsonTrees.text(metadata, "name");
            holders.add(new Holder(name, JsonTrees.text(metadata, "uid"), mib));
        }
    }

    /** Returns the sum of the budgets. */
    long requested() {
        return holders.stream().mapToLong(Holder::mib).sum();
    }
}
