package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.web.ListenAddress;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.InternalProtocolNegotiator;
import io.grpc.netty.InternalProtocolNegotiators;
import io.grpc.util.AdvancedTlsX509KeyManager;
import io.grpc.util.AdvancedTlsX509TrustManager;
import io.grpc.util.AdvancedTlsX509TrustManager.Verification;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The TCP address for queries. Addresses other than loopback require mutual TLS. */
record TcpListener(@Nullable ListenAddress listen, Optional<MutualTls> tls) {

    /** @throws UserError if the options contradict each other or would expose the node without authentication */
    static TcpListener of(GrpcOptions options) {
        Optional<MutualTls> tls = tls(options);
        if (options.listen == null) {
            if (tls.isPresent()) {
                throw new UserError("--grpc.tls-cert is of no use without --grpc.listen");
            }
            return new TcpListener(null, tls);
        }
        TcpListener door = new TcpListener(ListenAddress.parse(options.listen), tls);
        if (tls.isEmpty() && !door.address().getAddress().isLoopbackAddress()) {
            throw new UserError(
                    "--grpc.listen " + options.listen + " is no loopback address, and every client could query the node"
                            + " there: give --grpc.tls-cert, --grpc.tls-key and --grpc.tls-client-ca, or listen on 127.0.0.1");
        }
        return door;
    }

    private static Optional<MutualTls> tls(GrpcOptions options) {
        if (options.tlsCert == null || options.tlsKey == null || options.tlsClientCa == null) {
            if (options.tlsCert != null || options.tlsKey != null || options.tlsClientCa != null) {
                throw new UserError("--grpc.tls-cert, --grpc.tls-key and --grpc.tls-client-ca go together");
            }
            return Optional.empty();
        }
        return Optional.of(new MutualTls(options.tlsCert, options.tlsKey, options.tlsClientCa));
    }

    boolean wanted() {
        return listen != null;
    }

    String host() {
        return address().getHostString();
    }

    InetSocketAddress address() {
        return Objects.requireNonNull(listen).resolve();
    }

    InternalProtocolNegotiator.ProtocolNegotiator negotiator(ScheduledExecutorService executor) {
        return tls.map(files -> InternalProtocolNegotiators.serverTls(files.context(executor)))
                .orElseGet(InternalProtocolNegotiators::serverPlaintext);
    }

    /**
     * TLS with certificates on both sides. The files are checked every minute, since certificates are short-lived in many
     * clusters. TLS classes are loaded only if this class is used.
     */
    record MutualTls(Path certificate, Path key, Path clientCa) {

        private static final long CHECK_MINUTES = 1;

        /** @throws UserError if the files cannot be used */
        SslContext context(ScheduledExecutorService executor) {
            try {
                AdvancedTlsX509KeyManager identity = new AdvancedTlsX509KeyManager();
                var unused = identity.updateIdentityCredentials(
                        certificate.toFile(), key.toFile(), CHECK_MINUTES, TimeUnit.MINUTES, executor);
                AdvancedTlsX509TrustManager trust = AdvancedTlsX509TrustManager.newBuilder()
                        // A client has no host name to compare with; its certificate identifies it.
                        .setVerification(Verification.CERTIFICATE_ONLY_VERIFICATION)
                        .build();
                var unusedToo =
                        trust.updateTrustCredentials(clientCa.toFile(), CHECK_MINUTES, TimeUnit.MINUTES, executor);
                return GrpcSslContexts.configure(
                                SslContextBuilder.forServer(identity)
                                        .trustManager(trust)
                                        .clientAuth(ClientAuth.REQUIRE),
                                SslProvider.JDK)
                        .build();
            } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
                throw new UserError("cannot use the TLS files --grpc.tls-cert " + certificate + ", --grpc.tls-key "
                        + key + " and --grpc.tls-client-ca " + clientCa + ": " + e.getMessage());
            }
        }
    }
}
