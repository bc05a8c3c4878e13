package dev.gpuwarden.testkit.cluster;

import dev.gpuwarden.testkit.tls.Openssl;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/** Keys and certificates of one control plane, made by openssl 3 in its folder. */
final class Certificates {

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
        arguments.addAll(Openssl.NEW_KEY);
        arguments.addAll(List.of("-days", "365"));
        arguments.addAll(List.of("-keyout", name + ".key", "-out", name + ".crt"));
        arguments.addAll(List.of(issuer));
        Openssl.run(folder, arguments);
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
