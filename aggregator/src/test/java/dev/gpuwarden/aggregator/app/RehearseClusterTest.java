package dev.gpuwarden.aggregator.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.command.RehearseCommand;
import dev.gpuwarden.aggregator.nodehealth.TestGpus;
import dev.gpuwarden.cli.CommandGroup;
import dev.gpuwarden.cli.NamedCommand;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.testkit.cluster.ApiCall;
import dev.gpuwarden.testkit.cluster.ApiFault;
import dev.gpuwarden.testkit.cluster.FaultyApi;
import dev.gpuwarden.testkit.cluster.MicroTime;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** `gpuwarden rehearse` on a real API server: it reports the whole timeline, and changes nothing. */
@Tag("api")
class RehearseClusterTest extends DrainCommandFixture {

    private static final String NAMESPACE = "rehearsal";
    private static final List<String> TOUCHED = List.of(
            "/api/v1/nodes",
            "/api/v1/pods",
            "/api/v1/events",
            "/api/v1/configmaps",
            "/apis/policy/v1/poddisruptionbudgets",
            "/apis/batch/v1/jobs",
            "/apis/coordination.k8s.io/v1/leases",
            "/apis/gpuwarden.dev/v1alpha1/nodehealths",
            "/apis/janitor.dgxc.nvidia.com/v1alpha1/gpuresets",
            "/apis/janitor.dgxc.nvidia.com/v1alpha1/rebootnodes");

    /** Creates an armed aggregator that leads, as far as objects show one. Its ServiceAccount may do all. */
    @BeforeAll
    static void aggregator() {
        fleet.client.apply("""
                {apiVersion: v1, kind: Namespace, metadata: {name: NS}}
                ---
                {apiVersion: v1, kind: ServiceAccount, metadata: {name: gpuwarden-aggregator, namespace: NS}}
                ---
                apiVersion: rbac.authorization.k8s.io/v1
                kind: ClusterRoleBinding
                metadata: {name: NS}
                roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
                subjects: [{kind: ServiceAccount, name: gpuwarden-aggregator, namespace: NS}]
                ---
                {apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: gpuwarden-aggregator, namespace: NS},
                 spec: {holderIdentity: a, leaseDurationSeconds: 3600, renewTime: 'NOW'}}
                ---
                {apiVersion: v1, kind: ConfigMap, metadata: {name: gpuwarden-breaker, namespace: NS, annotations: {
                 gpuwarden.dev/quarantine-mode: armed, gpuwarden.dev/breaker-pools: 'all;;rate=100%/5m;level=100%'}}, data: {}}
                ---
                apiVersion: apps/v1
                kind: Deployment
                metadata: {name: gpuwarden-aggregator, namespace: NS}
                spec:
                  selector: {matchLabels: {app: a}}
                  template:
                    metadata: {labels: {app: a}}
                    spec:
                      containers:
                        - name: aggregator
                          image: example.com/gpuwarden:1
                          args: [aggregator, '--drain.namespaces=*=Immediate']
                          env:
                            - {name: GPUWARDEN_QUARANTINE_MODE, value: armed}
                            - {name: GPUWARDEN_DRAIN_MODE, value: armed}
                            - {name: GPUWARDEN_REMEDIATION_MODE, value: armed}
                            - {name: GPUWARDEN_JANITOR_IMAGE, value: 'example.com/gpuwarden:1'}
                """.replace("NS", NAMESPACE).replace("NOW", MicroTime.of(Instant.now())));
    }

    private record Result(int code, String out, String err) {
        Map<String, Object> tree() throws Exception {
            return Json.readObject(out);
        }

        /** Returns the steps of a stage as `VERDICT WHAT: WHY`. */
        List<String> steps(String stage) throws Exception {
            return JsonTrees.objects(tree(), "steps").stream()
                    .filter(step -> JsonTrees.text(step, "stage").equals(stage))
                    .map(step -> JsonTrees.text(step, "verdict") + " " + JsonTrees.text(step, "what") + ": "
                            + JsonTrees.text(step, "why"))
                    .toList();
        }
    }

    private Result rehearse(String... words) {
        List<String> all = new ArrayList<>(List.of(
                "rehearse", "--kubeconfig", kubeconfig.toString(), "--cluster.namespace", NAMESPACE, "-o", "json"));
        all.addAll(Arrays.asList(words));
        CommandGroup group = () -> List.of(new NamedCommand(
                "rehearse", () -> new RehearseCommand(Map.of(), Clock.systemUTC(), DeployedSettings::read)));
        CommandRun run = CommandRun.of(group, all);
        return new Result(run.code(), run.out(), run.err());
    }

