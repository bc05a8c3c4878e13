package dev.gpuwarden.daemon.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.web.Answer;
import dev.gpuwarden.cli.web.Request;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PageDoorTest {

    @TempDir
    Path folder;

    private static Request request(String from, String host, String authorization) throws IOException {
        Map<String, String> headers = Map.of("Host", host, "Authorization", authorization);
        return new Request(
                "/", Map.of(), InetAddress.getByName(from), false, false, name -> headers.getOrDefault(name, ""));
    }

    private static int status(PageDoor door, String from, String host, String authorization) throws IOException {
        return door.refused(request(from, host, authorization))
                .map(Answer::status)
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
        assertThat(status(new PageDoor(Optional.empty()), from, host, "")).isEqualTo(status);
    }

    @Test
    void aTokenOpensItFromElsewhereAndANewOneCountsAtOnce() throws Exception {
        Path file = Files.writeString(folder.resolve("token"), "s3cret\n");
        PageDoor door = new PageDoor(Optional.of(file));
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

    @Test
    void aFileWithoutATokenIsTheUsersError() throws Exception {
        Path empty = Files.writeString(folder.resolve("empty"), " \n");
        for (Path file : new Path[] {empty, folder.resolve("missing")}) {
            assertThatThrownBy(() -> new PageDoor(Optional.of(file)))
                    .isInstanceOf(UserError.class)
                    .hasMessageStartingWith("--web.token-file: expected a file with a token, found: ");
        }
    }
}
