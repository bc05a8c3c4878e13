package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.drain.DrainPolicies.DrainMode;
import dev.gpuwarden.testkit.cluster.ApiCall;
import dev.gpuwarden.testkit.cluster.ApiException;
import dev.gpuwarden.testkit.cluster.ApiFault;
import dev.gpuwarden.testkit.cluster.FaultyApi;
import dev.gpuwarden.testkit.cluster.UsedRights;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests of drains on a real API server with the shipped rights. */
@Tag("api")
@ExtendWith(UsedRights.class)
class DrainClusterTest extends DrainFixture {

    /** The wait for a retry. With two refused pods, the eviction of each is retried within 1.2 s. */
    private static final long LONGEST_PAUSE_MILLIS = 2_500;

    @Test
    void quarantinedNodeIsDrainedAndReportsIt() {
        pods.run(bad, "one");
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = steer(api, true, TestPods.policies(DrainMode.IMMEDIATE, AN_HOUR))) {
            until(controllers::works, "it leads");
            fleet.fail(bad);
            until(() -> pods.asked("one"), "the pod is evicted");
            assertThat(pods.get("one", ".status.conditions[?(@.type==\"DisruptionTarget\")].reason"))
                    .as("by eviction, which Jobs know from a failure")
                    .isEqualTo("EvictionByEvictionAPI");
            assertThat(pods.get("one", ".metadata.deletionGracePeriodSeconds"))
                    .as("its own, which the API server gives a pod that names none")
                    .isEqualTo("30");
            until(() -> state().equals("draining"), "it is being drained");
            pods.end("one");
            until(() -> state().equals("drain-succeeded"), "it is drained");
            assertThat(drain()).contains("\"finished\"", "\"left\":0");
            until(() -> fleet.eventReasons(bad).contains("Drained"), "its Event is written");
            assertThat(decisions()).containsExactly("start", "evict", "evicted", "finish");
            assertThat(controllers.drains().orElseThrow().nodes()).isZero();

            runWithGpu("late", "GPU-1");
            until(() -> pods.asked("late"), "a pod that comes after the end opens the drain again");
            assertThat(state()).isEqualTo("draining");
            until(() -> fleet.eventReasons(bad).contains("DrainReopened"), "its Event is written");
            assertThat(controllers.drains().orElseThrow().nodes()).isOne();
            pods.end("late");
            until(() -> state().equals("drain-succeeded"), "it is drained again");
            assertThat(decisions()).containsExactly("start", "evict", "evicted", "finish", "reopen");

            fleet.heal(bad);
            until(() -> !fleet.cordoned(bad), "it returns");
            assertThat(drain()).isEmpty();
            assertThat(state()).isEmpty();
            assertThat(controllers.failing()).isZero();
        }
    }

    @Test
    void returnDuringDrainLeavesPodsThatAreNotEvictedYet() throws Exception {
        List.of("a", "b", "c").forEach(name -> pods.run(bad, name));
        try (FaultyApi faulty = new FaultyApi(fleet.plane);
                KubeClient api = fleet.asAggregator(faulty);
                Controllers controllers = steer(api, true, TestPods.policies(DrainMode.IMMEDIATE, AN_HOUR))) {
            // The refusals of a budget that permits one eviction.
            faulty.fail(
                    ApiCall.of("POST", "/b/eviction").or(ApiCall.of("POST", "/c/eviction")),
                    ApiFault.tooMany(Duration.ofSeconds(1)));
            until(controllers::works, "it leads");
            fleet.fail(bad);
            until(() -> pods.asked("a"), "one is evicted");
            until(
                    () -> audits.stream()
                                    .filter(audit -> audit.decision().equals("refused"))
                                    .count()
                            >= 2,
                    "two are refused");
            until(() -> drain().contains("the API server is busy"), "the node has the refusal");
            until(() -> fleet.eventReasons(bad).contains("DrainBlocked"), "its Event is written");
            fleet.heal(bad);
            until(() -> decisions().contains("cancel"), "it is cancelled");
            faulty.heal();
            assertThat(audits.stream()
                            .filter(audit -> audit.decision().equals("cancel"))
                            .findFirst()
                            .orElseThrow()
                            .more()
                            .get("pods"))
                    .asInstanceOf(InstanceOfAssertFactories.LIST)
                    .containsExactly(pods.path("b"), pods.path("c"));
            Thread.sleep(LONGEST_PAUSE_MILLIS);
            assertThat(pods.untouched()).containsExactly("b", "c");
            assertThat(drain()).isEmpty();
        }
    }

    @Test
    void uncordonStopsTheDrainImmediately() throws Exception {
        List.of("a", "b").forEach(name -> pods.run(bad, name));
        try (FaultyApi faulty = new FaultyApi(fleet.plane);
                KubeClient api = fleet.asAggregator(faulty);
                Controllers controllers = steer(api, true, TestPods.policies(DrainMode.IMMEDIATE, AN_HOUR))) {
            faulty.fail(ApiCall.of("POST", "/eviction"), ApiFault.tooMany(Duration.ofSeconds(1)));
            until(controllers::works, "it leads");
            fleet.fail(bad);
            until(() -> decisions().contains("refused"), "they are refused");
            fleet.uncordon(bad);
            until(() -> decisions().contains("cancel"), "it is cancelled");
            faulty.heal();
            Thread.sleep(LONGEST_PAUSE_MILLIS);
            assertThat(pods.untouched()).containsExactly("a", "b");
            assertThat(state()).isEmpty();
        }
    }

    @Test
    void podIsDeletedAfterItsTimeout() {
        pods.run(bad, "slow");
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers =
                        steer(api, true, TestPods.policies(DrainMode.DELETE_AFTER_TIMEOUT, Duration.ofSeconds(4)))) {
            until(controllers::works, "it leads");
            fleet.fail(bad);
            until(() -> drain().contains("it is deleted at"), "the node has the time");
            assertThat(pods.asked("slow")).isFalse();
            until(() -> fleet.eventReasons(bad).contains("WaitingBeforeForceDelete"), "its Event is written");
            until(() -> pods.asked("slow"), "it is deleted");
            // The pod shows its deletion before the answer is received and recorded.
            until(() -> decisions().contains("deleted"), "the audit has it");
            assertThat(decisions()).containsExactly("start", "delete", "deleted");
            pods.end("slow");
            until(() -> state().equals("drain-succeeded"), "it is drained");
        }
    }

    @Test
    void dryRunReportsAndChangesNoPod() {
        pods.run(bad, "one");
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = steer(api, false, TestPods.policies(DrainMode.IMMEDIATE, AN_HOUR))) {
            until(controllers::works, "it leads");
            fleet.fail(bad);
            until(() -> fleet.eventReasons(bad).contains("DrainDryRun"), "its Event is written");
            assertThat(audits).hasSize(1);
            assertThat(Json.write(audits.get(0).toTree()))
                    .contains("\"mode\":\"dry_run\"", "would evict " + pods.path("one"));
            assertThat(pods.untouched()).containsExactly("one");
            assertThat(drain()).isEmpty();
            assertThat(state()).isEqualTo("quarantined");
            until(() -> controllers.drains().orElseThrow().nodes() == 0, "its pods are followed no more");
        }
    }

    /** Returns true if the API server would refuse the eviction. */
    private boolean refuses(String name) {
        try {
            fleet.client.post("pod/" + pods.path(name) + "/eviction?dryRun=All", """
                    {"metadata": {"name": "%s"}, "deleteOptions": {"dryRun": ["All"]}}""".formatted(name));
            return false;
        } catch (ApiException e) {
            return String.valueOf(e.getMessage()).contains("not before tonight");
        }
    }

    @Test
    void refusalOfAnyPolicyIsReportedAndPodEndsWithItsContainers() {
        fleet.client.apply("""
                apiVersion: admissionregistration.k8s.io/v1
                kind: ValidatingAdmissionPolicy
                metadata: {name: keeps}
                spec:
                  failurePolicy: Fail
                  matchConstraints:
                    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods/eviction]}]
                  validations: [{expression: "request.name != 'kept'", message: not before tonight}]
                ---
                apiVersion: admissionregistration.k8s.io/v1
                kind: ValidatingAdmissionPolicyBinding
                metadata: {name: keeps}
                spec: {policyName: keeps, validationActions: [Deny]}
                """);
        pods.run(bad, "kept");
        pods.run(bad, "held", ", finalizers: [example.com/hold]", "");
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = steer(api, true, TestPods.policies(DrainMode.IMMEDIATE, AN_HOUR))) {
            until(controllers::works, "it leads");
            until(() -> refuses("kept"), "the policy is in force");
            fleet.fail(bad);
            until(() -> pods.asked("held"), "one is evicted");
            until(() -> drain().contains("not before tonight"), "the node names the policy");
            assertThat(pods.asked("kept")).isFalse();
            fleet.client.delete("validatingadmissionpolicybinding/keeps");
            until(() -> pods.asked("kept"), "it is tried again");
            pods.end("kept");
            pods.status("held", """
                    {"containerStatuses": [{"name": "main", "image": "i", "imageID": "i", "ready": false,
                    "restartCount": 0, "state": {"terminated": {"exitCode": 0}}}]}""");
            until(() -> state().equals("drain-succeeded"), "it is drained, though the object is there");
            assertThat(pods.get("held", ".metadata.name")).isEqualTo("held");
        }
    }
}
