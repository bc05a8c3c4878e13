package dev.gpuwarden.aggregator.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** An authority and certificates made by openssl, as an administrator would. */
public final class TestKeys {

    private static final String NEW = " -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";

    private final Path folder;
    public final Path ca;

    public TestKeys(Path folder) throws IOException, InterruptedException {
        this.folder = folder;
        this.ca = folder.resolve("ca.pem");
        openssl("req -x509 -days 2 -subj /CN=test" + NEW + " -keyout ca.key -out ca.pem");
    }

    /** Makes both: `name.pem` and `name.key`. */
    public Path certificate(String name) throws IOException, InterruptedException {
        Files.writeString(folder.resolve(name + ".ext"), "subjectAltName=DNS:" + name + "\n");
        openssl("req -subj /CN=" + name + NEW + " -keyout " + name + ".key -out " + name + ".csr");
        openssl("x509 -req -in " + name + ".csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile " + name
                + ".ext -out " + name + ".pem");
        return pem(name);
    }

    /** The certificate that was made. */
    Path pem(String name) {
        return folder.resolve(name + ".pem");
    }

    public Path key(String name) {
        return folder.resolve(name + ".key");
    }

    private void openssl(String arguments) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(("openssl " + arguments).split(" "))
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
    }
}
