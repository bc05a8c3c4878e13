package dev.gpuwarden.testkit.cluster;

import java.nio.file.Path;
import java.util.Locale;

/** Writes kubeconfig files: the address of an API server and the client's credentials. */
final class Kubeconfig {

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
