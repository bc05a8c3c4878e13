package dev.gpuwarden.daemon.vram.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.daemon.vram.budgets.EngineNames;
import dev.gpuwarden.testkit.Await;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Answers as Podman 4.3.1 and Docker 20.10.24 gave them; testkit/src/main/sh/vram-outside-kubernetes has the engines. */
class ContainerEngineTest {

    private static final String ID = "17515aa651c7bc70d78d4c12d68c531b8d5841dba333b39e4038a469f920b952";
    private static final String ROWS =
            "[{\"Id\":\"" + ID + "\",\"Names\":[\"/e\"],\"Image\":\"\",\"ImageID\":\"sha256:\","
                    + "\"Command\":\"sleep 1000\",\"Created\":1795633460,\"Ports\":[],\"Labels\":{},\"State\":\"running\","
                    + "\"Status\":\"Up 11 seconds\",\"NetworkSettings\":{\"Networks\":null},\"Mounts\":[],\"Config\":null},"
                    + "{\"Id\":\"" + "d".repeat(64) + "\",\"Names\":[\"/other/alias\",\"/db\"]}]";

    @TempDir
    Path folder;

    private final List<String> requests = new CopyOnWriteArrayList<>();
    private AutoCloseable server = () -> {};

    @AfterEach
    void end() throws Exception {
        server.close();
    }

    /** Gives one answer to each connection, in this order. */
    private ContainerEngine engine(String... answers) throws IOException {
        ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        channel.bind(UnixDomainSocketAddress.of(folder.resolve("engine.sock")));
        server = channel;
        CompletableFuture.runAsync(() -> {
            for (String answer : answers) {
                try (SocketChannel client = channel.accept()) {
                    ByteBuffer request = ByteBuffer.allocate(4096);
                    client.read(request);
                    requests.add(new String(request.array(), 0, request.position(), StandardCharsets.US_ASCII)
                            .lines()
                            .findFirst()
                            .orElse(""));
                    client.write(ByteBuffer.wrap(answer.getBytes(StandardCharsets.UTF_8)));
                } catch (IOException e) {
                    requests.add(e.toString());
                }
            }
        });
        return new ContainerEngine("podman", folder.resolve("engine.sock"));
    }

    private static String answer(String status, String body) {
        return "HTTP/1.0 " + status + "\r\nApi-Version: 1.41\r\nContent-Type: application/json\r\n\r\n" + body;
    }

    @Test
    void namesOfContainersAreTheirOwnAndNotThoseOfLinks() throws Exception {
        ContainerEngine engine = engine(answer("200 OK", ROWS), answer("200 OK", ROWS), answer("200 OK", "[]"));
        assertThat(engine.name(ID)).contains("e");
        assertThat(engine.name("d".repeat(64))).contains("db");
        assertThat(engine.name("e".repeat(64))).isEmpty();
        assertThat(engine.name("e\"]}")).isEmpty();
        assertThat(requests)
                .hasSize(3)
                .first()
                .isEqualTo("GET /containers/json?filters=%7B%22id%22%3A%5B%22" + ID + "%22%5D%7D HTTP/1.0");
    }

    @Test
    void aRestartHasTheGrace() throws Exception {
        ContainerEngine engine = engine(answer("204 No Content", ""));
        assertThat(engine.restart(ID, Duration.ofSeconds(7))).isEqualTo(ContainerEngine.Restart.STARTED);
        assertThat(requests).containsExactly("POST /containers/" + ID + "/restart?t=7 HTTP/1.0");
    }

    @Test
    void aContainerThatItsEngineRemovesWhenItEndsHasEnded() throws Exception {
        ContainerEngine engine = engine(
                answer(
                        "500 Internal Server Error",
                        "{\"cause\":\"container has already been removed\",\"response\":500}"),
                answer("404 Not Found", "{\"cause\":\"no such container\",\"response\":404}"));
        assertThat(engine.restart(ID, Duration.ZERO)).isEqualTo(ContainerEngine.Restart.REMOVED);
    }

