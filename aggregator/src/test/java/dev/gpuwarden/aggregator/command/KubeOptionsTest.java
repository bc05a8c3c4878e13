package dev.gpuwarden.aggregator.command;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.cli.UserError;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KubeOptionsTest {

    @TempDir
    Path folder;

    private final KubeOptions options = new KubeOptions();
    private Map<String, String> environment = Map.of();

    /** Writes kubeconfigs of clusters without a server: the error names the requested address. */
    @BeforeEach
    void files() throws Exception {
        Path one = Files.writeString(folder.resolve("one"), """
                current-context: a
                clusters: [{name: a, cluster: {server: 'http://127.0.0.1:1'}}]
                contexts: [{name: a, context: {cluster: a, user: both}}]""");
        Path two = Files.writeString(folder.resolve("two"), """
                current-context: b
                users: [{name: both, user: {token: t}}]
                clusters: [{name: a, cluster: {server: 'http://127.0.0.1:3'}},
                            {name: b, cluster: {server: 'http://127.0.0.1:2'}}]
                contexts: [{name: b, context: {cluster: b, user: both}}]""");
        environment =
                Map.of("KUBECONFIG", one + File.pathSeparator + folder.resolve("absent") + File.pathSeparator + two);
    }

    private void asks(String server) {
        try (KubeClient api = options.connect(environment)) {
            assertThatThrownBy(() -> api.get("/version"))
                    .isInstanceOf(ApiException.class)
                    .hasMessageContaining("no answer from http://127.0.0.1:" + server);
        }
    }

    @Test
    void severalFilesAreMerged() {
        asks("1");
        options.context = "b";
        asks("2");
        options.kubeconfig = folder.resolve("two");
        asks("2");
    }

    @Test
    void missingContextIsAnError() {
        options.context = "prod";
        assertThatThrownBy(() -> options.connect(environment))
                .isInstanceOf(UserError.class)
                .hasMessageContaining("has no context prod")
                .hasMessageContaining(folder.resolve("one") + File.pathSeparator + folder.resolve("two"));
    }
}
