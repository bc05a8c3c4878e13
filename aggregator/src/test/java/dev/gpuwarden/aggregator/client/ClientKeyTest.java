package dev.gpuwarden.aggregator.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys of an administrator's kubeconfig, whose PEM does not name the algorithm. */
@Tag("programs")
class ClientKeyTest {

    @ParameterizedTest
    @ValueSource(strings = {"rsa:2048", "ec -pkeyopt ec_paramgen_curve:P-256"})
    void clientConnectsWithEachKindOfKey(String kind, @TempDir Path folder) throws Exception {
        Process openssl = new ProcessBuilder(
                        ("openssl req -x509 -days 2 -subj /CN=admin -nodes -keyout key -out cert -newkey " + kind)
                                .split(" "))
                .directory(folder.toFile())
                .start();
        assertThat(openssl.waitFor()).isZero();
        Config config = new ConfigBuilder(Config.empty())
                .withMasterUrl("https://127.0.0.1:1")
                .withClientCertFile(folder.resolve("cert").toString())
                .withClientKeyFile(folder.resolve("key").toString())
                .build();
        KubeClient.connect(config).close();
    }
}
