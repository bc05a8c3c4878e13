package dev.gpuwarden.aggregator.objectmonitor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.objectmonitor.CompiledPolicy.Outcome;
import dev.gpuwarden.aggregator.objectmonitor.MonitorPolicy.Damping;
import dev.gpuwarden.aggregator.objectmonitor.MonitorPolicy.EventTemplate;
import dev.gpuwarden.aggregator.objectmonitor.MonitorPolicy.ResourceType;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests each row of the specification's tables on the shipped policies. */
class ShippedPoliciesTest {

    private static final Instant STARTED = Instant.parse("2026-11-22T10:00:00Z");
    private static final Instant LATE = STARTED.plus(Duration.ofMinutes(31));
    private static final List<CompiledPolicy> POLICIES =
            TestPolicies.shipped().stream().map(TestPolicies::compiled).toList();

    private static final String WAITING = "[{name: a, ready: false, state: {waiting: {reason: %s}}}]";
    private static final String RUNNING = "[{name: a, ready: true, state: {running: {}}}]";

    private static boolean matches(Map<String, Object> pod, Instant now) {
        List<Outcome> outcomes =
                POLICIES.stream().map(policy -> policy.evaluate(pod, now)).toList();
        assertThat(outcomes).allMatch(outcome -> outcome.problem().isEmpty());
        return outcomes.stream().anyMatch(Outcome::matches);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            stuck in init containers          | Pending   | [{name: a, ready: false, state: {waiting: {reason: PodInitializing}}}] | true
            init container CrashLoopBackOff   | Pending   | [{name: a, ready: false, state: {waiting: {reason: PodInitializing}}}] | true
            main container CrashLoopBackOff   | Running   | [{name: a, ready: false, state: {waiting: {reason: CrashLoopBackOff}}}] | true
            one of two in CrashLoopBackOff    | Running   | [{name: a, ready: true, state: {running: {}}}, {name: b, ready: false, state: {waiting: {reason: CrashLoopBackOff}}}] | true
            bound and cannot start            | Pending   | [] | true
            ImagePullBackOff                  | Pending   | [{name: a, ready: false, state: {waiting: {reason: ImagePullBackOff}}}] | true
            ErrImagePull                      | Pending   | [{name: a, ready: false, state: {waiting: {reason: ErrImagePull}}}] | true
            Failed                            | Failed    | [{name: a, ready: false, state: {terminated: {exitCode: 1}}}] | true
            phase Unknown                     | Unknown   | [] | true
            healthy                           | Running   | [{name: a, ready: true, state: {running: {}}}] | false
            runs and is not ready             | Running   | [{name: a, ready: false, state: {running: {}}}] | false
            completed                         | Succeeded | [{name: a, ready: false, state: {terminated: {exitCode: 0}}}] | false
            """)
    void policyCatchesFaultyPods(String what, String phase, String containers, boolean caught) {
        for (String namespace : List.of("gpu-operator", "network-operator")) {
            Map<String, Object> pod = TestPolicies.pod(namespace, "validator", "n1", phase, containers);
            assertThat(matches(pod, LATE)).as(namespace).isEqualTo(caught);
            assertThat(matches(pod, STARTED.plus(Duration.ofMinutes(29))))
                    .as("normal initialisation")
                    .isFalse();
            assertThat(matches(pod, STARTED.plus(Duration.ofMinutes(30))))
                    .as("for 30 minutes and not more")
                    .isFalse();
        }
    }

    /** An update of a driver deletes its pods: a container that ignores SIGTERM makes them Failed for a moment. */
    @ParameterizedTest
    @ValueSource(strings = {"gpu-operator", "network-operator"})
    void terminatingPodDoesNotMatch(String namespace) {
        Map<String, Object> pod = TestPolicies.pod(
                namespace,
                "validator",
                "n1",
                "Failed",
                "[{name: a, ready: false, state: {terminated: {exitCode: 137}}}]");
        assertThat(matches(pod, LATE)).isTrue();
        Map<String, Object> metadata = JsonTrees.copy(JsonTrees.object(pod, "metadata"));
        metadata.put("deletionTimestamp", "2026-11-22T10:30:30Z");
        pod.put("metadata", metadata);
        assertThat(matches(pod, LATE)).isFalse();
    }

    private static Map<String, Object> daemonPod(String namespace, String name, String labels, String selector) {
        return TestPolicies.yaml("""
                apiVersion: v1
                kind: Pod
                metadata: {namespace: %s, name: %s, labels: {%s}, ownerReferences: [{kind: DaemonSet, name: d}]}
                spec: {nodeName: n1, nodeSelector: {%s}, containers: [{name: a, image: x}]}
                status: {phase: Pending, startTime: "2026-11-22T10:00:00Z"}
                """.formatted(namespace, name, labels, selector));
    }

    @ParameterizedTest(name = "{0}/{1} with {2} and {3}")
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            gpu-operator           | nvidia-driver-daemonset-1  |                                            |                                      | 0
            nvidia-gpu-operator    | nvidia-driver-daemonset-1  |                                            |                                      | 0
            gpu-operator-resources | gpu-feature-discovery-x1   |                                            |                                      | 0
            my-gpus                | nvidia-dcgm-x1             |                                            | nvidia.com/gpu.deploy.dcgm: "true"   | 0
            my-gpus                | anything                   | app.kubernetes.io/managed-by: gpu-operator |                                      | 0
            my-gpus                | nvidia-dcgm-x1             |                                            |                                      | -
            gpu-operator           | log-shipper-1              |                                            |                                      | -
            nvidia-gpu-operator    | log-shipper-1              | app.kubernetes.io/managed-by: Helm         |                                      | -
            team                   | trainer-1                  |                                            | nvidia.com/gpu.deploy.operands: "true" | -
            network-operator       | mofed-ubuntu24.04-ds-x1    |                                            |                                      | 1
            nvidia-network-operator | rdma-shared-dp-ds-x1      |                                            |                                      | 1
            my-nics                | anything                   | ds-owner: NicClusterPolicy                 |                                      | 1
            nvidia-network-operator | log-shipper-1             |                                            |                                      | -
            my-nics                | mofed-ubuntu24.04-ds-x1    |                                            |                                      | -
            default                | validator                  |                                            |                                      | -
            """)
    void podsOfAnOperatorAreKnownByItsLabelsInAnyNamespace(
            String namespace, String name, String labels, String selector, String policy) {
        Map<String, Object> pod =
                daemonPod(namespace, name, labels == null ? "" : labels, selector == null ? "" : selector);
        for (int i = 0; i < 2; i++) {
            assertThat(POLICIES.get(i).evaluate(pod, LATE).matches())
                    .as(POLICIES.get(i).source().name())
                    .isEqualTo(policy.equals(String.valueOf(i)));
        }
    }

