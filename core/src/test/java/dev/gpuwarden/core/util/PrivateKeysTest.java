package dev.gpuwarden.core.util;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Keys as openssl writes them in every form that kubeconfigs hold. */
class PrivateKeysTest {

    @TempDir
    Path folder;

    private void openssl(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("openssl"));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
    }

    @ParameterizedTest
    @CsvSource({
        "rsa:2048, SHA256withRSA, BEGIN RSA PRIVATE KEY",
        "rsa:2048, SHA256withRSA, BEGIN PRIVATE KEY",
        "ec:P-256, SHA256withECDSA, BEGIN EC PRIVATE KEY",
        "ec:P-384, SHA256withECDSA, BEGIN PRIVATE KEY",
        "ed25519, Ed25519, BEGIN PRIVATE KEY",
    })
    void keyOfEveryFormMatchesItsCertificate(String kind, String algorithm, String form) throws Exception {
        List<String> request = new ArrayList<>(List.of("req", "-x509", "-nodes", "-subj", "/CN=x", "-newkey"));
        request.addAll(
                kind.startsWith("ec:")
                        ? List.of("ec", "-pkeyopt", "ec_paramgen_curve:" + kind.substring(3))
                        : List.of(kind));
        request.addAll(List.of("-keyout", "key.pem", "-out", "cert.pem"));
        openssl(request.toArray(String[]::new));
        if (form.contains("RSA") || form.contains("EC")) {
            openssl("pkey", "-traditional", "-in", "key.pem", "-out", "old.pem");
            Files.move(
                    folder.resolve("old.pem"),
                    folder.resolve("key.pem"),
                    java.nio.file.StandardCopyOption.REPLACE_EXISTING);
        }
        String pem = Files.readString(folder.resolve("key.pem"));
        String certificate = Files.readString(folder.resolve("cert.pem"));
        assertThat(pem).contains(form);
        PrivateKey key =
                PrivateKeys.parse((certificate + pem).getBytes(StandardCharsets.ISO_8859_1), "one file for both");
        PublicKey other;
        try (var in = Files.newInputStream(folder.resolve("cert.pem"))) {
            other = CertificateFactory.getInstance("X.509")
                    .generateCertificate(in)
                    .getPublicKey();
        }
        Signature sign = Signature.getInstance(algorithm);
        sign.initSign(key);
        sign.update(new byte[] {1, 2, 3});
        byte[] signature = sign.sign();
        Signature verify = Signature.getInstance(algorithm);
        verify.initVerify(other);
        verify.update(new byte[] {1, 2, 3});
        assertThat(verify.verify(signature)).isTrue();
    }

    @Test
    void invalidKeyIsAnErrorWithTheFile() {
        assertThatThrownBy(() -> PrivateKeys.parse(new byte[0], "/x/key.pem"))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("/x/key.pem: expected a private key");
        String broken = "-----BEGIN EC PRIVATE KEY-----\nMAMCAQE=\n-----END EC PRIVATE KEY-----\n";
        assertThatThrownBy(() -> PrivateKeys.parse(broken.getBytes(StandardCharsets.ISO_8859_1), "/x/key.pem"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("does not name its curve");
    }
}
