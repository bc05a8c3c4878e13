package dev.gpuwarden.daemon.kube;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.cli.UserError;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KubeconfigTest {

    @TempDir
    Path folder;

    private KubeAccess read(String cluster, String user) throws IOException {
        Path file = folder.resolve("kubeconfig");
        Files.writeString(file, """
                apiVersion: v1
                kind: Config
                current-context: here
                contexts:
                - {name: elsewhere, context: {cluster: x, user: x}}
                - {name: here, context: {cluster: c, user: u, namespace: n}}
                clusters: [{name: c, cluster: {%s}}]
                users: [{name: u, user: {%s}}]
                """.formatted(cluster, user));
        return Kubeconfig.read(file);
    }

    @Test
    void readsTheCurrentContextWithFilesBesideIt() throws IOException {
        Files.writeString(folder.resolve("token"), "secret\n");
        KubeAccess access = read(
                "server: 'https://[fd00::1]:6443/k8s/', certificate-authority: ca.crt",
                "client-certificate: a.pem, client-key: /abs/a.pem, tokenFile: token");
        assertThat(access.server()).isEqualTo(URI.create("https://[fd00::1]:6443/k8s"));
        assertThat(access.ca().orElseThrow())
                .hasToString(folder.resolve("ca.crt").toString());
        assertThat(access.identity().orElseThrow().key()).hasToString("/abs/a.pem");
        assertThat(access.authorization()).isEqualTo("Bearer secret");
        Files.writeString(folder.resolve("token"), "renewed");
        assertThat(access.authorization()).isEqualTo("Bearer renewed");
    }

    @Test
    void dataWinOverFilesAndAFileOverAToken() throws IOException {
        KubeAccess access = read(
                "server: https://h, certificate-authority-data: aGVsbG8=, certificate-authority: nowhere",
                "token: t0k");
        assertThat(access.ca().orElseThrow().read()).asString().isEqualTo("hello");
        assertThat(access.authorization()).isEqualTo("Bearer t0k");
        assertThat(access.toString()).doesNotContain("t0k");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    server: https://h, insecure-skip-tls-verify: true | token: t | insecure-skip-tls-verify: is refused
                    server: https://h, tls-server-name: x | token: t | tls-server-name: not supported: supported are server
                    server: https://h, proxy-url: 'http://p' | token: t | proxy-url: not supported
                    server: https://h | exec: {command: aws} | exec: not supported: supported are client-certificate
                    server: https://h | auth-provider: {name: gcp} | auth-provider: not supported
                    server: https://h | username: u, password: p | password, username: not supported
                    server: https://h | as: root | as: not supported
                    server: https://h | client-certificate: a | client-certificate: goes together with client-key
                    server: https://h, certificate-authority-data: '*' | token: t | certificate-authority-data: is no base64
                    server: http://192.0.2.1 | token: t | must be an https:// address (http:// to this machine alone)
                    server: h | token: t | must be an https:// address
                    token: t | token: t | token: not supported
                    """)
    void unsupportedSettingsAreErrorsThatNameTheSupportedOnes(String cluster, String user, String says) {
        assertThatThrownBy(() -> read(cluster, user))
                .isInstanceOf(UserError.class)
                .hasMessageContaining(says)
                .hasMessageContaining("kubeconfig");
    }

    @Test
    void anotherFormIsAnError() throws IOException {
        Path file = folder.resolve("x");
        assertThatThrownBy(() -> Kubeconfig.read(file)).hasMessageContaining("no such file");
        for (String text : new String[] {"- a", "a: [", "current-context: x", "{}"}) {
            Files.writeString(file, text);
            assertThatThrownBy(() -> Kubeconfig.read(file))
                    .as(text)
                    .isInstanceOf(UserError.class)
                    .hasMessageStartingWith(file.toString());
        }
    }

    @Test
    void aServerOnThisMachineMayDoWithoutTls() throws IOException {
        assertThat(read("server: http://127.0.0.1:8001", "token: t").server().getPort())
                .isEqualTo(8001);
    }
}
