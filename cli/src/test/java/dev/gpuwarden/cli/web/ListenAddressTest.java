package dev.gpuwarden.cli.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.cli.UserError;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ListenAddressTest {

    @ParameterizedTest
    @CsvSource({
        "127.0.0.1:9402, 127.0.0.1, 9402",
        "':9402', '', 9402",
        "localhost:0, localhost, 0",
        "[::1]:9402, '::1', 9402",
        "[fe80::1%eth0]:1, 'fe80::1%eth0', 1"
    })
    void listenAddressesInEveryForm(String text, String host, int port) {
        ListenAddress address = ListenAddress.parse(text);
        assertThat(address).isEqualTo(new ListenAddress(host, port));
        assertThat(address).hasToString(text);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "9402", "localhost", "localhost:", "::1:9402", "127.0.0.1:65536", "127.0.0.1:-1", "a:1:2"})
    void otherTextIsNoListenAddress(String text) {
        assertThatThrownBy(() -> ListenAddress.parse(text))
                .isInstanceOf(UserError.class)
                .hasMessageContaining("'" + text + "'");
    }

    @Test
    void wildcardAddressIsValid() throws Exception {
        try (WebServer everywhere = WebServer.start(ListenAddress.parse(":0"), List.of())) {
            assertThat(everywhere.address().getAddress().isAnyLocalAddress()).isTrue();
        }
    }

    @Test
    void anUnknownHostIsTheUsersError() {
        assertThatThrownBy(() -> WebServer.start(ListenAddress.parse("no.such.host.invalid:0"), List.of()))
                .isInstanceOf(UserError.class)
                .hasMessageContaining("no such host");
    }
}
