package dev.gpuwarden.testkit.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.testkit.Await;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("api")
@Timeout(600)
class ControlPlaneTest {

    @TempDir
    Path parent;

    @BeforeEach
    void binariesAreThere() {
        Optional<String> missing = Binaries.ofUser().missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
    }

    @Test
    void servesKubernetesApi() {
        ControlPlane plane = ControlPlane.shared();
        assertThat(plane.kubectl("version")).containsPattern("Server Version: v1\\.\\d+\\.\\d+");
        plane.apply("""
                apiVersion: v1
                kind: Node
                metadata: {name: gpu-1, labels: {zone: a}}
                """);
        plane.kubectl(
                "patch",
                "node",
                "gpu-1",
                "--subresource=status",
                "--type=merge",
                "--patch",
                "{\"status\":{\"capacity\":{\"nvidia.com/gpu\":\"8\"}}}");
        assertThat(plane.kubectl("get", "nodes", "--selector=zone=a", "--output=jsonpath={.items[*].status.capacity}"))
                .isEqualTo("{\"nvidia.com/gpu\":\"8\"}");
        assertThat(ControlPlane.shared()).isSameAs(plane);
    }

    @Test
    void refusesRequestsWithoutPermission() {
        ControlPlane plane = ControlPlane.shared();
        plane.apply("""
                apiVersion: v1
                kind: Namespace
                metadata: {name: least}
                ---
                apiVersion: v1
                kind: ServiceAccount
                metadata: {name: reader, namespace: least}
                ---
                apiVersion: rbac.authorization.k8s.io/v1
                kind: Role
                metadata: {name: reader, namespace: least}
                rules:
                - {apiGroups: [""], resources: [configmaps], verbs: [get, list]}
                ---
                apiVersion: rbac.authorization.k8s.io/v1
                kind: RoleBinding
                metadata: {name: reader, namespace: least}
                roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
                subjects:
                - {kind: ServiceAccount, name: reader, namespace: least}
                ---
                apiVersion: v1
                kind: ConfigMap
                metadata: {name: note, namespace: least}
                data: {says: hello}
                """);
        Path reader = plane.kubeconfig(plane.token("least", "reader"));
        assertThat(plane.kubectl(reader, "get", "configmap", "note", "-n", "least", "-o", "jsonpath={.data.says}"))
                .isEqualTo("hello");
        String who = "\"system:serviceaccount:least:reader\" cannot ";
        assertThatThrownBy(() -> plane.kubectl(reader, "delete", "configmap", "note", "-n", "least"))
                .hasMessageContaining("(Forbidden)")
                .hasMessageContaining(who + "delete resource \"configmaps\"");
        assertThatThrownBy(() -> plane.kubectl(reader, "get", "nodes"))
                .hasMessageContaining(who + "list resource \"nodes\"");
        assertThat(plane.kubectl("get", "configmap", "note", "-n", "least", "-o", "name"))
                .isEqualTo("configmap/note\n");
    }

    @Test
    void nothingRemainsAfterClose() throws IOException {
        Path folder = parent.resolve("cluster");
        try (ControlPlane plane = ControlPlane.start(folder)) {
            assertThat(programsOf(folder)).contains("etcd", "kube-apiserver");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder)))
                    .isEqualTo("rwx------");
            assertThat(plane.kubectl("get", "--raw=/readyz")).isEqualTo("ok");
        }
        assertThat(folder).doesNotExist();
        Await.until(() -> programsOf(folder).isEmpty(), () -> "still running: " + programsOf(folder));
    }

    @Test
    void apiServerEndsOnSigterm() {
        Path folder = parent.resolve("cluster");
        try (ControlPlane plane = ControlPlane.start(folder)) {
            assertThat(plane.kubectl("get", "--raw=/readyz")).isEqualTo("ok");
            for (String name : List.of("kube-apiserver", "etcd")) {
                ProcessHandle program = processesOf(folder)
                        .filter(process -> name(process).equals(name))
                        .findFirst()
                        .orElseThrow();
                assertThat(program.destroy()).isTrue();
                assertThat(program.onExit()).as(name).succeedsWithin(Duration.ofMinutes(1));
            }
            assertThat(folder.resolve("kube-apiserver.log")).content().contains("Stopped listening on");
        }
        assertThat(folder).doesNotExist();
    }

    @Test
    void nothingRemainsWhenOwnerIsKilled() throws IOException {
        Path folder = parent.resolve("cluster");
        Process owner = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Owner.class.getName(),
                        folder.toString())
                .redirectError(parent.resolve("owner.log").toFile())
                .start();
        String url =
                new BufferedReader(new InputStreamReader(owner.getInputStream(), StandardCharsets.UTF_8)).readLine();
        assertThat(url).as(Files.readString(parent.resolve("owner.log"))).startsWith("https://127.0.0.1:");
        assertThat(programsOf(folder)).contains("etcd", "kube-apiserver");
        owner.destroyForcibly();
        Await.until(() -> programsOf(folder).isEmpty(), () -> "still running: " + programsOf(folder));
        Await.until(() -> !Files.exists(folder), () -> folder + " is still there");
    }

    @Test
    void programThatDiesAtStartIsReportedWithItsLog() throws IOException {
        Path wrong = Files.createDirectory(parent.resolve("wrong"));
        Map<String, String> programs = Map.of("etcd", "etcd", "kube-apiserver", "kubectl", "kubectl", "kubectl");
        for (var program : programs.entrySet()) {
            Files.createSymbolicLink(
                    wrong.resolve(program.getKey()), Binaries.ofUser().path(program.getValue()));
        }
        Path folder = parent.resolve("cluster");
        assertThatThrownBy(() -> ControlPlane.start(folder, Binaries.in(wrong)))
                .hasMessageContaining("kube-apiserver: expected a good answer of /readyz, it ended with exit code 1")
                .hasMessageContaining("unknown flag: --etcd-servers");
        assertThat(folder).doesNotExist();
        Await.until(() -> programsOf(folder).isEmpty(), () -> "still running: " + programsOf(folder));
        for (String program : programs.keySet()) {
            Files.delete(wrong.resolve(program));
        }
    }

    @Test
    void folderWithFilesIsRefused() throws IOException {
        Path file = Files.writeString(parent.resolve("thesis"), "years of work");
        assertThatThrownBy(() -> ControlPlane.start(parent))
                .isInstanceOf(UserError.class)
                .hasMessageContaining(parent + ": expected an empty folder");
        assertThat(file).hasContent("years of work");
    }

    /** Returns the names of running programs whose command line contains this folder. */
    private static List<String> programsOf(Path folder) {
        return processesOf(folder).map(ControlPlaneTest::name).toList();
    }

    private static Stream<ProcessHandle> processesOf(Path folder) {
        return ProcessHandle.allProcesses()
                .filter(process -> process.pid() != ProcessHandle.current().pid())
                .filter(process -> process.info().commandLine().orElse("").contains(folder.toString()));
    }

    private static String name(ProcessHandle process) {
        return Path.of(process.info().command().orElse("unknown")).getFileName().toString();
    }
}
