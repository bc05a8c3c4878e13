package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.cli.UserError;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.util.AdvancedTlsX509KeyManager;
import io.grpc.util.AdvancedTlsX509TrustManager;
import io.grpc.util.AdvancedTlsX509TrustManager.Verification;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** The aggregator's certificate, and by whom those of nodes are signed. Looked at every minute, since they are short-lived. */
record IngestTls(Path certificate, Path key, Optional<Path> clientCa) {

    private static final System.Logger LOG = System.getLogger(IngestTls.class.getName());

    private static final long LOOK_MINUTES = 1;

    /** Throws {@link UserError} where the files cannot be used. */
    SslContext context(ScheduledExecutorService executor) {
        try {
            AdvancedTlsX509KeyManager identity = new AdvancedTlsX509KeyManager();
            var unused = identity.updateIdentityCredentials(
                    certificate.toFile(), key.toFile(), LOOK_MINUTES, TimeUnit.MINUTES, executor);
            SslContextBuilder builder = SslContextBuilder.forServer(identity);
            if (clientCa.isPresent()) {
                AdvancedTlsX509TrustManager trust = AdvancedTlsX509TrustManager.newBuilder()
                        // A client has no name to be compared with; who he is, his certificate says.
                        .setVerification(Verification.CERTIFICATE_ONLY_VERIFICATION)
                        .build();
                var unusedToo =
                        trust.updateTrustCredentials(clientCa.get().toFile(), LOOK_MINUTES, TimeUnit.MINUTES, executor);
                builder.trustManager(trust).clientAuth(ClientAuth.OPTIONAL);
            }
            SslProvider provider = OpenSsl.isAvailable() ? SslProvider.OPENSSL : SslProvider.JDK;
            if (provider == SslProvider.JDK) {
                LOG.log(
                        Level.WARNING,
                        "Java's own TLS is used, which takes longer to greet a node: " + OpenSsl.unavailabilityCause());
            }
            return GrpcSslContexts.configure(builder, provider).build();
        } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
            throw new UserError(
                    "cannot use the TLS files --ingest.tls-cert " + certificate + ", --ingest.tls-key " + key
                            + clientCa.map(file -> " and --ingest.tls-client-ca " + file)
                                    .orElse("") + ": " + e.getMessage());
        }
    }
}