    @Test
    void policySelectsHealthyPodsOfItsOperatorToo() {
        for (int i = 0; i < 2; i++) {
            String own = i == 0 ? "gpu-operator" : "network-operator";
            assertThat(POLICIES.get(i).selects(TestPolicies.pod(own, "validator", "n1", "Running", RUNNING)))
                    .isTrue();
            String other = i == 0 ? "network-operator" : "gpu-operator";
            for (String namespace : List.of(other, "default")) {
                assertThat(POLICIES.get(i).selects(TestPolicies.pod(namespace, "validator", "n1", "Failed", RUNNING)))
                        .isFalse();
            }
        }
        assertThat(POLICIES.get(2).selects(TestPolicies.pod("Failed", RUNNING)))
                .as("it requests no GPU")
                .isFalse();
    }

    @Test
    void podWithoutNodeIsNotReported() {
        assertThat(matches(TestPolicies.pod("gpu-operator", "validator", "", "Pending", "[]"), LATE))
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource({"ReplicaSet", "Deployment", "Job", "''"})
    void podsOutsideDaemonSetsAreNotMonitored(String owner) {
        Map<String, Object> pod = TestPolicies.pod("Failed", "[]");
        Map<String, Object> metadata = JsonTrees.copy(JsonTrees.object(pod, "metadata"));
        metadata.remove("ownerReferences");
        if (!owner.isEmpty()) {
            metadata.put("ownerReferences", List.of(Map.of("kind", owner, "name", "x")));
        }
        pod.put("metadata", metadata);
        assertThat(matches(pod, LATE)).isFalse();
    }

    @Test
    void eventsAreAsSpecified() {
        assertThat(TestPolicies.shipped())
                .extracting(MonitorPolicy::name)
                .containsExactly(
                        "gpu-operator-pods-health",
                        "network-operator-pod-health",
                        "gpu-pods-rejected",
                        "mig-pods-rejected",
                        "node-silent");
        assertThat(TestPolicies.shipped())
                .extracting(MonitorPolicy::enabled)
                .containsExactly(true, true, true, true, false);
        assertThat(TestPolicies.shipped().get(0).event())
                .isEqualTo(new EventTemplate(
                        "Software",
                        true,
                        "GPU Operator DaemonSet pod is not healthy",
                        RecommendedAction.CONTACT_SUPPORT,
                        "",
                        List.of("GPU_OPERATOR_POD_UNHEALTHY")));
        assertThat(TestPolicies.shipped().get(1).event().errorCodes())
                .containsExactly("NETWORK_OPERATOR_POD_UNHEALTHY");
    }

    private static Map<String, Object> rejected(String limits) {
        return rejected(limits, "UnexpectedAdmissionError");
    }

    private static Map<String, Object> rejected(String limits, String reason) {
        return TestPolicies.yaml("""
                apiVersion: v1
                kind: Pod
                metadata: {namespace: jobs, name: train-1, ownerReferences: [{kind: ReplicaSet, name: train}]}
                spec: {nodeName: n1, containers: [{name: side, image: x}, {name: a, image: x, resources: {limits: %s}}]}
                status:
                  phase: Failed
                  reason: %s
                  message: "Pod was rejected: Allocate failed due to rpc error: code = Unknown, which is unexpected"
                  startTime: "2026-11-22T10:00:00Z"
                """.formatted(limits, reason));
    }

    @Test
    void rejectedGpuPodsAreCountedForTenMinutes() {
        assertThat(TestPolicies.shipped().get(2).minMatches()).isEqualTo(3);
        assertThat(TestPolicies.shipped().get(2).event().message()).contains("10 minutes");
        assertThat(TestPolicies.shipped().get(3).minMatches())
                .as("a race of changing partitions rejects a few")
                .isEqualTo(10);
        String mig = "{cpu: 1, nvidia.com/mig-1g.5gb: 2}";
        for (String limits : List.of("{nvidia.com/gpu: 1}", mig)) {
            assertThat(matches(rejected(limits), STARTED.plusSeconds(599))).isTrue();
            assertThat(POLICIES.get(limits.equals(mig) ? 2 : 3)
                            .evaluate(rejected(limits), STARTED)
                            .matches())
                    .as("counted once")
                    .isFalse();
            Outcome outcome = POLICIES.get(limits.equals(mig) ? 3 : 2).evaluate(rejected(limits), STARTED);
            assertThat(outcome.node()).isEqualTo("n1");
            assertThat(outcome.changes().orElseThrow())
                    .isBetween(
                            STARTED.plusSeconds(600), STARTED.plusSeconds(600).plusMillis(2));
        }
        assertThat(matches(rejected("{cpu: 1, example.com/nic: 1}"), STARTED)).isFalse();
        assertThat(matches(rejected("{nvidia.com/hostdev: 1}"), STARTED)).isFalse();
        assertThat(matches(rejected("{nvidia.com/gpu: 1}", "OutOfnvidia.com/gpu"), STARTED))
                .isTrue();
        assertThat(matches(rejected("{nvidia.com/mig-1g.5gb: 1}", "OutOfnvidia.com/mig-1g.5gb"), STARTED))
                .isTrue();
        assertThat(matches(rejected("{nvidia.com/gpu: 1}", "OutOfcpu"), STARTED))
                .as("no matter of the GPUs")
                .isFalse();
        Map<String, Object> other = rejected("{nvidia.com/gpu: 1}");
        Map<String, Object> status = JsonTrees.copy(JsonTrees.object(other, "status"));
        status.put("reason", "Evicted");
        other.put("status", status);
        assertThat(matches(other, STARTED)).isFalse();
    }

    @Test
    void silentNodeIsFoundWhenItsPolicyIsEnabled() {
        CompiledPolicy silent = POLICIES.get(4);
        String health = "{metadata: {name: n1}, status: {monitors: [{reported: '2026-11-22T09:00:00Z'}]%s}}";
        Map<String, Object> resource = TestPolicies.yaml(health.formatted(", reported: '2026-11-22T10:00:00Z'"));
        assertThat(silent.evaluate(resource, STARTED.plus(Duration.ofMinutes(20)))
                        .matches())
                .isFalse();
        Outcome late = silent.evaluate(resource, STARTED.plus(Duration.ofMinutes(21)));
        assertThat(late.matches()).isTrue();
        assertThat(late.node()).isEqualTo("n1");
        assertThat(silent.source().damping()).isEqualTo(new Damping(Duration.ofMinutes(10), Duration.ofMinutes(5)));
        Outcome never = silent.evaluate(TestPolicies.yaml(health.formatted("")), LATE);
        assertThat(never.matches()).as("no daemon has ever reported").isFalse();
        assertThat(never.problem()).isEmpty();
    }

    @Test
    void timeAtWhichAPodIsBrokenForTooLongIsForeseen() {
        Map<String, Object> pod = TestPolicies.pod("Pending", WAITING.formatted("ImagePullBackOff"));
        Outcome early = POLICIES.get(0).evaluate(pod, STARTED.plusSeconds(10));
        assertThat(early.timed()).isTrue();
        Instant change = early.changes().orElseThrow();
        assertThat(change)
                .isBetween(
                        STARTED.plus(Duration.ofMinutes(30)),
                        STARTED.plus(Duration.ofMinutes(30)).plusMillis(2));
        assertThat(matches(pod, change)).isTrue();
        assertThat(matches(pod, change.minusMillis(2))).isFalse();
        assertThat(POLICIES.get(1).evaluate(pod, STARTED).timed())
                .as("of another namespace")
                .isFalse();
    }

    @Test
    void healthyPodIsNotKept() {
        Outcome well = POLICIES.get(0).evaluate(TestPolicies.pod("Running", RUNNING), STARTED);
        assertThat(well.timed()).isFalse();
        assertThat(well.changes()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            Running   | [{name: a, ready: true}]                              | true
            Running   | [{name: a, ready: false}]                             | false
            Running   | [{name: a, ready: true}, {name: b, ready: false}]     | false
            Running   | []                                                    | false
            Pending   | []                                                    | false
            Succeeded | [{name: a, ready: false}]                             | true
            """)
    void podIsWellWhenAllContainersAreReady(String phase, String containers, boolean well) {
        ResourceType pods = new ResourceType("", "v1", "Pod");
        assertThat(RecoveryRule.from(pods, TestPolicies.pod(phase, containers)).isPresent())
                .isEqualTo(well);
        assertThat(RecoveryRule.from(new ResourceType("x.io", "v1", "Pod"), TestPolicies.pod(phase, containers)))
                .isPresent();
    }
}
