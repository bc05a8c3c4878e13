package dev.gpuwarden.aggregator.provider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.provider.NodeProvider.Answer;
import dev.gpuwarden.testkit.tls.TestKeys;
import io.grpc.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("programs")
class GrpcNodeProviderTest {

    @TempDir
    Path folder;

    private TestProvider server;
    private Path token;

    @BeforeEach
    void start() throws IOException {
        server = new TestProvider(folder);
        token = folder.resolve("token");
        Files.writeString(token, "one\n");
        server.expects("one");
    }

    @AfterEach
    void end() {
        server.close();
    }

    private Answer reboot(ProviderAddress address) throws ApiException, InterruptedException {
        try (NodeProvider.Connection connection = new GrpcNodeProvider(address).connect()) {
            return connection.reboot("n1", "maintenance-n1");
        }
    }

    private Answer reboot() throws ApiException, InterruptedException {
        return reboot(server.address(token));
    }

    @Test
    void requestsCarryTheNamesAndTheCurrentToken() throws Exception {
        assertThat(reboot()).isEqualTo(new Answer.Accepted("request-1"));
        server.expects("two");
        assertThat(reboot()).isEqualTo(new Answer.Refused("UNAUTHENTICATED: expected another token"));
        Files.writeString(token, "two");
        try (NodeProvider.Connection connection = new GrpcNodeProvider(server.address(token)).connect()) {
            assertThat(connection.terminate("n1")).isEqualTo(new Answer.Accepted("request-1"));
        }
        assertThat(server.requests).containsExactly("reboot n1 maintenance-n1", "terminate n1");
    }

    @Test
    void onlyAnAnswerOfTheProviderCountsAsRefusal() throws Exception {
        server.behaves(request -> Status.INTERNAL.withDescription("no such machine"));
        assertThat(reboot()).isEqualTo(new Answer.Refused("INTERNAL: no such machine"));
        server.behaves(request -> Status.UNAVAILABLE.withDescription("cloud\nis away"));
        assertThat(reboot()).isEqualTo(new Answer.Unknown("UNAVAILABLE: cloud is away"));
        server.behaves(request -> {
            server.close();
            return Status.OK;
        });
        assertThat(reboot()).isInstanceOf(Answer.Unknown.class);
        assertThat(server.requests).hasSize(3);
    }

    @Test
    void aLongIdentityIsCutVisibly() throws Exception {
        server.identifies("x".repeat(5_000));
        assertThat(((Answer.Accepted) reboot()).requestId())
                .hasSizeLessThanOrEqualTo(310)
                .startsWith("xxx")
                .doesNotMatch("x+");
        server.identifies("x".repeat(70_000));
        assertThat(reboot()).as("the request was carried out").isInstanceOf(Answer.Unknown.class);
    }

    @Test
    void withoutAConnectionNothingIsRequestedAndTheCauseIsNamed() throws Exception {
        ProviderAddress address = server.address(token);
        TestKeys others = new TestKeys(Files.createDirectory(folder.resolve("others")));
        assertThatThrownBy(() -> reboot(new ProviderAddress(
                        "localhost", address.port(), false, Optional.of(others.ca), Optional.of(token))))
                .isInstanceOf(ApiException.class)
                .hasMessageContaining("provider localhost:" + address.port() + ": no connection: ")
                .hasMessageContaining("trust anchors");
        Files.writeString(token, "one\nand another\n");
        assertThatThrownBy(this::reboot)
                .hasMessageContaining("--janitor.provider-token-file " + token + " has no token")
                .hasMessageNotContaining("another");
        Files.delete(token);
        assertThatThrownBy(this::reboot).hasMessageContaining(token + " cannot be read");
        Files.writeString(token, "one");
        server.close();
        assertThatThrownBy(this::reboot).isInstanceOf(ApiException.class).hasMessageContaining("Connection refused");
        assertThat(server.requests).isEmpty();
    }
}
