package dev.gpuwarden.daemon.kube;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.tls.PemCertificates;
import dev.gpuwarden.core.util.PrivateKeys;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * The address of the API server and the node's credentials.
 *
 * @param server with a path if the API is below one; no slash at the end
 * @param ca the authorities that sign the server's certificate; empty for those that Java trusts
 * @param origin the source of these settings, for messages
 */
record KubeAccess(
        URI server,
        Optional<CredentialSource> ca,
        Optional<Identity> identity,
        Optional<CredentialSource> token,
        String origin) {

    /** The folder of a pod's ServiceAccount (kubernetes.io/docs). */
    static final Path SERVICE_ACCOUNT = Path.of("/var/run/secrets/kubernetes.io/serviceaccount");

    /** A certificate chain and its key, both in PEM. */
    record Identity(CredentialSource certificate, CredentialSource key) {}

    /**
     * Returns the access of the pod's ServiceAccount; empty outside of a pod. Kubernetes sets the two variables in
     * every pod.
     */
    static Optional<KubeAccess> ofPod(Map<String, String> environment, Path account) {
        String host = environment.getOrDefault("KUBERNETES_SERVICE_HOST", "");
        String port = environment.getOrDefault("KUBERNETES_SERVICE_PORT", "");
        Path token = account.resolve("token");
        if (host.isEmpty() || port.isEmpty() || !Files.exists(token)) {
            return Optional.empty();
        }
        String bracketed = host.indexOf(':') >= 0 ? "[" + host + "]" : host;
        return Optional.of(new KubeAccess(
                address("https://" + bracketed + ":" + port, "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT"),
                Optional.of(CredentialSource.of(account.resolve("ca.crt"))),
                Optional.empty(),
                Optional.of(CredentialSource.of(token)),
                "the ServiceAccount of this pod"));
    }

    /** @throws UserError if it is no address, or plain HTTP to another machine, which would expose the token */
    static URI address(String text, String where) {
        URI uri;
        try {
            uri = URI.create(text.endsWith("/") ? text.substring(0, text.length() - 1) : text);
        } catch (IllegalArgumentException e) {
            throw unusable(text, where);
        }
        boolean tls = "https".equals(uri.getScheme());
        if (uri.getHost() == null || uri.getQuery() != null || uri.getUserInfo() != null) {
            throw unusable(text, where);
        }
        if (!tls && !("http".equals(uri.getScheme()) && loopback(uri.getHost()))) {
            throw unusable(text, where);
        }
        return uri;
    }

    /**
     * Reads all files once.
     *
     * @throws IOException with the name of the file that cannot be used
     */
    void tryFiles() throws IOException {
        var unused = List.of(new KubeTls(this).context(), authorization());
    }

    /** Returns the Authorization header; empty without a token. Reads the current token. */
    String authorization() throws IOException {
        return token.isPresent() ? "Bearer " + token.get().readWord() : "";
    }

    private static UserError unusable(String text, String where) {
        return new UserError(
                where + ": the API server must be an https:// address (http:// to this machine alone), but is '" + text
                        + "'");
    }

    private static boolean loopback(String host) {
        try {
            return InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }

    @Override
    public String toString() {
        return server + " (" + origin + ")";
    }

    /** A snapshot of an access's certificates, which shows when they are renewed. */
    static final class KubeTls {

        private final KubeAccess access;
        private final List<byte[]> read = new ArrayList<>();

        /** Reads the files. */
        KubeTls(KubeAccess access) throws IOException {
            this.access = access;
            if (access.ca().isPresent()) {
                read.add(access.ca().get().read());
            }
            if (access.identity().isPresent()) {
                read.add(access.identity().get().certificate().read());
                read.add(access.identity().get().key().read());
            }
        }

        boolean same(@Nullable KubeTls other) {
            if (other == null || other.read.size() != read.size()) {
                return false;
            }
            for (int i = 0; i < read.size(); i++) {
                if (!Arrays.equals(read.get(i), other.read.get(i))) {
                    return false;
                }
            }
            return true;
        }

        /** @throws IOException with the name of the file that cannot be used */
        SSLContext context() throws IOException {
            try {
                SSLContext context = SSLContext.getInstance("TLS");
                context.init(keys(), trust(), null);
                return context;
            } catch (GeneralSecurityException e) {
                throw new IOException("certificates of " + access.origin() + ": " + e.getMessage(), e);
            }
        }

        private TrustManager @Nullable [] trust() throws IOException, GeneralSecurityException {
            return access.ca().isPresent()
                    ? PemCertificates.signedBy(
                            PemCertificates.parse(read.get(0), access.ca().get().toString()))
                    : null;
        }

        private KeyManager @Nullable [] keys() throws IOException, GeneralSecurityException {
            if (access.identity().isEmpty()) {
                return null;
            }
            KubeAccess.Identity identity = access.identity().get();
            int first = access.ca().isPresent() ? 1 : 0;
            Certificate[] chain = PemCertificates.parse(
                            read.get(first), identity.certificate().toString())
                    .toArray(new Certificate[0]);
            KeyStore store = PemCertificates.emptyStore();
            store.setKeyEntry(
                    "node",
                    PrivateKeys.parse(read.get(first + 1), identity.key().toString()),
                    new char[0],
                    chain);
            KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            factory.init(store, new char[0]);
            return factory.getKeyManagers();
        }
    }
}
