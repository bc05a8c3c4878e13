package dev.gpuwarden.daemon.grpc;

import static dev.gpuwarden.daemon.grpc.NodeServiceFixture.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.api.datamodels.HealthEvent;
import dev.gpuwarden.api.datamodels.HealthEvents;
import dev.gpuwarden.api.datamodels.PlatformConnectorGrpc;
import dev.gpuwarden.api.v1.GetNodeRequest;
import dev.gpuwarden.api.v1.NodeServiceGrpc;
import dev.gpuwarden.api.v1.RunChecksRequest;
import dev.gpuwarden.api.v1.SetHealthyRequest;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.testkit.tls.TestKeys;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Access to the sockets and the permissions of clients. */
class DoorTest {

    @TempDir
    Path folder;

    @Test
    void theKernelVouchesForWhoAsks() {
        // The test runs as the daemon's own user, which has permission; the refusal of others is tested above.
        try (ServedNode node = ServedNode.start(folder)) {
            node.store.accept(ServedNode.xid("79").build());
            var response = NodeServiceGrpc.newBlockingStub(node.client.channel())
                    .setHealthy(SetHealthyRequest.newBuilder()
                            .setReason("test")
                            .setAll(true)
                            .build());
            assertThat(response.getClearedCount()).isEqualTo(2);
            String by = node.store
                    .events(dev.gpuwarden.core.event.EventFilter.all())
                    .get(1)
                    .event()
                    .metadata()
                    .get(ClearFaults.REQUESTED_BY);
            assertThat(by)
                    .isEqualTo("uid " + AccessPolicy.processUid() + ", pid "
                            + ProcessHandle.current().pid());
        }
    }