    @Test
    void aRestartThatFailsHasTheEnginesReason() throws Exception {
        ContainerEngine engine = engine(
                answer("500 Internal Server Error", "{\"message\":\"cannot\nstop\"}"), answer("200 OK", "{\"Id\":1}"));
        assertThatThrownBy(() -> engine.restart(ID, Duration.ZERO))
                .isInstanceOf(IOException.class)
                .hasMessage(
                        "podman did not restart container " + ID + ": HTTP status 500 {\"message\":\"cannot stop\"}");
    }

    @Test
    void anUnknownContainerIsNoSuccess() throws Exception {
        ContainerEngine engine = engine(answer("404 Not Found", "{\"message\":\"No such container: x\"}"));
        assertThatThrownBy(() -> engine.restart(ID, Duration.ZERO)).hasMessageContaining("No such container: x");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "\r\n\r\n",
                "SSH-2.0-OpenSSH\r\n",
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n",
                "HTTP/9"
            })
    void anAnswerThatIsNoHttpIsAnError(String text) throws Exception {
        ContainerEngine engine = engine(text);
        assertThatThrownBy(() -> engine.name(ID))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("podman by " + folder.resolve("engine.sock"))
                .hasMessageContaining("expected an answer of HTTP");
    }

    @ParameterizedTest
    @ValueSource(strings = {"[", "{}", "[1,[],{\"Id\":1},{\"Names\":\"/x\"}]", "[]"})
    void aListOfAnotherFormNamesNoContainer(String body) throws Exception {
        ContainerEngine engine = engine(answer("200 OK", body));
        if (body.equals("[")) {
            assertThatThrownBy(() -> engine.name(ID)).isInstanceOf(IOException.class);
        } else {
            assertThat(engine.name(ID)).isEmpty();
        }
    }

    @Test
    void anAnswerWithoutEndIsCutOff() throws Exception {
        ContainerEngine engine = engine(answer("200 OK", " ".repeat(5 << 20)));
        assertThatThrownBy(() -> engine.name(ID)).hasMessageContaining("longer than 4 MiB");
    }

    @Test
    void aServiceThatDoesNotAnswerIsGivenUp() throws Exception {
        ServerSocketChannel silent = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server = silent;
        silent.bind(UnixDomainSocketAddress.of(folder.resolve("silent.sock")));
        assertThatThrownBy(() -> SocketRequest.send(
                        folder.resolve("silent.sock"), "GET", "/containers/json", Duration.ofMillis(200)))
                .hasMessage("no whole answer within 200ms");
    }

    @Test
    void aMissingSocketIsNamed() {
        Path socket = folder.resolve("none.sock");
        assertThatThrownBy(() -> new ContainerEngine("docker", socket).name(ID))
                .hasMessageContaining("expected the socket of docker at " + socket, "--vram.docker-socket");
    }

    /** A container with labels beyond all bounds loses its own name, and no other one's. */
    @Test
    void aContainerWithTooLongAnAnswerCostsNoOtherItsName() throws Exception {
        ContainerEngine engine = engine(answer("200 OK", " ".repeat(5 << 20)), answer("200 OK", ROWS));
        EngineNames names = new EngineNames(List.of(engine));
        Owner.Container large = new Owner.Container("podman", "b".repeat(64));
        Owner.Container other = new Owner.Container("podman", ID);
        Await.until(() -> !isPending(names.name(large)));
        Await.until(() -> names.name(other).equals(Reading.of("e")));
        assertThat(names.name(large))
                .isInstanceOfSatisfying(
                        Reading.Absent.class, none -> assertThat(none.cause()).isEqualTo(Absence.FAILED));
        assertThat(names.name(large).toString()).contains("longer than 4 MiB");
    }

    private static boolean isPending(Reading<String> name) {
        return name instanceof Reading.Absent<String> none && none.cause() == Absence.PENDING;
    }
}