    /** Returns the versions of all objects that the aggregator would touch. */
    private static Map<String, String> versions() {
        Map<String, String> versions = new TreeMap<>();
        for (String path : TOUCHED) {
            String name = path.substring(path.lastIndexOf('/') + 1);
            JsonTrees.objects(fleet.client.get(name), "items").forEach(item -> {
                Map<String, Object> metadata = JsonTrees.object(item, "metadata");
                String namespace = JsonTrees.text(metadata, "namespace");
                // The API server renews a Lease of its own there.
                if (!namespace.equals("kube-system")) {
                    versions.put(
                            name + " " + namespace + "/" + JsonTrees.text(metadata, "name"),
                            JsonTrees.text(metadata, "resourceVersion"));
                }
            });
        }
        return versions;
    }

    /** Returns the kubeconfig of a user that may read all, and patch Nodes. */
    private static Path reader(String name) {
        fleet.client.apply("""
                {apiVersion: v1, kind: ServiceAccount, metadata: {name: NAME, namespace: gpuwarden}}
                ---
                apiVersion: rbac.authorization.k8s.io/v1
                kind: ClusterRole
                metadata: {name: NAME}
                rules:
                  - {apiGroups: ['*'], resources: ['*'], verbs: [get, list]}
                  - {apiGroups: [''], resources: [nodes], verbs: [patch]}
                ---
                apiVersion: rbac.authorization.k8s.io/v1
                kind: ClusterRoleBinding
                metadata: {name: NAME}
                roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: NAME}
                subjects: [{kind: ServiceAccount, name: NAME, namespace: gpuwarden}]
                """.replace("NAME", name));
        return fleet.plane.kubeconfig(fleet.plane.token("gpuwarden", name));
    }

    @Test
    void resetIsValidatedAndNothingChanges() throws Exception {
        fleet.gpus.put("reset", TestGpus.units(List.of(GPU, OTHER)));
        TestPods pods = pods("reset");
        fleet.client.patch("node/reset", "{\"metadata\": {\"labels\": {\"nvidia.com/gpu.deploy.dcgm\": \"true\"}}}");
        runWithGpu(pods, "reset", "train", GPU);
        budget("reset", 0);
        Map<String, String> before = versions();
        Result whole = rehearse("reset", "--fault", "xid=48");
        assertThat(whole.code()).as(whole.out() + whole.err()).isZero();
        assertThat(whole.tree())
                .containsEntry("schema", "gpuwarden.rehearsal/v1")
                .containsEntry("outcome", "returns")
                .containsEntry("gpu", "GPU 0 (" + GPU + ")");
        assertThat(whole.steps("fault").get(0)).contains("reports SysLogsXIDError, fatal, COMPONENT_RESET");
        assertThat(whole.steps("quarantine").get(0)).contains("Rules: syslog-fatal", "the API server accepts it");
        assertThat(whole.steps("drain")).hasSize(2);
        assertThat(whole.steps("drain").get(1)).startsWith("waits evict reset/train: refused now, and tried again: ");
        assertThat(whole.steps("repair"))
                .singleElement()
                .asString()
                .startsWith("does create GPUReset maintenance-reset-")
                .contains("reset of " + OTHER + ", " + GPU);
        assertThat(whole.steps("maintenance"))
                .anyMatch(step -> step.startsWith("does lock the node: create Lease rehearsal/reset: the API server"))
                .anyMatch(step ->
                        step.startsWith("does stop the services of the GPU Operator: label nvidia.com/gpu.deploy.dcgm"))
                .anyMatch(step -> step.startsWith("does create Job rehearsal/gpu-reset-"));

        Result poor = rehearse("reset", "--fault", "xid=48", "--service-account", "default");
        assertThat(poor.code()).isEqualTo(1);
        assertThat(poor.tree().get("rights").toString())
                .contains(
                        "patch nodes",
                        "components/quarantine-armed",
                        "create gpuresets",
                        "components/remediation-armed");
        assertThat(versions())
                .isEqualTo(before)
                .containsKeys(
                        "nodes /reset",
                        "nodehealths /reset",
                        "pods reset/train",
                        "poddisruptionbudgets reset/web",
                        "leases rehearsal/gpuwarden-aggregator");
    }

