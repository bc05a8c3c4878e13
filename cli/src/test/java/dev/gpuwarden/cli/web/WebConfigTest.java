package dev.gpuwarden.cli.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.tls.ServerCertificate.Clients;
import io.netty.handler.ssl.ClientAuth;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WebConfigTest {

    /** The hash of the word "secret" with cost 4. */
    static final String HASH = "$2a$04$QVdaUVdaUVdaUVdaUVdaUO4AHMw3FdQbQ3sCYqeMPaYvTZMqlBEAu";

    @TempDir
    Path folder;

    private WebConfig read(String yaml) throws IOException {
        return WebConfig.read(Files.writeString(folder.resolve("web.yml"), yaml));
    }

    @Test
    void filesAreRelativeToTheFile() throws Exception {
        WebConfig.Tls tls = read("""
                        tls_server_config:
                          cert_file: tls.crt
                          key_file: /etc/tls.key
                          client_ca_file: ca.crt
                          client_auth_type: VerifyClientCertIfGiven
                          client_allowed_sans: [prometheus]
                          max_version: TLS12
                        http_server_config:
                          http2: true
                        """).tls().orElseThrow();
        assertThat(tls.files().chain()).isEqualTo(folder.resolve("tls.crt"));
        assertThat(tls.files().key()).isEqualTo(Path.of("/etc/tls.key"));
        assertThat(tls.files().clients())
                .contains(new Clients(folder.resolve("ca.crt"), ClientAuth.OPTIONAL, Set.of("prometheus")));
        assertThat(tls.protocols()).containsExactly("TLSv1.2");
    }

    @Test
    void emptyFileRequiresNothing() throws Exception {
        assertThat(read("tls_server_config:\n")).isEqualTo(new WebConfig(Optional.empty(), Map.of()));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "tls_server_config: {cert_file: a} | expected cert_file and key_file",
                "tls_server_config: {cert_file: a, key_file: b, client_ca_file: c} | client_auth_type",
                "tls_server_config: {cert_file: a, key_file: b, client_auth_type: RequireAndVerifyClientCert}"
                        + " | without client_ca_file",
                "tls_server_config: {cert_file: a, key_file: b, client_allowed_sans: [x]} | client_allowed_sans without",
                "tls_server_config: {cert_file: a, key_file: b, client_auth_type: RequireAnyClientCert}"
                        + " | the others verify nothing",
                "tls_server_config: {cert_file: a, key_file: b, min_version: TLS10} | min_version TLS10",
                "tls_server_config: {cert_fiel: a} | not supported",
                "rate_limit: {burst: 3} | rate_limit.burst: not supported",
                "basic_auth_users: {me: secret} | expected a bcrypt hash",
                "basic_auth_users: {me: $2a$15$QVdaUVdaUVdaUVdaUVdaUO4AHMw3FdQbQ3sCYqeMPaYvTZMqlBEAu} | of cost 4 to 14",
                "nothing | expected sections",
            })
    void unsupportedSettingIsRefused(String yaml, String problem) {
        assertThatThrownBy(() -> read(yaml))
                .isInstanceOf(UserError.class)
                .hasMessageContaining("--web.config.file: " + folder.resolve("web.yml"))
                .hasMessageContaining(problem)
                .hasMessageNotContaining("QVda");
    }
}
