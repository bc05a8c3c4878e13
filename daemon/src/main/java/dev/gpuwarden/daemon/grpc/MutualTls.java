package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.cli.UserError;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.util.AdvancedTlsX509KeyManager;
import io.grpc.util.AdvancedTlsX509TrustManager;
import io.grpc.util.AdvancedTlsX509TrustManager.Verification;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * TLS with certificates on both sides. The files are checked every minute, since certificates are short-lived in many
 * clusters. TLS classes are loaded only if this class is used.
 */
record MutualTls(Path certificate, Path key, Path clientCa) {

    private static final long CHECK_MINUTES = 1;

    /**
     * Returns the TLS context.
     *
     * @throws UserError if the files cannot be used
     */
    SslContext context(ScheduledExecutorService executor) {
        try {
            AdvancedTlsX509KeyManager identity = new AdvancedTlsX509KeyManager();
            var unused = identity.updateIdentityCredentials(
                    certificate.toFile(), key.toFile(), CHECK_MINUTES, TimeUnit.MINUTES, executor);
            AdvancedTlsX509TrustManager trust = AdvancedTlsX509TrustManager.newBuilder()
                    // A client has no host name to compare with; its certificate identifies it.
                    .setVerification(Verification.CERTIFICATE_ONLY_VERIFICATION)
                    .build();
            var unusedToo = trust.updateTrustCredentials(clientCa.toFile(), CHECK_MINUTES, TimeUnit.MINUTES, executor);
            return GrpcSslContexts.configure(
                            SslContextBuilder.forServer(identity)
                                    .trustManager(trust)
                                    .clientAuth(ClientAuth.REQUIRE),
                            SslProvider.JDK)
                    .build();
        } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
            throw new UserError("cannot use the TLS files --grpc.tls-cert " + certificate + ", --grpc.tls-key " + key
                    + " and --grpc.tls-client-ca " + clientCa + ": " + e.getMessage());
        }
    }
}
