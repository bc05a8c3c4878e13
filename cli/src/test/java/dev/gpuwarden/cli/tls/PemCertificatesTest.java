package dev.gpuwarden.cli.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PemCertificatesTest {

    @TempDir
    static Path folder;

    private static String certificate;

    @BeforeAll
    static void create() throws Exception {
        Process openssl = new ProcessBuilder(
                        ("openssl req -x509 -days 2 -subj /CN=a -keyout a.key -out a.crt -nodes -newkey ec"
                                        + " -pkeyopt ec_paramgen_curve:P-256")
                                .split(" "))
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        openssl.getInputStream().readAllBytes();
        assertThat(openssl.waitFor()).isZero();
        certificate = Files.readString(folder.resolve("a.crt"));
    }

    private static int parsed(String text) throws IOException {
        return PemCertificates.parse(text.getBytes(StandardCharsets.US_ASCII), "file")
                .size();
    }

    /** Tools such as `openssl ecparam` and haproxy write them into files of certificates. */
    @Test
    void otherBlocksAreSkipped() throws IOException {
        String others = """
                a comment
                -----BEGIN EC PARAMETERS-----
                BggqhkjOPQMBBw==
                -----END EC PARAMETERS-----
                -----BEGIN RSA PRIVATE KEY-----
                Proc-Type: 4,ENCRYPTED
                DEK-Info: AES-128-CBC,00
                AAAA
                -----END RSA PRIVATE KEY-----
                -----BEGIN DH PARAMETERS-----
                AAAA
                -----END DH PARAMETERS-----
                """;
        assertThat(parsed(others + certificate + others + certificate)).isEqualTo(2);
        assertThatThrownBy(() -> parsed(others)).hasMessage("file: expected certificates in PEM, found none");
    }

    @Test
    void halfACertificateIsRefused() {
        assertThatThrownBy(() -> parsed(certificate + certificate.substring(0, 200)))
                .hasMessageContaining("one of them has no end");
        assertThatThrownBy(() -> parsed(certificate.replaceFirst("MII", "=II")))
                .hasMessageStartingWith("file: expected certificates in PEM: ");
    }
}
