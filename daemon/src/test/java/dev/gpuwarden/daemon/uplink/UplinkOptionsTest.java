package dev.gpuwarden.daemon.uplink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.api.v1.FlowLimits;
import dev.gpuwarden.cli.UserError;
import io.grpc.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

class UplinkOptionsTest {

    @TempDir
    Path folder;

    @Command
    static final class Holder {
        @Mixin
        UplinkOptions uplink = new UplinkOptions();
    }

    private static UplinkOptions parse(String line) {
        Holder holder = new Holder();
        new CommandLine(holder).parseArgs(line.split(" "));
        return holder.uplink;
    }

    @Test
    void peoplesTokensTravelOverTlsAlone() {
        assertThat(parse("--uplink.address a:1").isEncrypted()).isTrue();
        assertThat(parse("--uplink.address 127.0.0.1:1 --uplink.insecure").isEncrypted())
                .isFalse();
        assertThat(new UplinkOptions().isEncrypted()).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--uplink.address 192.0.2.1:7000 --uplink.insecure|192.0.2.1:7000 is no loopback address",
                "--uplink.address [2001:db8::1]:7000 --uplink.insecure|is no loopback address",
                "--uplink.address 0.0.0.0:7000 --uplink.insecure|is no loopback address",
                "--uplink.address :7000 --uplink.insecure|must be host:port",
                "--uplink.address https://a:7000|must be host:port",
                "--uplink.address a:0|must be host:port",
                "--uplink.insecure|of no use without --uplink.address",
                "--uplink.token-file t|of no use without --uplink.address",
                "--uplink.address a:1 --uplink.tls-cert c|go together",
                "--uplink.address a:1 --uplink.tls-ca /nonexistent/ca.pem|/nonexistent/ca.pem cannot be read",
                "--uplink.address 127.0.0.1:1 --uplink.insecure --uplink.token-file t|sends no token"
            })
    void contradictoryOrUnencryptedOptionsAreRefused(String line, String why) {
        assertThatThrownBy(() -> parse(line).validate())
                .isInstanceOf(UserError.class)
                .hasMessageContaining(why);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--uplink.address aggregator.gpuwarden.svc:7443",
                "--uplink.address [::1]:7443 --uplink.insecure",
                "--uplink.address localhost:7443 --uplink.insecure"
            })
    void goodOnesAreTaken(String line) {
        assertThatCode(() -> parse(line).validate()).doesNotThrowAnyException();
    }

    @Test
    void withoutAnAddressThereIsNoUplink() {
        assertThatCode(() -> new UplinkOptions().validate()).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "two words", "caf\u00e9", "a\nb"})
    void aTokenThatIsNoneIsNotSentAndNotShown(String text) throws IOException {
        UplinkOptions options = new UplinkOptions();
        options.tokenFile = Files.writeString(folder.resolve("token"), text);
        UplinkAddress address = UplinkAddress.of(options, "a:1");
        assertThatThrownBy(address::credentials)
                .isInstanceOf(IOException.class)
                .hasMessageContaining("has no token")
                .hasMessageNotContaining("words");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0, 0, 100, 0, 30000000000",
        "-5, -1, -1, 100, 0, 30000000000",
        "7, 4, 5, 7, 250000000, 5000000000",
        "2147483647, 1e-30, 1e30, 1000, 600000000000, 600000000000",
        "1, NaN, NaN, 1, 0, 30000000000",
        "1, Infinity, 1e-9, 1, 0, 1000000000"
    })
    void limitsAreMadeSafe(int window, double rate, double heartbeat, int safe, long eventNanos, long heartbeatNanos) {
        assertThat(EventWindow.SendLimits.of(FlowLimits.newBuilder()
                        .setMaxUnacknowledgedEvents(window)
                        .setMaxEventsPerSecond(rate)
                        .setHeartbeatPeriodSeconds(heartbeat)
                        .build()))
                .isEqualTo(new EventWindow.SendLimits(safe, eventNanos, heartbeatNanos));
    }

    @ParameterizedTest
    @CsvSource({
        "UNAVAILABLE, 1",
        "DEADLINE_EXCEEDED, 1",
        "INTERNAL, 1",
        "UNAUTHENTICATED, 5",
        "PERMISSION_DENIED, 5",
        "RESOURCE_EXHAUSTED, 5",
        "ABORTED, 5",
        "INVALID_ARGUMENT, 5",
        "UNIMPLEMENTED, 5"
    })
    void lastingErrorsAreRetriedMoreSlowly(Status.Code code, int slowness) {
        Uplink.Disconnect ending = Uplink.Disconnect.of(code.toStatus().withDescription("x".repeat(5000)));
        assertThat(ending.slowness()).isEqualTo(slowness);
        assertThat(ending.failed()).isTrue();
        assertThat(ending.why()).startsWith(code + ": xxx").hasSizeLessThan(300);
    }
}
