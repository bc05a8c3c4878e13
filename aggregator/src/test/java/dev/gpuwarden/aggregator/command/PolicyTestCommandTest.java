package dev.gpuwarden.aggregator.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.cli.UserError;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The results for authors of policies, without a cluster. */
class PolicyTestCommandTest {

    private static final String POLICIES = Path.of(
                    System.getProperty("gpuwarden.repository"), "packaging/src/main/kubernetes/monitor-policies.yaml")
            .toString();
    private static final String POD = """
            apiVersion: v1
            kind: Pod
            metadata: {name: %s, namespace: gpu-operator, labels: {app.kubernetes.io/managed-by: gpu-operator},
              ownerReferences: [{kind: DaemonSet, name: d}]}
            spec: {nodeName: n1, containers: [{name: a}]}
            status: {phase: %s, startTime: "2026-11-22T10:00:00Z", containerStatuses: [{name: a, ready: %s, state: {}}]}
            """;

    @TempDir
    Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... arguments) {
        Clock clock = Clock.fixed(Instant.parse("2026-11-22T12:00:00Z"), ZoneOffset.UTC);
        CommandLine command = PolicyCommand.with(clock)
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .setExecutionExceptionHandler((thrown, line, parsed) -> {
                    if (thrown instanceof UserError) {
                        err.write(String.valueOf(thrown.getMessage()));
                        return 2;
                    }
                    throw thrown;
                });
        return command.execute(arguments);
    }

    private String file(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text).toString();
    }

    @Test
    void reportsMatchesWithTheirNodesAndEvents() throws Exception {
        String pods = file(
                "pods.yaml",
                String.join(
                        "---\n",
                        POD.formatted("broken", "Failed", "false"),
                        POD.formatted("well", "Running", "true"),
                        POD.formatted("unready", "Running", "false")));
        assertThat(run("test", POLICIES, pods)).isEqualTo(1);
        assertThat(out.toString().lines())
                .anyMatch(
                        line -> line.matches(
                                "gpu-operator-pods-health +Pod gpu-operator/broken +matches +n1 .*fatal Software GPU_OPERATOR_POD_UNHEALTHY CONTACT_SUPPORT: GPU Operator DaemonSet pod is not healthy.*"))
                .anyMatch(line -> line.matches("gpu-operator-pods-health +Pod gpu-operator/well +does-not-match *"))
                .anyMatch(
                        line -> line.matches(
                                "gpu-operator-pods-health +Pod gpu-operator/unready +does-not-match .*stays until all containers are ready.*"));
    }

    @Test
    void reportsTheTimeAtWhichAnObjectWillMatch() throws Exception {
        String pods = file("pods.yaml", POD.formatted("broken", "Failed", "false"));
        assertThat(run("test", POLICIES, pods, "--now", "2026-11-22T10:10:00Z", "-o", "json"))
                .isZero();
        assertThat(out.toString())
                .contains("\"schema\": \"gpuwarden.policy-test/v1\"", "\"changes\": \"2026-11-22T10:30:00.");
    }

    @Test
    void readsListsInKubectlsFormat() throws Exception {
        String list = "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Node, metadata: {name: n1}}]}";
        assertThat(run("test", POLICIES, file("list.yaml", list))).isZero();
        assertThat(out.toString()).contains("Node n1", "not-asked", "the policy is about each Pod of v1");
    }

    private String policy(String predicate, String association) throws IOException {
        return file("policy.yaml", """
                apiVersion: gpuwarden.dev/v1alpha1
                kind: MonitorPolicy
                metadata: {name: p}
                spec:
                  resource: {version: v1, kind: Pod}
                  predicate: {expression: "%s"}
                  nodeAssociation: {expression: "%s"}
                  healthEvent: {componentClass: Software}
                """.formatted(predicate, association));
    }

    @Test
    void reportsTheEffectOfSeveralObjectsTogether() throws Exception {
        String pod = """
                apiVersion: v1
                kind: Pod
                metadata: {name: %s, namespace: jobs}
                spec: {nodeName: n1, containers: [{name: a, resources: {limits: {nvidia.com/gpu: 1}}}]}
                status: {phase: Failed, reason: UnexpectedAdmissionError, startTime: "2026-11-22T11:55:00Z"}
                """;
        String three = String.join("---\n", pod.formatted("a"), pod.formatted("b"), pod.formatted("c"));
        assertThat(run("test", POLICIES, file("pods.yaml", three))).isEqualTo(1);
        assertThat(out.toString().lines())
                .anyMatch(line -> line.matches(
                        "gpu-pods-rejected +Pod jobs/a +matches +n1 +2026-11-22T12:05:00.* counts for its node *"))
                .anyMatch(
                        line -> line.matches(
                                "gpu-pods-rejected: 3 of these objects match and concern n1, 3 raise its fault: fatal Software GPU_PODS_REJECTED .*3 match, 3 raise this: jobs/a, jobs/b, jobs/c.*"));
        assertThat(run("test", POLICIES, file("pods.yaml", three), "-o", "json"))
                .isEqualTo(1);
        assertThat(out.toString()).contains("\"summaries\": [");
    }

    @Test
    void reportsTheHoldTimeAndTooManyMatches() throws Exception {
        String policy = file("policy.yaml", """
                apiVersion: gpuwarden.dev/v1alpha1
                kind: MonitorPolicy
                metadata: {name: p}
                spec:
                  resource: {version: v1, kind: Disk}
                  predicate: {expression: "resource.spec.bad"}
                  nodeAssociation: {expression: "resource.spec.node"}
                  minMatchSeconds: 60
                  healthEvent: {componentClass: Software, message: broken}
                """);
        String disk = "{apiVersion: v1, kind: Disk, metadata: {name: %s}, spec: {bad: %s, node: n1}}\n";
        String disks = String.join(
                "---\n",
                disk.formatted("a", true),
                disk.formatted("b", true),
                disk.formatted("c", true),
                disk.formatted("d", false));
        assertThat(run("test", policy, file("disks.yaml", disks))).isEqualTo(1);
        assertThat(out.toString())
                .contains(
                        "broken; reported once it has matched for 60 s",
                        "had it matched before, that stays until it has been healthy for 300 s",
                        "p: 3 of 4 objects match, more than half: were these all, nothing would be reported");
    }

    @Test
    void policyThatCannotBeEvaluatedIsUndecided() throws Exception {
        String pods = file("pods.yaml", POD.formatted("broken", "Failed", "false"));
        assertThat(run("test", policy("resource.spec.nothing == 'x'", "resource.spec.nodeName"), pods))
                .isEqualTo(3);
        assertThat(out.toString()).contains("undecided", "nothing");
        assertThat(run("test", policy("true", "resource.spec.nothing"), pods)).isEqualTo(3);
        assertThat(out.toString()).contains("nodeAssociation");
    }

    @Test
    void mistakesAreReportedWithTheirPlace() throws Exception {
        String pods = file("pods.yaml", POD.formatted("broken", "Failed", "false"));
        for (List<String> wrong : List.of(
                List.of("resource.metadata.nam == 'x'", "did you mean name?"),
                List.of("resource.status.phase ==", "line 1 column"))) {
            assertThat(run("test", policy(wrong.get(0), "'n'"), pods)).isEqualTo(2);
            assertThat(err.toString()).contains("policy p: DoesNotCompile: predicate.expression: ", wrong.get(1));
        }
        assertThat(run("test", pods, pods)).isEqualTo(2);
        assertThat(err.toString()).contains("expected gpuwarden.dev/v1alpha1 MonitorPolicy, found v1 Pod");
        assertThat(run("test", folder.resolve("none").toString(), pods)).isEqualTo(2);
        assertThat(run("test", file("odd.yaml", "a: [1"), pods)).isEqualTo(2);
        assertThat(err.toString()).contains("not YAML");
        assertThat(run("test", POLICIES, pods, "--now", "yesterday")).isEqualTo(2);
    }
}
