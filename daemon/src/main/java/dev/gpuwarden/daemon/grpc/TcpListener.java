package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.tls.ServerCertificate;
import dev.gpuwarden.cli.tls.ServerCertificate.Clients;
import dev.gpuwarden.cli.tls.ServerCertificate.PemFiles;
import dev.gpuwarden.cli.web.ListenAddress;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.InternalProtocolNegotiator;
import io.grpc.netty.InternalProtocolNegotiators;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslProvider;
import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The TCP address for queries. Addresses other than loopback require mutual TLS. */
record TcpListener(@Nullable ListenAddress listen, Optional<PemFiles> tls) {

    /** @throws UserError if the options contradict each other or would expose the node without authentication */
    static TcpListener of(GrpcOptions options) {
        Optional<PemFiles> tls = tls(options);
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

    private static Optional<PemFiles> tls(GrpcOptions options) {
        if (options.tlsCert == null || options.tlsKey == null || options.tlsClientCa == null) {
            if (options.tlsCert != null || options.tlsKey != null || options.tlsClientCa != null) {
                throw new UserError("--grpc.tls-cert, --grpc.tls-key and --grpc.tls-client-ca go together");
            }
            return Optional.empty();
        }
        return Optional.of(new PemFiles(
                options.tlsCert,
                options.tlsKey,
                Optional.of(new Clients(options.tlsClientCa, ClientAuth.REQUIRE, Set.of()))));
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

    /** @throws UserError if the files cannot be used */
    InternalProtocolNegotiator.ProtocolNegotiator negotiator() {
        return tls.map(files -> InternalProtocolNegotiators.serverTls(ServerCertificate.following(
                        "--grpc.tls",
                        files,
                        builder -> GrpcSslContexts.configure(builder, SslProvider.JDK)
                                .build(),
                        System::nanoTime)))
                .orElseGet(InternalProtocolNegotiators::serverPlaintext);
    }
}
