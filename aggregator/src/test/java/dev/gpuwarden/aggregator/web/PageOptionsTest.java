package dev.gpuwarden.aggregator.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.cli.UserError;
import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class PageOptionsTest {

    private static PageOptions options(String... given) {
        PageOptions options = new PageOptions();
        CommandLine.populateCommand(options, given);
        return options;
    }

    /** A user who may port-forward to the pod comes from its own address, and could give any name. */
    @ParameterizedTest
    @ValueSource(strings = {"--page.user-header=X-User", "--page.groups-header=X-Groups"})
    void headerOfAUserNeedsTheAddressOfItsProxy(String header) {
        assertThatThrownBy(() -> options(header).trusted())
                .isInstanceOf(UserError.class)
                .hasMessageStartingWith(
                        header.substring(0, header.indexOf('=')) + ": expected --page.proxy with the address")
                .hasMessageEndingWith("which trusts each user who may port-forward to the pod");
    }

    @Test
    void noAddressIsTrustedUnlessItIsGiven() throws Exception {
        assertThat(options().trusted()).isEmpty();
        assertThat(options("--page.user-header=X-User", "--page.proxy=127.0.0.1")
                        .trusted())
                .containsExactly(InetAddress.getByName("127.0.0.1"));
        assertThatThrownBy(() -> options("--page.proxy=proxy").trusted())
                .isInstanceOf(UserError.class)
                .hasMessage("--page.proxy: expected an IP address, found \"proxy\"");
    }
}