    @Test
    void templateOfAFileIsValidatedAndNothingChanges() throws Exception {
        fleet.gpus.put("template", TestGpus.units(List.of(GPU)));
        pods("template");
        Path file = Files.writeString(folder.resolve("templates.yaml"), """
                templates:
                  - name: vendor-reset
                    actions: [COMPONENT_RESET]
                    resource: jobs
                    drain: gpu
                    object:
                      apiVersion: batch/v1
                      kind: Job
                      metadata: {namespace: NS}
                      spec:
                        template:
                          spec:
                            nodeName: "${node}"
                            restartPolicy: Never
                            containers: [{name: reset, image: "example.com/reset:1", args: ["${fault}"]}]
                """.replace("NS", NAMESPACE));
        Map<String, String> before = versions();
        Result whole = rehearse("template", "--fault", "xid=48", "--gpu", GPU, "--templates", file.toString());
        assertThat(whole.code()).as(whole.out() + whole.err()).isZero();
        assertThat(whole.steps("repair"))
                .satisfiesExactly(
                        lock -> assertThat(lock)
                                .startsWith(
                                        "does lock the node: create Lease rehearsal/template: the API server accepts it"),
                        job -> assertThat(job).startsWith("does create Job maintenance-template-"));
        assertThat(whole.steps("maintenance"))
                .singleElement()
                .asString()
                .startsWith("waits await the program that carries out template vendor-reset: the condition Complete");
        assertThat(whole.steps("return")).hasSize(1);
        assertThat(versions()).isEqualTo(before);
        Files.writeString(file, Files.readString(file).replace("resource: jobs", "resource: jobsies"));
        Result absent = rehearse("template", "--fault", "xid=48", "--gpu", GPU, "--templates", file.toString());
        assertThat(absent.code()).isEqualTo(1);
        assertThat(absent.steps("repair")).last().asString().startsWith("stops create Job ");
        Files.writeString(file, "templates: []");
        Result wrong = rehearse("template", "--fault", "xid=48", "--gpu", GPU, "--templates", file.toString());
        assertThat(wrong.code()).isEqualTo(2);
        assertThat(wrong.err()).contains("expected 1 to 16 templates");
    }

    @Test
    void rebootIsValidatedAndNothingChanges() throws Exception {
        TestPods pods = pods("reboot");
        pods.run("reboot", "web", OWNED, "");
        pods.run("reboot", "lonely");
        Result unbooted = rehearse("reboot", "--fault", "xid=79", "--gpu", OTHER);
        assertThat(unbooted.code()).isEqualTo(1);
        assertThat(unbooted.steps("drain"))
                .anyMatch(step -> step.startsWith("stops leave reboot/lonely to an operator"));
        assertThat(unbooted.steps("maintenance")).last().asString().contains("BootIDUnknown");

        pods.end("lonely");
        fleet.client.patch("node/reboot/status", "{\"status\": {\"nodeInfo\": {\"bootID\": \"b-1\"}}}");
        Map<String, String> before = versions();
        Result whole = rehearse("reboot", "--fault", "xid=79", "--gpu", OTHER);
        assertThat(whole.code()).as(whole.out() + whole.err()).isZero();
        assertThat(whole.steps("drain")).contains("does evict reboot/web: the API server accepts it");
        assertThat(whole.steps("maintenance")).anyMatch(step -> step.startsWith("does create Job rehearsal/reboot-"));
        assertThat(whole.tree().get("notes").toString()).contains("no object of the cluster confirms");
        assertThat(versions()).isEqualTo(before);
    }

    @Test
    void missingResourceAndMissingRightsOfTheCallerAreReported() throws Exception {
        fleet.gpus.put("limited", TestGpus.units(List.of(GPU)));
        pods("limited").run("limited", "web", OWNED, "");
        pods("bare");
        Path admin = kubeconfig;
        try (FaultyApi faulty = new FaultyApi(fleet.plane)) {
            kubeconfig = Files.writeString(folder.resolve("no-crd"), faulty.kubeconfig());
            faulty.fail(
                    ApiCall.of("GET", "/gpuresets"),
                    new ApiFault.Answer(404, Map.of(), "{\"kind\": \"Status\", \"code\": 404}"));
            Result result = rehearse("limited", "--fault", "xid=48", "--gpu", GPU);
            assertThat(result.code()).isEqualTo(1);
            assertThat(result.steps("repair").get(0))
                    .contains("no resource gpuresets.janitor.dgxc.nvidia.com: apply its CustomResourceDefinition");
        }
        kubeconfig = reader("rehearser");
        Result limited = rehearse("limited", "--fault", "xid=79", "--gpu", GPU);
        assertThat(limited.code()).as("its own rights are missing").isEqualTo(1);
        assertThat(limited.steps("drain")).last().asString().startsWith("unknown evict limited/web: not validated: ");
        assertThat(limited.steps("repair")).singleElement().asString().startsWith("unknown create RebootNode ");
        assertThat(limited.tree().get("notes").toString())
                .contains("only the rights of system:serviceaccount:gpuwarden:rehearser were checked");

        kubeconfig = admin;
        assertThat(rehearse("nowhere", "--fault", "xid=48").err()).contains("the cluster has no Node nowhere");
        assertThat(rehearse("bare", "--fault", "xid=48").err()).contains("found none: give its UUID");
        Result unknown = rehearse("limited", "--fault", "xid=9999", "--gpu", GPU);
        assertThat(unknown.code()).isEqualTo(2);
        assertThat(unknown.err()).contains("expected an XID of NVIDIA's catalogue, found \"9999\"");
        Result elsewhere = rehearse("limited", "--fault", "xid=48", "--gpu", GPU, "--deployment", "none");
        assertThat(elsewhere.tree().get("notes").toString()).contains("there is no Deployment rehearsal/none");
        assertThat(elsewhere.code()).isEqualTo(3);
    }
}