    @Test
    void theSocketHasItsModeAndGoesWithTheServer() throws Exception {
        ServedNode node = ServedNode.start(folder, options -> {
            options.socketMode = "0640";
            return options;
        });
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(node.socket)))
                .isEqualTo("rw-r-----");
        assertThat(PosixFilePermissions.toString(
                        Files.getPosixFilePermissions(folder.resolve("nvsentinel/nvsentinel.sock"))))
                .isEqualTo("rw-rw----");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve("nvsentinel"))))
                .isEqualTo("rwxr-xr-x");
        assertThat(node.server.addresses())
                .containsExactly("unix:" + node.socket, "unix:" + folder.resolve("nvsentinel/nvsentinel.sock"));
        node.close();
        assertThat(node.socket).doesNotExist();
        assertThat(folder.resolve("nvsentinel")).isEmptyDirectory();
    }

    @Test
    void aSocketWithoutListenerIsReplacedAndOneWithListenerIsNot() throws Exception {
        SocketFile left = new SocketFile(folder.resolve("gpuwarden.sock"), "rw-rw----", Optional.empty());
        try (var dead = java.nio.channels.ServerSocketChannel.open(java.net.StandardProtocolFamily.UNIX)) {
            dead.bind(java.net.UnixDomainSocketAddress.of(left.prepare()));
            left.publish();
            assertThatThrownBy(() -> ServedNode.start(folder)).hasMessageContaining("another process listens there");
        }
        assertThat(left.path()).exists();
        try (ServedNode node = ServedNode.start(Files.createDirectories(folder.resolve("other")), options -> {
            options.socket = left.path().toString();
            return options;
        })) {
            assertThat(node.server.addresses()).contains("unix:" + left.path());
            assertThat(SocketFile.answers(left.path())).isTrue();
        }
    }

    /** The daemon's own group: others ask for more rights than a test has. */
    @Test
    void aSocketBelongsToTheGroupThatIsNamed() throws Exception {
        String own =
                Files.readAttributes(folder, PosixFileAttributes.class).group().getName();
        try (ServedNode node = ServedNode.start(folder, options -> {
            options.socketGroup = own;
            return options;
        })) {
            assertThat(Files.readAttributes(node.socket, PosixFileAttributes.class)
                            .group()
                            .getName())
                    .isEqualTo(own);
        }
        assertThatThrownBy(() -> ServedNode.start(folder, options -> {
                    options.socketGroup = "no-such-group";
                    return options;
                }))
                .isInstanceOf(UserError.class)
                .hasMessageContaining("this machine has no group 'no-such-group'");
    }

    @Test
    void aFileThatIsNoSocketIsLeftAlone() throws Exception {
        Path file = Files.writeString(folder.resolve("gpuwarden.sock"), "precious");
        assertThatThrownBy(() -> ServedNode.start(folder))
                .isInstanceOf(UserError.class)
                .hasMessageContaining("there is a file that is no socket")
                .hasMessageContaining("--grpc.socket");
        assertThat(file).hasContent("precious");
    }

    @Test
    void overTcpWithoutACertificateOneMayAskAndNothingElse() {
        try (ServedNode node = ServedNode.start(folder, options -> {
            options.listen = "127.0.0.1:0";
            return options;
        })) {
            ManagedChannel channel =
                    NettyChannelBuilder.forTarget(tcp(node)).usePlaintext().build();
            try {
                var ask = NodeServiceGrpc.newBlockingStub(channel);
                assertThat(ask.getNode(GetNodeRequest.getDefaultInstance()).getName())
                        .isEqualTo(ServedNode.NAME);
                refused(
                        Status.Code.PERMISSION_DENIED,
                        "this is a client without a certificate",
                        () -> ask.runChecks(RunChecksRequest.getDefaultInstance())
                                .next());
                refused(
                        Status.Code.PERMISSION_DENIED,
                        "may clear faults",
                        () -> ask.setHealthy(SetHealthyRequest.getDefaultInstance()));
                refused(
                        Status.Code.PERMISSION_DENIED,
                        "Unix socket or with a certificate",
                        () -> PlatformConnectorGrpc.newBlockingStub(channel)
                                .healthEventOccurredV1(HealthEvents.newBuilder()
                                        .addEvents(HealthEvent.newBuilder().setAgent("a"))
                                        .build()));
            } finally {
                channel.shutdownNow();
            }
        }
    }

    private static String tcp(ServedNode node) {
        return node.server.addresses().stream()
                .filter(address -> !address.startsWith("unix:"))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void overMutualTlsACertificateOpensAndItsSubjectIsKept() throws Exception {
        TestKeys keys = new TestKeys(folder);
        Path certificate = keys.certificate("localhost");
        Path operator = keys.certificate("operator");
        try (ServedNode node = ServedNode.start(folder, options -> {
            options.listen = "127.0.0.1:0";
            options.tlsCert = certificate;
            options.tlsKey = keys.key("localhost");
            options.tlsClientCa = keys.ca;
            return options;
        })) {
            node.store.accept(ServedNode.xid("79").build());
            ManagedChannel known = channel(
                    node,
                    keys,
                    context -> context.keyManager(
                            operator.toFile(), keys.key("operator").toFile()));
            ManagedChannel unknown = channel(node, keys, context -> {});
            try {
                assertThat(NodeServiceGrpc.newBlockingStub(known)
                                .setHealthy(SetHealthyRequest.newBuilder()
                                        .setReason("test")
                                        .setAll(true)
                                        .build())
                                .getClearedCount())
                        .isEqualTo(2);
                assertThat(node.store
                                .events(dev.gpuwarden.core.event.EventFilter.all())
                                .get(1)
                                .event()
                                .metadata())
                        .containsEntry(ClearFaults.REQUESTED_BY, "certificate CN=operator");
                refused(
                        Status.Code.UNAVAILABLE,
                        "",
                        () -> NodeServiceGrpc.newBlockingStub(unknown).getNode(GetNodeRequest.getDefaultInstance()));
            } finally {
                known.shutdownNow();
                unknown.shutdownNow();
            }
        }
    }

    private static ManagedChannel channel(ServedNode node, TestKeys keys, Consumer<SslContextBuilder> identity)
            throws IOException {
        SslContextBuilder context = GrpcSslContexts.configure(
                SslContextBuilder.forClient().trustManager(keys.ca.toFile()), SslProvider.JDK);
        identity.accept(context);
        return NettyChannelBuilder.forTarget(tcp(node))
                .sslContext(context.build())
                .overrideAuthority("localhost")
                .build();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--grpc.listen 0.0.0.0:0 is no loopback address|0.0.0.0:0|",
                "--grpc.listen :0 is no loopback address|:0|",
                "go together|127.0.0.1:0|cert.pem",
                "go together||cert.pem",
                "must be host:port|nonsense|"
            })
    void optionsThatExposeTheNodeAreRefused(String why, String listen, String certificate) {
        GrpcOptions options = new GrpcOptions();
        options.listen = listen;
        options.tlsCert = certificate == null ? null : Path.of(certificate);
        assertThatThrownBy(() -> TcpListener.of(options))
                .isInstanceOf(UserError.class)
                .hasMessageContaining(why);
    }

    @Test
    void tlsFilesThatCannotBeUsedAreTheUsersError() {
        assertThatThrownBy(() -> ServedNode.start(folder, options -> {
                    options.listen = ":0";
                    options.tlsCert = options.tlsKey = options.tlsClientCa = folder.resolve("none.pem");
                    return options;
                }))
                .isInstanceOf(UserError.class)
                .hasMessageContaining("cannot use the TLS files")
                .hasMessageContaining("none.pem");
    }

    @ParameterizedTest
    @CsvSource({"0660, rw-rw----", "666, rw-rw-rw-", "0600, rw-------", "0751, rwxr-x--x"})
    void modesAreOctal(String octal, String text) {
        assertThat(GrpcOptions.permissions("--grpc.socket-mode", octal)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({"0669", "rw-rw----", "66", "4660", "''"})
    void otherTextIsNoMode(String text) {
        assertThatThrownBy(() -> GrpcOptions.permissions("--grpc.socket-mode", text))
                .isInstanceOf(UserError.class)
                .hasMessageContaining("--grpc.socket-mode");
    }
}
