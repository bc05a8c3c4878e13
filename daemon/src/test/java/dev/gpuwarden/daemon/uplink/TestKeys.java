package dev.gpuwarden.daemon.uplink;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** An authority and certificates made by openssl, as an administrator would. */
final class TestKeys {

    private static final List<String> CURVE = List.of("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes");

    private final Path folder;
    final Path ca;

    TestKeys(Path folder) throws IOException, InterruptedException {
        this.folder = folder;
        this.ca = folder.resolve("ca.pem");
        List<String> command = new ArrayList<>(List.of("req", "-x509", "-days", "2", "-subj", "/CN=test ca"));
        command.addAll(CURVE);
        command.addAll(List.of("-keyout", "ca.key", "-out", "ca.pem"));
        openssl(command);
    }

    Path certificate(String name) throws IOException, InterruptedException {
        Files.writeString(folder.resolve(name + ".ext"), "subjectAltName=DNS:" + name + "\n");
        List<String> command = new ArrayList<>(List.of("req", "-subj", "/CN=" + name));
        command.addAll(CURVE);
        command.addAll(List.of("-keyout", name + ".key", "-out", name + ".csr"));
        openssl(command);
        openssl(List.of(
                "x509",
                "-req",
                "-in",
                name + ".csr",
                "-CA",
                "ca.pem",
                "-CAkey",
                "ca.key",
                "-CAcreateserial",
                "-days",
                "2",
                "-extfile",
                name + ".ext",
                "-out",
                name + ".pem"));
        return folder.resolve(name + ".pem");
    }

    Path key(String name) {
        return folder.resolve(name + ".key");
    }

    private void openssl(List<String> arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("openssl"));
        command.addAll(arguments);
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
    }
}
