package dev.gpuwarden.aggregator.client;

import dev.gpuwarden.core.util.PrivateKeys;
import io.fabric8.kubernetes.client.Config;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.Optional;

/** The algorithm of a kubeconfig's key. The client takes a key for RSA if its PEM does not name the algorithm. */
final class ClientKey {

    private ClientKey() {}

    /** Returns the algorithm; empty if there is no such key, or Java supports none of its kind. */
    static Optional<String> algorithm(Config config) {
        try {
            Optional<byte[]> pem = pem(config);
            return pem.isPresent()
                    ? Optional.of(
                            PrivateKeys.parse(pem.get(), "the client's key").getAlgorithm())
                    : Optional.empty();
        } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private static Optional<byte[]> pem(Config config) throws IOException {
        if (config.getClientKeyData() != null) {
            return Optional.of(Base64.getMimeDecoder().decode(config.getClientKeyData()));
        }
        return config.getClientKeyFile() == null
                ? Optional.empty()
                : Optional.of(Files.readAllBytes(Path.of(config.getClientKeyFile())));
    }
}
