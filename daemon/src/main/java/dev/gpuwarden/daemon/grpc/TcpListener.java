package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.web.ListenAddress;
import io.grpc.netty.InternalProtocolNegotiator;
import io.grpc.netty.InternalProtocolNegotiators;
import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The TCP address for queries. Addresses other than loopback require mutual TLS. */
final class TcpListener {

    private final @Nullable ListenAddress listen;
    private final Optional<MutualTls> tls;

    private TcpListener(@Nullable ListenAddress listen, Optional<MutualTls> tls) {
        this.listen = listen;
        this.tls = tls;
    }

    /**
     * Returns the listener that the options configure.
     *
     * @throws UserError if the options contradict each other or would expose the node without authentication
     */
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
            if (Stream.of(
                            Optional.ofNullable(options.tlsCert),
                            Optional.ofNullable(options.tlsKey),
                            Optional.ofNullable(options.tlsClientCa))
                    .anyMatch(Optional::isPresent)) {
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
}
