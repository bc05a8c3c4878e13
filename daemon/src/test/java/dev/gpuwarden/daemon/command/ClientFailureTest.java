package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The messages when no daemon answers. */
class ClientFailureTest {

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"status", "events", "watch", "set-healthy --reason=x --all --yes", "events show x"})
    void missingSocketIsReportedWithItsPath(String command) {
        Path socket = folder.resolve("none.sock");
        Program asked = Program.run((command + " --grpc.socket=" + socket).split(" "));
        assertThat(asked.exitCode()).isEqualTo(3);
        assertThat(asked.out()).isEmpty();
        assertThat(asked.err())
                .isEqualTo("gpuwarden: no daemon answers on " + socket + " (--grpc.socket): there is no such socket;"
                        + " 'gpuwarden scan' works without a daemon\n");
    }

    @Test
    void socketOfADeadDaemonIsReported() throws IOException {
        Path socket = folder.resolve("stale.sock");
        try (ServerSocketChannel dead = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            dead.bind(UnixDomainSocketAddress.of(socket));
        }
        Program status = Program.run("status", "--grpc.socket=" + socket);
        assertThat(status.exitCode()).isEqualTo(3);
        assertThat(status.err()).contains("no process listens on it");
    }

    @Test
    void otherServerBehindTheSocketIsReported() throws Exception {
        Path socket = folder.resolve("other.sock");
        try (ServerSocketChannel other = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            other.bind(UnixDomainSocketAddress.of(socket));
            Thread closing = new Thread(() -> {
                try {
                    while (true) {
                        try (SocketChannel client = other.accept()) {
                            client.write(java.nio.ByteBuffer.wrap(
                                    "220 hello\r\n".getBytes(java.nio.charset.StandardCharsets.US_ASCII)));
                        }
                    }
                } catch (IOException e) {
                    // The test is over.
                }
            });
            closing.setDaemon(true);
            closing.start();
            Program status = Program.run("status", "--grpc.socket=" + socket);
            assertThat(status.exitCode()).isEqualTo(3);
            assertThat(status.err()).contains(socket.toString());
        }
    }

    @Test
    void daemonWithoutASocketIsAUsageError() {
        Program status = Program.run("status", "--grpc.socket=none");
        assertThat(status.exitCode()).isEqualTo(2);
        assertThat(status.err()).contains("--grpc.socket is 'none'");
    }

    @Test
    void missingPermissionIsReported() {
        ClientFailure failure = ClientFailure.notConnected(Path.of("/run/x.sock"), "Permission denied");
        assertThat(failure.exitCode()).isEqualTo(1);
        assertThat(failure.message()).contains("no permission to open the daemon's socket /run/x.sock");
    }

    @Test
    void fileInPlaceOfTheSocketIsReported() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        Program status = Program.run("status", "--grpc.socket=" + file);
        assertThat(status.exitCode()).isEqualTo(3);
    }
}
