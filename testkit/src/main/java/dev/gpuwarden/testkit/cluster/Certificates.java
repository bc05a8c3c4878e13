package dev.gpuwarden.testkit.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/** Keys and certificates of one control plane, made by openssl 3 in its folder. */
final class Certificates {

    private static final List<String> NEW_KEY =
            List.of("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "365");

    private final Path folder;

    /** @param folder one that only its owner can enter */
    Certificates(Path folder) {
        this.folder = folder;
    }

    /**
     * @param address of the API server
     * @throws IllegalStateException when openssl is missing or fails, with what it said
     */
    void make(String address) {
        try {
            Files.writeString(
                    folder.resolve("openssl.cnf"),
                    Resource.text("openssl.cnf").replace("IP:127.0.0.1", "IP:127.0.0.1, IP:" + address));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        certificate("ca", "authority", "/CN=gpuwarden testkit");
        certificate("server", "server", "/CN=kube-apiserver", "-CA", "ca.crt", "-CAkey", "ca.key");
        certificate("admin", "client", "/O=system:masters/CN=admin", "-CA", "ca.crt", "-CAkey", "ca.key");
        certificate("proxy", "client", "/CN=system:kube-proxy", "-CA", "ca.crt", "-CAkey", "ca.key");
        // The API server takes public keys from certificates too.
        certificate("service-accounts", "client", "/CN=service accounts");
    }

    /** Makes a certificate with which a kubelet says which node it is. */
    void makeOfNode(String node) {
        certificate(node, "client", "/O=system:nodes/CN=system:node:" + node, "-CA", "ca.crt", "-CAkey", "ca.key");
    }

    private void certificate(String name, String kind, String subject, String... issuer) {
        List<String> arguments = new ArrayList<>(
                List.of("req", "-config", "openssl.cnf", "-x509", "-extensions", kind, "-subj", subject));
        arguments.addAll(NEW_KEY);
        arguments.addAll(List.of("-keyout", name + ".key", "-out", name + ".crt"));
        arguments.addAll(List.of(issuer));
        openssl(arguments);
    }

    private void openssl(List<String> arguments) {
        List<String> command = new ArrayList<>(List.of("openssl"));
        command.addAll(arguments);
        try {
            Process process = new ProcessBuilder(command)
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .start();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (process.waitFor() != 0) {
                throw new IllegalStateException(
                        String.join(" ", command) + ": expected a key from openssl 3, it said: " + said);
            }
        } catch (IOException e) {
            throw new IllegalStateException("openssl: expected it on the PATH (Debian: apt-get install openssl)", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while openssl makes keys", e);
        }
    }

    Path certificate(String name) {
        return folder.resolve(name + ".crt");
    }

    Path key(String name) {
        return folder.resolve(name + ".key");
    }

    /** The file as kubeconfig embeds it. */
    static String base64(Path file) {
        try {
            return Base64.getEncoder().encodeToString(Files.readAllBytes(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
