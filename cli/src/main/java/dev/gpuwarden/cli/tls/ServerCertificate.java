package dev.gpuwarden.cli.tls;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.util.PrivateKeys;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.SignatureException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import javax.net.ssl.SSLException;
import javax.net.ssl.X509TrustManager;

/**
 * The certificate of a server, with its key and the authorities of its clients, as its files were when they were read.
 * {@link #following} returns one for each change, since certificates are short-lived in many clusters. No class of TLS is
 * loaded unless this class is used. Thread-safe.
 */
public final class ServerCertificate {

    private static final System.Logger LOG = System.getLogger(ServerCertificate.class.getName());

    /**
     * Files in PEM.
     *
     * @param chain the certificate of the server first
     * @param key without a password
     * @param clients empty for a server that requests no certificates of its clients
     */
    public record PemFiles(Path chain, Path key, Optional<Clients> clients) {}

    /**
     * The certificates of clients.
     *
     * @param ca certificates of the authorities that sign them: the old and the new one while they change
     * @param auth whether a client must have one
     * @param allowedSans a certificate must have one of these names; empty permits all
     */
    public record Clients(Path ca, ClientAuth auth, Set<String> allowedSans) {}

    /** The part of a context that differs by protocol: the library for TLS, versions, ciphers. */
    public interface Protocol {
        SslContext context(SslContextBuilder builder) throws SSLException;
    }

    private final SslContext context;
    private final Path file;
    private final Instant expires;
    private final AtomicBoolean expiryLogged = new AtomicBoolean();

    private ServerCertificate(SslContext context, Path file, Instant expires) {
        this.context = context;
        this.file = file;
        this.expires = expires;
    }

    /**
     * Reads the files.
     *
     * @throws IOException with the name of a file that cannot be used, or if the key belongs to another certificate
     */
    public static ServerCertificate load(PemFiles files, ReloadedFiles.Seen seen, Protocol protocol)
            throws IOException, GeneralSecurityException {
        try {
            List<X509Certificate> chain = PemCertificates.parse(
                    seen.read(files.chain()), files.chain().toString());
            PrivateKey key =
                    PrivateKeys.parse(seen.read(files.key()), files.key().toString());
            X509Certificate own = chain.get(0);
            if (!isPair(key, own)) {
                throw new IOException(
                        files.key() + ": expected the key of " + files.chain() + ", found that of another certificate");
            }
            SslContextBuilder builder = SslContextBuilder.forServer(key, chain);
            if (files.clients().isPresent()) {
                Clients clients = files.clients().get();
                X509TrustManager signed = (X509TrustManager)
                        PemCertificates.signedBy(PemCertificates.parse(
                                seen.read(clients.ca()), clients.ca().toString()))[0];
                builder.clientAuth(clients.auth()).trustManager(new AllowedClients(signed, clients.allowedSans()));
            }
            return new ServerCertificate(
                    protocol.context(builder), files.chain(), own.getNotAfter().toInstant());
        } catch (IllegalArgumentException e) {
            throw new IOException(files.chain() + " or " + files.key() + ": " + e.getMessage(), e);
        }
    }

    /**
     * Returns a context for a whole server: each connection gets the newest files that can be used.
     *
     * @param options the beginning of the three options that name the files, as `--grpc.tls`
     * @throws UserError if the files cannot be used
     */
    public static SslContext following(String options, PemFiles files, Protocol protocol, LongSupplier nanoTime) {
        String settings = options + "-cert " + files.chain() + ", " + options + "-key " + files.key()
                + files.clients()
                        .map(clients -> " and " + options + "-client-ca " + clients.ca())
                        .orElse("");
        try {
            return new NewestContext(
                    new ReloadedFiles<>(settings, seen -> ServerCertificate.load(files, seen, protocol), nanoTime));
        } catch (IOException | GeneralSecurityException e) {
            throw new UserError("cannot use the TLS files " + settings + ": " + e.getMessage());
        }
    }

    /** Returns whether the key belongs to the certificate. One of two files may have been replaced before the other. */
    private static boolean isPair(PrivateKey key, X509Certificate certificate) throws GeneralSecurityException {
        String algorithm = switch (key.getAlgorithm()) {
            case "RSA" -> "SHA256withRSA";
            case "EC" -> "SHA256withECDSA";
            default -> key.getAlgorithm();
        };
        byte[] text = {1};
        Signature signature = Signature.getInstance(algorithm);
        signature.initSign(key);
        signature.update(text);
        byte[] signed = signature.sign();
        try {
            signature.initVerify(certificate.getPublicKey());
            signature.update(text);
            return signature.verify(signed);
        } catch (InvalidKeyException | SignatureException e) {
            // A key of another kind, or on another curve.
            return false;
        }
    }

    /** Returns the context for the next connection. Logs once that the certificate has expired. */
    public SslContext context() {
        return contextAt(Instant.now());
    }

    SslContext contextAt(Instant now) {
        if (expires.isBefore(now) && expiryLogged.compareAndSet(false, true)) {
            LOG.log(
                    Level.WARNING,
                    "the certificate in " + file + " expired at " + expires
                            + ", and clients refuse it: replace the file and its key");
        }
        return context;
    }

    /** Returns the end of its validity. */
    public Instant expires() {
        return expires;
    }
}
