package dev.gpuwarden.aggregator.ingest;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.api.v1.BudgetedPod;
import dev.gpuwarden.api.v1.Removal;
import dev.gpuwarden.api.v1.VramAnswer;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.testkit.cluster.UsedRights;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Budgets of a node's pods, and the end of pods at its request, with a real API server and the shipped rights. */
@ExtendWith(UsedRights.class)
class VramEvictClusterTest extends VramSetup {

    private static final String SPACE = "vram-evict";

    @AfterEach
    void deletePods() {
        plane.client().deleteNow("pods/" + SPACE);
    }

    private String events() {
        return plane.client().get("events/" + SPACE).toString();
    }

    /** Asserts that the aggregator has refused the request itself, before an attempt. */
    private void assertRefused(VramAnswer answer, String why) {
        assertThat(answer.getUntried()).isTrue();
        assertNotAccepted(answer, why);
    }

    private void assertNotAccepted(VramAnswer answer, String why) {
        assertThat(answer.getText()).contains(why);
        assertThat(answer.getAccepted()).isFalse();
    }

    @Test
    void aNodeReceivesTheBudgetsOfItsOwnPodsWheneverTheyChange() throws Exception {
        namespace(SPACE);
        String other = node + "-other";
        TestCluster.node(plane, other);
        run(SPACE, "elsewhere", other, "3000");
        run(SPACE, "ocr", node, "5000");
        start(ActionMode.DRY_RUN, true, false);
        assertThat(list().getPodsList()).as("the Node has no such resource").isEmpty();
        assertThat(advertise(OptionalLong.of(14000)).getAccepted()).isTrue();
        BudgetedPod pod = list().getPodsList().get(0);
        assertThat(pod.getUid()).isEqualTo(uid(SPACE, "ocr"));
        assertThat(pod.getContainers(0).getQuantity()).isEqualTo("5k");
        assertThat(lists).isEmpty();

        run(SPACE, "llama", node, "2k");
        assertThat(list().getPodsList()).extracting(BudgetedPod::getName).containsExactly("llama", "ocr");
        plane.client().patch("pod/" + SPACE + "/ocr/status", "{\"status\": {\"phase\": \"Failed\"}}");
        assertThat(list().getPodsList()).extracting(BudgetedPod::getName).containsExactly("llama");

        uplink = join(node);
        assertThat(list().getPodsList()).as("again after a new connection").hasSize(1);
    }

    @Test
    void anAmountBelowTheRequestsOfPodsIsWrittenWithAnEventOfTheNode() throws Exception {
        namespace(SPACE);
        run(SPACE, "ocr", node, "5000");
        run(SPACE, "llama", node, "3000");
        start(ActionMode.DRY_RUN, true, false);
        assertThat(advertise(OptionalLong.of(8000)).getText()).isEqualTo("the Node has " + RESOURCE + " 8000");
        VramAnswer answer = advertise(OptionalLong.of(6000));
        String consequences = "its pods request 8000 MiB, 2000 MiB more than that;"
                + " they go on, new pods wait, and a kubelet that restarts may refuse some";
        assertThat(answer.getText()).isEqualTo("the Node has " + RESOURCE + " 6000; " + consequences);
        assertThat(answer.getAccepted()).isTrue();
        assertThat(capacity(node)).isEqualTo("6k");
        until(() -> belowRequests().size() == 1, "the Node has an Event");
        assertThat(belowRequests().get(0)).containsEntry("message", consequences);

        assertThat(advertise(OptionalLong.empty()).getText()).contains("its pods request 8000 MiB, 8000 MiB more");
    }

    private List<Map<String, Object>> belowRequests() {
        return JsonTrees.objects(plane.client().get("events/default"), "items").stream()
                .filter(event -> event.get("reason").equals("VramBelowRequests")
                        && JsonTrees.object(event, "involvedObject").get("name").equals(node))
                .toList();
    }

