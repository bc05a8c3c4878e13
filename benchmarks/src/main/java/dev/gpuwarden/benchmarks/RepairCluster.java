package dev.gpuwarden.benchmarks;

import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.testkit.Execution;
import dev.gpuwarden.testkit.cluster.ApiClient;
import dev.gpuwarden.testkit.cluster.Cluster;
import dev.gpuwarden.testkit.cluster.ClusterNode;
import dev.gpuwarden.testkit.cluster.JsonPath;
import dev.gpuwarden.testkit.cluster.OperatorServices;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Three real nodes with four simulated L4 each, the services of a GPU operator, a pod for each GPU, and the shipped daemons and two
 * replicas of the shipped aggregator, armed for repairs.
 */
final class RepairCluster implements AutoCloseable {

    private static final String SCENARIO =
            "description: four L4 without programs\ndriver: 550\n" + "gpus:\n  - {profile: l4, count: 4}\n";
    private static final String KUSTOMIZATION = """
            apiVersion: kustomize.config.k8s.io/v1beta1
            kind: Kustomization
            resources: [../kubernetes-simulated, jobs.yaml]
            components: [../kubernetes/components/remediation-armed]
            patches:
              - target: {kind: Deployment, name: gpuwarden-aggregator}
                patch: |-
                  - {op: add, path: /spec/template/spec/containers/0/env/-, value: {name: GPUWARDEN_BREAKER_POOL, value: "gpu-nodes;nvidia.com/gpu.present=true;rate=100%/1m;level=100%"}}
                  - {op: add, path: /spec/template/spec/containers/0/env/-, value: {name: GPUWARDEN_REMEDIATION_ATTEMPTS, value: "10"}}
            """;
    private static final String WORKLOAD = """
            apiVersion: apps/v1
            kind: Deployment
            metadata: {name: work-NODE}
            spec:
              replicas: 4
              selector: {matchLabels: {app: work-NODE}}
              template:
                metadata: {labels: {app: work-NODE}}
                spec:
                  nodeSelector: {kubernetes.io/hostname: NODE}
                  terminationGracePeriodSeconds: 1
                  automountServiceAccountToken: false
                  containers:
                    - name: main
                      image: localhost/busybox:1
                      imagePullPolicy: Never
                      command: [sleep, infinity]
                      resources: {limits: {nvidia.com/gpu: 1}}
            ---
            """;
    private static final String AGGREGATORS =
            "pods/gpuwarden?labelSelector=app.kubernetes.io%2Fname%3Dgpuwarden-aggregator";

    private final Cluster cluster;
    final ApiClient api;

    private RepairCluster(Cluster cluster) {
        this.cluster = cluster;
        this.api = cluster.controlPlane().client();
    }

    /** @param image folder of the runtime image; @param work an empty folder */
    static RepairCluster start(Path image, Path work) throws IOException {
        Path scenario = Files.writeString(Files.createDirectories(work).resolve("l4.yaml"), SCENARIO);
        Cluster cluster = Cluster.start(work.resolve("cluster"), Collections.nCopies(3, scenario.toString()));
        RepairCluster started = new RepairCluster(cluster);
        try {
            started.install(image, work);
            return started;
        } catch (IOException | RuntimeException | Error e) {
            started.close();
            throw e;
        }
    }

    private void install(Path image, Path work) throws IOException {
        Path archive = work.resolve("image.tar");
        run(
                image.resolve("bin/gpuwarden-image-archive"),
                "--output",
                archive.toString(),
                "--add",
                image.resolve("lib/native/sim/libnccl.so.2").toString());
        nodes().parallelStream().forEach(node -> node.load(archive));
        for (String folder : List.of("kubernetes", "kubernetes-simulated")) {
            copy(image.resolve("share").resolve(folder), work.resolve(folder));
        }
        Path armed = Files.createDirectory(work.resolve("armed"));
        Files.copy(work.resolve("kubernetes-simulated/jobs.yaml"), armed.resolve("jobs.yaml"));
        Files.writeString(armed.resolve("kustomization.yaml"), KUSTOMIZATION);
        kubectl("apply", "--kustomize", armed.toString());
        cluster.controlPlane().apply(run(image.resolve("bin/gpuwarden-certificates")));
        kubectl("label", "nodes", "--all", "--overwrite", "nvidia.com/gpu.present=true");
        kubectl(
                "apply",
                "--filename",
                work.resolve("kubernetes/quarantine-rules.yaml").toString());
        OperatorServices services = OperatorServices.install(cluster);
        nodes().forEach(node -> services.deploy(node, OperatorServices.Service.values()));
        nodes().forEach(node -> api.apply(WORKLOAD.replace("NODE", node.name())));
        kubectl("--namespace", "gpuwarden", "rollout", "status", "deployment/gpuwarden-aggregator", "--timeout=5m");
        kubectl("wait", "--for=condition=Available", "deployment", "--all", "--timeout=5m");
    }

    private static String run(Path program, String... arguments) {
        List<String> command = Stream.concat(Stream.of(program.toString()), Arrays.stream(arguments))
                .toList();
        Execution done = Execution.of(new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT));
        if (done.code() != 0) {
            throw new IllegalStateException(program + ": expected exit code 0, seen " + done.code());
        }
        return done.output();
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path each : all.toList()) {
                Files.copy(each, to.resolve(from.relativize(each).toString()));
            }
        }
    }

    List<ClusterNode> nodes() {
        return cluster.nodes();
    }

    String kubectl(String... arguments) {
        return cluster.controlPlane().kubectl(arguments);
    }

    /** Returns the objects of a list, see {@link ApiClient#get(String)}. */
    List<Map<String, Object>> list(String reference) {
        return JsonTrees.objects(api.get(reference), "items");
    }

    /** Returns the resets and reboots that have started and not ended. */
    List<Map<String, Object>> underWay() {
        return Stream.of("gpuresets", "rebootnodes")
                .flatMap(kind -> list(kind).stream())
                .filter(each -> !JsonPath.text(each, ".status.startTime").isEmpty())
                .filter(each -> JsonPath.text(each, ".status.completionTime").isEmpty())
                .toList();
    }

    /** Returns the name of the leader's process in its Lease; empty without one. */
    String leader() {
        return api.find("lease/gpuwarden/gpuwarden-aggregator", ".spec.holderIdentity");
    }

    List<String> aggregators() {
        return list(AGGREGATORS).stream()
                .map(pod -> JsonPath.text(pod, ".metadata.name"))
                .toList();
    }

    /** Ends an aggregator by SIGKILL, and its kubelet starts it again. Returns false where it does not run. */
    boolean kill(String pod) {
        Optional<Map<String, Object>> found = api.find("pod/gpuwarden/" + pod);
        String uid = found.map(object -> JsonPath.text(object, ".metadata.uid")).orElse("");
        List<ProcessHandle> processes = uid.isEmpty()
                ? List.of()
                : ProcessHandle.allProcesses()
                        .filter(process -> runs(process.pid(), uid))
                        .toList();
        processes.forEach(ProcessHandle::destroyForcibly);
        return !processes.isEmpty();
    }

    /** Returns true for a process of the pod's program. The sandbox has a process too, without arguments of a program. */
    private static boolean runs(long pid, String uid) {
        Path proc = Path.of("/proc", Long.toString(pid));
        try {
            return Files.readString(proc.resolve("cgroup")).contains(uid)
                    && Files.readString(proc.resolve("cmdline"), StandardCharsets.ISO_8859_1)
                            .contains("aggregator");
        } catch (IOException ended) {
            return false;
        }
    }

    @Override
    public void close() {
        cluster.close();
    }
}
