package dev.gpuwarden.aggregator.client;

import io.fabric8.kubernetes.client.Config;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/** Of which kind a kubeconfig's key is, where its PEM does not say so and the client would take it for RSA. */
final class ClientKey {

    private static final String BEGIN = "-----BEGIN PRIVATE KEY-----";
    private static final String END = "-----END PRIVATE KEY-----";

    private ClientKey() {}

    /** Empty where there is no such key, or none that Java knows. */
    static Optional<String> algorithm(Config config) {
        try {
            return pem(config).flatMap(ClientKey::algorithm);
        } catch (IOException | IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private static Optional<String> pem(Config config) throws IOException {
        if (config.getClientKeyData() != null) {
            byte[] data = Base64.getMimeDecoder().decode(config.getClientKeyData());
            return Optional.of(new String(data, StandardCharsets.US_ASCII));
        }
        return config.getClientKeyFile() == null
                ? Optional.empty()
                : Optional.of(Files.readString(Path.of(config.getClientKeyFile())));
    }

    private static Optional<String> algorithm(String pem) {
        int begin = pem.indexOf(BEGIN);
        int end = pem.indexOf(END);
        if (begin < 0 || end < begin) {
            return Optional.empty();
        }
        byte[] key = Base64.getMimeDecoder().decode(pem.substring(begin + BEGIN.length(), end));
        return List.of("RSA", "EC", "EdDSA").stream()
                .filter(algorithm -> fits(algorithm, key))
                .findFirst();
    }

    private static boolean fits(String algorithm, byte[] key) {
        try {
            var unused = KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(key));
            return true;
        } catch (GeneralSecurityException e) {
            return false;
        }
    }
}
