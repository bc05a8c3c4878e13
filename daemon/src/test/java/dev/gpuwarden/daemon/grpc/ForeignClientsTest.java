package dev.gpuwarden.daemon.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.RecommendedAction;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Clients in other languages, made from the .proto files or without them. */
@Tag("programs")
class ForeignClientsTest {

    private static final Path TOOLS = Path.of(System.getProperty("gpuwarden.tools.dir", ""));
    private static final Path REPOSITORY = Path.of(System.getProperty("gpuwarden.repository"));

    @TempDir
    Path folder;

    private static String run(List<String> command) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("PYTHONPATH", TOOLS.resolve("python-grpc").toString());
        Process process = builder.start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
        return said;
    }

    private static String python(String script, Path socket) throws IOException, InterruptedException {
        Path library = TOOLS.resolve("python-grpc/grpc_tools/protoc.py");
        assumeTrue(
                Files.exists(library),
                () -> "no grpcio at " + library.toAbsolutePath()
                        + ": ./gpuwarden test gets it, and names the folder of tools in -Dgpuwarden.tools.dir");
        return run(List.of(
                "python3",
                REPOSITORY.resolve("daemon/src/test/python").resolve(script).toString(),
                REPOSITORY.resolve("api/src/main/proto").toString(),
                socket.toString()));
    }

    @Test
    void aClientMadeFromTheContractAloneReportsAFaultAndFindsItBack() throws Exception {
        try (ServedNode node = ServedNode.start(folder)) {
            String said = python("report_fault.py", folder.resolve("nvsentinel/nvsentinel.sock"));
            assertThat(said.lines())
                    .containsExactly(
                            "reported", "PERMISSION_DENIED: events[0].nodeName: another node's name; this is 'node-7'");
            Fault fault = node.store.faults().get(0);
            assertThat(fault.cause().action()).isEqualTo(RecommendedAction.CONTACT_SUPPORT);
            assertThat(fault.cause().metadata()).containsEntry("dcgm.level", "2");
            assertThat(python("find_fault.py", node.socket).lines())
                    .containsExactly(
                            "node-7 | preflight-dcgm-diag | DcgmDiagnosticPCIe | DCGM_FR_PCIE_REPLAY_RATE | GPU_UUID |"
                                    + " GPU-455d8f70 | DCGM_FR_PCIE_REPLAY_RATE: GPU 3 has 213 replays per minute",
                            "1 faults, 2 GPUs watched",
                            "[41.0]");
        }
    }

    /** @param data the request as JSON; empty for none */
    private static String grpcurl(Path socket, String data, String... what) throws IOException, InterruptedException {
        Path program = TOOLS.resolve("bin/grpcurl");
        assumeTrue(
                Files.isExecutable(program),
                () -> "no grpcurl at " + program.toAbsolutePath()
                        + ": ./gpuwarden test gets it, and names the folder of tools in -Dgpuwarden.tools.dir");
        List<String> command = new ArrayList<>(List.of(program.toString(), "-plaintext"));
        if (!data.isEmpty()) {
            command.addAll(List.of("-d", data));
        }
        command.add("unix://" + socket);
        command.addAll(List.of(what));
        return run(command);
    }

    /** Another user on a socket of mode 0666, and root in a container. Both ask; neither reports nor ends a fault. */
    @Test
    void aClientOfAnotherUserOrInAContainerChangesNothing() throws Exception {
        assumeTrue(AccessPolicy.processUid() == 0, "only root can be another user");
        Path tool = TOOLS.resolve("bin/grpcurl");
        assumeTrue(Files.isExecutable(tool), () -> "no grpcurl at " + tool.toAbsolutePath());
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path program = Files.copy(tool, folder.resolve("grpcurl"), StandardCopyOption.COPY_ATTRIBUTES);
        try (ServedNode node = ServedNode.start(folder, options -> {
            options.socketMode = "0666";
            return options;
        })) {
            node.store.accept(ServedNode.xid("79").build());
            String healthy = "{\"events\": [{\"agent\": \"syslog-health-monitor\", \"componentClass\": \"GPU\","
                    + " \"checkName\": \"SysLogsXIDError\", \"isHealthy\": true}]}";
            String fatal = healthy.replace("isHealthy", "isFatal");
            for (List<String> as : List.of(
                    List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"),
                    List.of("unshare", "--pid", "--fork"))) {
                String report = "datamodels.PlatformConnector/HealthEventOccurredV1";
                assertThat(refusal(as, program, node.socket, healthy, report)).contains("PermissionDenied");
                assertThat(refusal(as, program, node.socket, fatal, report)).contains("PermissionDenied");
                assertThat(refusal(
                                as,
                                program,
                                node.socket,
                                "{\"all\": true, \"reason\": \"mine\"}",
                                "gpuwarden.v1.NodeService/SetHealthy"))
                        .contains("PermissionDenied");
                assertThat(refusal(as, program, node.socket, "{}", "gpuwarden.v1.NodeService/GetNode"))
                        .contains("\"name\": \"node-7\"");
            }
            assertThat(node.store.faults()).hasSize(2);
        }
    }

    private static String refusal(List<String> as, Path program, Path socket, String data, String method)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(as);
        command.addAll(List.of(program.toString(), "-plaintext", "-d", data, "unix://" + socket, method));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return said;
    }

    @Test
    void grpcurlLearnsTheServicesAndAsksThem() throws Exception {
        try (ServedNode node = ServedNode.start(folder)) {
            assertThat(grpcurl(node.socket, "", "list").lines())
                    .containsExactly(
                            "datamodels.PlatformConnector",
                            "gpuwarden.v1.MaintenanceService",
                            "gpuwarden.v1.NodeService",
                            "gpuwarden.v1.VramService",
                            "grpc.health.v1.Health",
                            "grpc.reflection.v1.ServerReflection",
                            "grpc.reflection.v1alpha.ServerReflection");
            assertThat(grpcurl(node.socket, "", "describe", "gpuwarden.v1.NodeService.Watch"))
                    .contains(
                            "rpc Watch ( .gpuwarden.v1.WatchRequest ) returns ( stream .gpuwarden.v1.WatchResponse );");
            assertThat(grpcurl(node.socket, "", "grpc.health.v1.Health/Check")).contains("\"SERVING\"");
            String service = "{\"service\": \"gpuwarden.v1.NodeService\"}";
            assertThat(grpcurl(node.socket, service, "grpc.health.v1.Health/Check"))
                    .contains("\"SERVING\"");
            assertThat(grpcurl(node.socket, "", "gpuwarden.v1.NodeService/GetNode"))
                    .contains("\"name\": \"node-7\"");
            assertThat(grpcurl(node.socket, "{\"gpu\": \"1\"}", "gpuwarden.v1.NodeService/GetGpu"))
                    .contains("\"temperature_celsius\"");
            String event = "{\"events\": [{\"agent\": \"a\", \"componentClass\": \"GPU\", \"checkName\": \"c\"}]}";
            assertThat(grpcurl(node.socket, event, "datamodels.PlatformConnector/HealthEventOccurredV1"))
                    .isEqualTo("{}\n");
            assertThat(node.store.faults()).hasSize(1);
        }
    }
}
