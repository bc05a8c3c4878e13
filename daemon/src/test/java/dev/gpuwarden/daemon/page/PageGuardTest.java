package dev.gpuwarden.daemon.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.cli.Switch;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.web.GuardedHandler;
import dev.gpuwarden.cli.web.HttpAnswer;
import dev.gpuwarden.cli.web.HttpHandler;
import dev.gpuwarden.cli.web.ListenAddress;
import dev.gpuwarden.cli.web.Request;
import dev.gpuwarden.cli.web.WebServer;
import dev.gpuwarden.daemon.page.TokenReviewer.Outcome;
import dev.gpuwarden.daemon.page.TokenReviewer.Verdict;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PageGuardTest {

    private static final String TOKEN = "e30.e30.c2ln";

    @TempDir
    Path folder;

    private static Request request(String from, String host, String authorization) throws IOException {
        Map<String, String> headers = Map.of("Host", host, "Authorization", authorization);
        return new Request(
                "GET",
                "/",
                Map.of(),
                InetAddress.getByName(from),
                false,
                false,
                name -> headers.getOrDefault(name, ""),
                new byte[0]);
    }

    private static int status(PageGuard door, String from, String host, String authorization) throws Exception {
        return door.refused(request(from, host, authorization))
                .map(HttpAnswer::status)
                .orElse(200);
    }

    @ParameterizedTest
    @CsvSource({
        "127.0.0.1, localhost:9402, 200",
        "127.0.0.1, 127.0.0.1:9402, 200",
        "127.0.0.1, LOCALHOST, 200",
        "::1, [::1]:9402, 200",
        // A page from elsewhere whose name was made to lead here.
        "127.0.0.1, evil.example:9402, 403",
        "127.0.0.1, 127.0.0.1.evil.example, 403",
        "127.0.0.1, '', 403",
        "10.0.0.7, localhost, 403",
    })
    void withoutATokenFileItIsForThisMachine(String from, String host, int status) throws Exception {
        assertThat(status(new PageGuard(Optional.empty(), Optional.empty()), from, host, ""))
                .isEqualTo(status);
    }

    @Test
    void aFileWithoutATokenIsTheUsersErrorAndNamedWithTheReason() throws Exception {
        Path file = folder.resolve("token");
        assertThatThrownBy(() -> new PageGuard(Optional.of(file), Optional.empty()))
                .isInstanceOf(UserError.class)
                .hasMessage("--web.token-file: expected a file with a token, found " + file + ": no such file");
        Files.writeString(file, " ");
        assertThatThrownBy(() -> new PageGuard(Optional.of(file), Optional.empty()))
                .hasMessageEndingWith(file + ": an empty file");
    }

    @Test
    void tokenOpensThePageAndItsReplacementIsValidImmediately() throws Exception {
        Path file = Files.writeString(folder.resolve("token"), "s3cret\n");
        PageGuard door = new PageGuard(Optional.of(file), Optional.empty());
        String basic = Base64.getEncoder().encodeToString("me:s3cret".getBytes(StandardCharsets.UTF_8));
        assertThat(status(door, "10.0.0.7", "node", "")).isEqualTo(401);
        assertThat(status(door, "10.0.0.7", "node", "Bearer other")).isEqualTo(401);
        assertThat(status(door, "10.0.0.7", "node", "Bearer s3cret")).isEqualTo(200);
        assertThat(status(door, "10.0.0.7", "node", "Basic " + basic)).isEqualTo(200);
        assertThat(status(door, "10.0.0.7", "node", "Basic %%%")).isEqualTo(401);
        Files.writeString(file, "next");
        assertThat(status(door, "10.0.0.7", "node", "Bearer s3cret")).isEqualTo(401);
        assertThat(status(door, "10.0.0.7", "node", "Bearer next")).isEqualTo(200);
        Files.writeString(file, "");
        assertThat(status(door, "10.0.0.7", "node", ""))
                .as("an empty token is none")
                .isEqualTo(503);
        assertThat(status(door, "127.0.0.1", "localhost", "")).isEqualTo(200);
    }

    private static PageGuard asking(Optional<Path> file, String answers) {
        return new PageGuard(file, Optional.of(token -> {
            assertThat(token).isEqualTo(TOKEN);
            Verdict verdict = new Verdict(Outcome.valueOf(answers), "because");
            return CompletableFuture.completedFuture(verdict);
        }));
    }

    @ParameterizedTest
    @CsvSource({"ALLOWED, 200", "DENIED, 401", "UNKNOWN, 503"})
    void theAggregatorsWordCountsWhereTheFilesTokenWasNotShown(String answers, int status) throws Exception {
        Path file = Files.writeString(folder.resolve("token"), "s3cret\n");
        for (Optional<Path> given : List.of(Optional.of(file), Optional.<Path>empty())) {
            PageGuard door = asking(given, answers);
            assertThat(status(door, "10.0.0.7", "node", "Bearer " + TOKEN)).isEqualTo(status);
            assertThat(status(door, "10.0.0.7", "node", "")).isEqualTo(401);
            assertThat(status(door, "10.0.0.7", "node", "Bearer no-token-of-kubernetes"))
                    .as("is not asked about")
                    .isEqualTo(401);
            assertThat(status(door, "127.0.0.1", "localhost", "Bearer " + TOKEN))
                    .isEqualTo(200);
        }
        assertThat(status(asking(Optional.of(file), answers), "10.0.0.7", "node", "Bearer s3cret"))
                .isEqualTo(200);
    }

    @Test
    void refusalsNameTheReasonAndTheRemedy() throws Exception {
        HttpAnswer denied = asking(Optional.empty(), "DENIED")
                .refused(request("10.0.0.7", "node", "Bearer " + TOKEN))
                .orElseThrow();
        assertThat(text(denied))
                .isEqualTo(
                        "because\nexpected a Kubernetes token that may get nodehealths.gpuwarden.dev/page of this node,"
                                + " as password or bearer: kubectl create token NAME --audience gpuwarden-page --duration 10m\n");
        HttpAnswer unknown = asking(Optional.empty(), "UNKNOWN")
                .refused(request("10.0.0.7", "node", "Bearer " + TOKEN))
                .orElseThrow();
        assertThat(text(unknown)).isEqualTo("the token cannot be checked: because\n");
    }

    private static String text(HttpAnswer answer) {
        return new String(answer.body(), StandardCharsets.UTF_8);
    }

    /** Over a socket, since who waits holds a thread of the server. */
    @Test
    void tokenReviewsDoNotDelayOtherRequests() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        PageGuard door = new PageGuard(Optional.empty(), Optional.of(token -> {
            asked.countDown();
            return new CompletableFuture<>();
        }));
        HttpHandler site = new HttpHandler() {
            @Override
            public boolean has(String path) {
                return true;
            }

            @Override
            public HttpAnswer answer(Request request) {
                return HttpAnswer.text(200, "the page");
            }

            @Override
            public Limits limits() {
                return Limits.READING.withThreads(1);
            }
        };
        List<Socket> strangers = new ArrayList<>();
        try (WebServer server = WebServer.start(
                new ListenAddress("127.0.0.1", 0), List.of(new GuardedHandler(door.roomy(site), door)))) {
            for (int i = 0; i < TokenVerdictCache.MOST_WAITING; i++) {
                strangers.add(send(server, "node", "Authorization: Bearer " + TOKEN + "\r\n"));
            }
            assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
            try (Socket local = send(server, "localhost", "")) {
                // Less than the strangers wait.
                local.setSoTimeout(4_000);
                assertThat(firstLine(local)).contains("200");
            }
        } finally {
            for (Socket stranger : strangers) {
                stranger.close();
            }
        }
    }

    private static Socket send(WebServer server, String host, String header) throws IOException {
        Socket socket = new Socket("127.0.0.1", server.address().getPort());
        socket.getOutputStream()
                .write(("GET / HTTP/1.1\r\nHost: " + host + "\r\n" + header + "\r\n")
                        .getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    private static String firstLine(Socket socket) throws IOException {
        return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII)).readLine();
    }

    @Test
    void theAggregatorReviewsTokensOnlyIfConfiguredAndOverTls() throws Exception {
        TokenReviewer review = token -> CompletableFuture.completedFuture(new Verdict(Outcome.ALLOWED, ""));
        PageOptions options = new PageOptions();
        assertThat(status(options.door(Optional.of(review)), "10.0.0.7", "node", "Bearer " + TOKEN))
                .as("off unless it is wanted")
                .isEqualTo(403);
        options.tokenReview = Switch.on;
        assertThat(status(options.door(Optional.of(review)), "10.0.0.7", "node", "Bearer " + TOKEN))
                .isEqualTo(200);
        assertThatThrownBy(() -> options.door(Optional.empty()))
                .isInstanceOf(UserError.class)
                .hasMessageContaining("--uplink.address without --uplink.insecure");
    }
}