    @Test
    void onlyThePodsOfTheNodeAreEvicted() throws Exception {
        namespace(SPACE);
        String other = node + "-other";
        TestCluster.node(plane, other);
        run(SPACE, "elsewhere", other, "3000");
        run(SPACE, "leaky", node, "1800");
        start(ActionMode.ARMED, false, false);

        assertRefused(evict(SPACE, "elsewhere", Removal.REMOVAL_EVICT), "the pod is not on the node '" + node + "'");
        assertRefused(evict(SPACE, "leaky", "another-uid", Removal.REMOVAL_EVICT), "the name belongs to another pod");
        assertRefused(evict("gpuwarden", "daemon-" + node, Removal.REMOVAL_EVICT), "no budget");
        assertRefused(evict(SPACE, "leaky", Removal.REMOVAL_DELETE), "--vram.delete is off");
        assertThat(leaves(SPACE, "leaky") || leaves(SPACE, "elsewhere")).isFalse();

        VramAnswer answer = evict(SPACE, "leaky", Removal.REMOVAL_EVICT);
        assertThat(answer.getText()).isEqualTo("the pod " + SPACE + "/leaky is evicted");
        assertThat(answer.getAccepted()).isTrue();
        assertThat(plane.client().find("pod/" + SPACE + "/leaky", ".metadata.deletionGracePeriodSeconds"))
                .isEqualTo("5");
        until(() -> events().contains("gpuwarden has evicted this pod: over its budget"), "the pod has an Event");
        plane.client().deleteNow("pod/" + SPACE + "/leaky");
        assertThat(evict(SPACE, "leaky", "u", Removal.REMOVAL_EVICT).getText()).contains("has ended already");
    }

    @Test
    void aDisruptionBudgetRefusesAnEvictionUnlessDeletionsAreOn() throws Exception {
        namespace(SPACE);
        run(SPACE, "guarded", node, "1800");
        plane.client().apply("""
                apiVersion: policy/v1
                kind: PodDisruptionBudget
                metadata: {name: guard, namespace: %s}
                spec: {minAvailable: 1, selector: {matchLabels: {app: guarded}}}
                """.formatted(SPACE));
        start(ActionMode.ARMED, false, false);
        VramAnswer tried = evict(SPACE, "guarded", Removal.REMOVAL_EVICT);
        assertNotAccepted(tried, "disruption budget");
        assertThat(tried.getUntried()).isFalse();
        assertThat(leaves(SPACE, "guarded")).isFalse();
        start(ActionMode.ARMED, false, true);
        assertThat(evict(SPACE, "guarded", Removal.REMOVAL_EVICT).getText()).contains("is deleted");
        assertThat(leaves(SPACE, "guarded")).isTrue();
        plane.client().deleteNow("poddisruptionbudget/" + SPACE + "/guard");
    }

    @Test
    void aDryRunOnEitherSideOnlyWritesAnEvent() throws Exception {
        namespace(SPACE);
        run(SPACE, "dry", node, "1800");
        start(ActionMode.DRY_RUN, false, false);
        assertRefused(evict(SPACE, "dry", Removal.REMOVAL_EVICT), "its --vram.evictions is dry-run");
        assertThat(evict(SPACE, "dry", Removal.REMOVAL_DRY_RUN).getAccepted()).isTrue();
        assertThat(leaves(SPACE, "dry")).isFalse();
        until(
                () -> events().contains("Dry run: gpuwarden would evict this pod: over its budget"),
                "the pod has an Event");
    }

    @Test
    void requestsThatAreRefusedTakeNoneOfTheOthersRemovals() throws Exception {
        namespace(SPACE);
        run(SPACE, "mine", node, "1800");
        start(ActionMode.DRY_RUN, false, false);
        TestUplink own = uplink;
        for (int i = 0; i < 5; i++) {
            String hostile = node + "-hostile-" + i;
            TestCluster.node(plane, hostile);
            until(() -> cache.node(hostile).isPresent(), "the aggregator has the node");
            uplink = join(hostile);
            for (int request = 0; request < 6; request++) {
                assertRefused(evict(SPACE, "mine", Removal.REMOVAL_DRY_RUN), "the pod is not on the node");
            }
        }
        uplink = own;
        assertThat(evict(SPACE, "mine", Removal.REMOVAL_DRY_RUN).getText()).isEqualTo("dry run: the pod has an Event");
    }

    @Test
    void requestsBeyondTheLimitsAreRefused() throws Exception {
        namespace(SPACE);
        run(SPACE, "many", node, "1800");
        start(ActionMode.DRY_RUN, false, false);
        for (int i = 0; i < 6; i++) {
            assertThat(evict(SPACE, "many", Removal.REMOVAL_DRY_RUN).getAccepted())
                    .isTrue();
        }
        assertRefused(evict(SPACE, "many", Removal.REMOVAL_DRY_RUN), "too many requests to end a pod");
    }
}
