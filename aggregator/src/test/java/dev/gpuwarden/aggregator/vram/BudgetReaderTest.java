package dev.gpuwarden.aggregator.vram;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.api.v1.BudgetedPod;
import dev.gpuwarden.api.v1.BudgetedPods;
import dev.gpuwarden.api.v1.ContainerBudget;
import dev.gpuwarden.api.vram.BudgetReader;
import dev.gpuwarden.api.vram.RemovalCheck;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests of the pure readers of a pod: its budget, and whether it may be ended. */
class BudgetReaderTest {

    private static final String RESOURCE = "gpuwarden.dev/vram-mib";

    private static final String POD = """
            {"metadata": {"namespace": "ml", "name": "ocr-7d9-x", "uid": "u1", "labels": {"pod-template-hash": "7d9"},
              "ownerReferences": [{"controller": true, "kind": "ReplicaSet", "name": "ocr-7d9", "uid": "r1"}]},
             "spec": {"nodeName": "n1", "priority": 100, "terminationGracePeriodSeconds": 44,
               "initContainers": [
                 {"name": "load", "resources": {"requests": {"gpuwarden.dev/vram-mib": "2k"}}},
                 {"name": "proxy", "restartPolicy": "Always", "resources": {"limits": {"gpuwarden.dev/vram-mib": "100"}}}],
               "containers": [
                 {"name": "main", "resources": {"requests": {"gpuwarden.dev/vram-mib": "5k", "cpu": "1"}}},
                 {"name": "log", "resources": {"requests": {"cpu": "1"}}}]},
             "status": {"phase": "Running", "startTime": "2026-06-02T10:00:00Z"}}""";

    private static Map<String, Object> pod(String from, String to) throws Exception {
        assertThat(POD).contains(from);
        return Json.readObject(POD.replace(from, to));
    }

    private static BudgetedPod read(String from, String to) throws Exception {
        return BudgetReader.of(pod(from, to), RESOURCE).orElseThrow();
    }

    @Test
    void containersWithTheResourceAreListedWithTheirRolesAndTexts() throws Exception {
        BudgetedPod pod = read("", "");
        assertThat(pod.getContainersList())
                .extracting(
                        ContainerBudget::getName,
                        each -> each.getRole().name().replace("CONTAINER_ROLE_", ""),
                        ContainerBudget::getQuantity)
                .map(Object::toString)
                .containsExactly(
                        "(\"load\", \"INIT\", \"2k\")",
                        "(\"proxy\", \"SIDECAR\", \"100\")",
                        "(\"main\", \"ORDINARY\", \"5k\")");
        assertThat(pod.getController()).as("all revisions are one workload").isEqualTo("Deployment/ocr");
        assertThat(VramCodec.started(pod)).isEqualTo(Instant.parse("2026-06-02T10:00:00Z"));
        assertThat(pod.getPriority()).isEqualTo(100);
        assertThat(VramCodec.isGood(BudgetedPods.newBuilder().addPods(pod).build()))
                .isTrue();
    }

    @Test
    void aPodWithoutBudgetOrAfterItsEndIsNotListed() throws Exception {
        assertThat(BudgetReader.of(pod("gpuwarden.dev/vram-mib", "other.dev/mib"), RESOURCE))
                .isEmpty();
        assertThat(BudgetReader.of(pod("Running", "Succeeded"), RESOURCE)).isEmpty();
        assertThat(BudgetReader.of(pod("Running", "Failed"), RESOURCE)).isEmpty();
    }

    @Test
    void marksOfAPodThatMustStayAreListed() throws Exception {
        assertThat(read("\"name\": \"ocr-7d9-x\",", "\"name\": \"x\", \"deletionTimestamp\": \"2026-06-02T11:00:00Z\",")
                        .getLeaving())
                .isTrue();
        assertThat(read("ReplicaSet", "DaemonSet").getDaemonSet()).isTrue();
        assertThat(read(
                                "\"name\": \"ocr-7d9-x\",",
                                "\"name\": \"x\", \"annotations\": {\"kubernetes.io/config.mirror\": \"1\"},")
                        .getMirror())
                .isTrue();
        assertThat(read("\"pod-template-hash\": \"7d9\"", "\"gpuwarden.dev/vram-recycle\": \"off\"")
                        .getOptedOut())
                .isTrue();
    }

    @Test
    void aPodWithTooManyContainersOrTooLongTextsStaysWithinTheLimits() throws Exception {
        String many = IntStream.range(0, 70)
                .mapToObj(
                        i -> "{\"name\": \"c" + i + "\", \"resources\": {\"requests\": {\"gpuwarden.dev/vram-mib\": \""
                                + "1".repeat(100) + "\"}}}")
                .collect(Collectors.joining(", "));
        BudgetedPod pod = read("{\"name\": \"log\", \"resources\": {\"requests\": {\"cpu\": \"1\"}}}", many);
        assertThat(pod.getIncomplete()).isTrue();
        assertThat(VramCodec.isGood(BudgetedPods.newBuilder().addPods(pod).build()))
                .isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"nodeName\": \"n1\" | \"nodeName\": \"n2\" | not on the node 'n1'",
                "\"uid\": \"u1\" | \"uid\": \"u2\" | another pod, with the UID u2",
                "\"priority\": 100 | \"priority\": 2000001000 | priority of a system pod",
                "ReplicaSet | DaemonSet | belongs to a DaemonSet",
                "\"labels\": { | \"annotations\": {\"kubernetes.io/config.mirror\": \"1\"}, \"labels\": { | a file of the node",
                "\"pod-template-hash\": \"7d9\" | \"gpuwarden.dev/vram-recycle\": \"off\" | vram-recycle=off",
                "Running | Succeeded | has ended",
                "gpuwarden.dev/vram-mib | other.dev/mib | no budget",
            })
    void podsThatMustStayAreRefused(String from, String to, String why) throws Exception {
        assertThat(RemovalCheck.refusal("n1", "u1", pod(from, to), RESOURCE).orElseThrow())
                .contains(why);
    }

    @Test
    void theShorterGracePeriodCounts() throws Exception {
        Map<String, Object> pod = pod("", "");
        assertThat(RemovalCheck.refusal("n1", "u1", pod, RESOURCE)).isEqualTo(Optional.empty());
        assertThat(RemovalCheck.grace(Duration.ofSeconds(60), pod)).isEqualTo(Duration.ofSeconds(44));
        assertThat(RemovalCheck.grace(Duration.ofSeconds(5), pod)).isEqualTo(Duration.ofSeconds(5));
        assertThat(RemovalCheck.grace(Duration.ofSeconds(60), pod("\"terminationGracePeriodSeconds\": 44,", "")))
                .isEqualTo(Duration.ofSeconds(30));
    }
}
