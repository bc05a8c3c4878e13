package dev.gpuwarden.testkit.cluster;

import dev.gpuwarden.testkit.Resource;
import dev.gpuwarden.testkit.Unchecked;
import dev.gpuwarden.testkit.tls.TestKeys.Openssl;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;

/**
 * Keys and certificates of one control plane, created by openssl 3 in its folder.
 *
 * @param folder one that only its owner can enter
 */
record Certificates(Path folder) {

    /**
     * Creates all but those of kubelets.
     *
     * @param address of the API server, an IP address
     * @throws IllegalStateException when openssl is missing or fails, with its output
     */
    void make(String address) {
        Unchecked.run(() -> Files.writeString(
                folder.resolve("openssl.cnf"),
                Resource.text("cluster/openssl.cnf").replace("IP:127.0.0.1", "IP:127.0.0.1, IP:" + address)));
        certificate("ca", "authority", "/CN=gpuwarden testkit");
        certificate("server", "server", "/CN=kube-apiserver", "-CA", "ca.crt", "-CAkey", "ca.key");
        certificate("admin", "client", "/O=system:masters/CN=admin", "-CA", "ca.crt", "-CAkey", "ca.key");
        certificate("proxy", "client", "/CN=system:kube-proxy", "-CA", "ca.crt", "-CAkey", "ca.key");
        // The API server takes public keys from certificates too.
        certificate("service-accounts", "client", "/CN=service accounts");
    }

    /** Creates the client certificate by which the API server identifies a node's kubelet. */
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

    /** Returns a file's content as a kubeconfig embeds it. */
    static String base64(Path file) {
        return Unchecked.get(() -> Base64.getEncoder().encodeToString(Files.readAllBytes(file)));
    }

    /** Writes kubeconfig files: the address of an API server and the client's credentials. */
    static final class Kubeconfig {

        private Kubeconfig() {}

        static String ofCertificate(String url, Path authority, Path certificate, Path key) {
            return text(
                    url,
                    authority,
                    "client-certificate-data: " + Certificates.base64(certificate) + "\n    client-key-data: "
                            + Certificates.base64(key));
        }

        static String ofToken(String url, Path authority, String token) {
            return text(url, authority, "token: " + token);
        }

        private static String text(String url, Path authority, String user) {
            String form = """
                    apiVersion: v1
                    kind: Config
                    current-context: it
                    clusters:
                    - name: it
                      cluster:
                        server: %s
                        certificate-authority-data: %s
                    users:
                    - name: it
                      user:
                        %s
                    contexts:
                    - name: it
                      context:
                        cluster: it
                        user: it
                    """;
            return String.format(Locale.ROOT, form, url, Certificates.base64(authority), user);
        }
    }
}
