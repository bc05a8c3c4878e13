package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.testkit.cluster.ControlPlane;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.function.UnaryOperator;

/** Good tokens with changes, signed again by the control plane's own key or by another one. */
final class TestTokens {

    private TestTokens() {}

    /** @param change change of its claims, as JSON */
    static String signedAgain(ControlPlane plane, String good, UnaryOperator<String> change) throws Exception {
        Path key = plane.adminKubeconfig().resolveSibling("service-accounts.key");
        String pem = Files.readString(key).replaceAll("-----[A-Z ]+-----", "");
        return sign(
                good,
                change,
                KeyFactory.getInstance("EC")
                        .generatePrivate(
                                new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(pem))));
    }

    static String signedByAnother(String good) throws Exception {
        KeyPairGenerator keys = KeyPairGenerator.getInstance("EC");
        keys.initialize(256);
        return sign(good, claims -> claims, keys.generateKeyPair().getPrivate());
    }

    /** Returns the changed token with its old signature. */
    static String changed(String good, UnaryOperator<String> change) {
        String[] parts = good.split("\\.");
        return parts[0] + "." + encode(change.apply(claims(good)).getBytes(StandardCharsets.UTF_8)) + "." + parts[2];
    }

    static String claims(String token) {
        return new String(Base64.getUrlDecoder().decode(token.split("\\.")[1]), StandardCharsets.UTF_8);
    }

    private static String sign(String good, UnaryOperator<String> change, PrivateKey key) throws Exception {
        String content =
                good.split("\\.")[0] + "." + encode(change.apply(claims(good)).getBytes(StandardCharsets.UTF_8));
        Signature signature = Signature.getInstance("SHA256withECDSAinP1363Format");
        signature.initSign(key);
        signature.update(content.getBytes(StandardCharsets.US_ASCII));
        return content + "." + encode(signature.sign());
    }

    private static String encode(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
