package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.api.ClientFiles;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.web.ListenAddress;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The aggregator's address and the node's credentials. Files are read for each connection.
 *
 * @param plainAddress a loopback address, resolved once; empty with TLS
 */
record UplinkAddress(
        String host,
        int port,
        Optional<InetSocketAddress> plainAddress,
        Optional<Path> ca,
        Optional<Identity> identity,
        Optional<Path> tokenFile) {

    private static final long KEEPALIVE_SECONDS = 30;
    private static final long PONG_SECONDS = 10;
    private static final int MOST_MESSAGE_BYTES = 64 << 10;
    private static final int MOST_METADATA_BYTES = 8 << 10;
    private static final int WINDOW_BYTES = 64 << 10;

    /** A certificate that names the node, and its key. */
    record Identity(Path certificate, Path key) {}

    /** @throws UserError if the options contradict each other or would send data unencrypted to another machine */
    static UplinkAddress of(UplinkOptions options, String given) {
        ListenAddress parsed = parse(given);
        if ((options.tlsCert == null) != (options.tlsKey == null)) {
            throw new UserError("--uplink.tls-cert and --uplink.tls-key go together");
        }
        UplinkAddress address = new UplinkAddress(
                parsed.host(),
                parsed.port(),
                options.insecure ? Optional.of(loopback(parsed, given)) : Optional.empty(),
                Optional.ofNullable(options.tlsCa),
                options.tlsCert == null || options.tlsKey == null
                        ? Optional.empty()
                        : Optional.of(new Identity(options.tlsCert, options.tlsKey)),
                Optional.ofNullable(options.tokenFile));
        if (!options.insecure) {
            address.tryFiles();
        } else if (options.tlsCa != null || options.tlsCert != null || options.tokenFile != null) {
            throw new UserError("--uplink.insecure sends no token and uses no certificates: leave out"
                    + " --uplink.tls-ca, --uplink.tls-cert, --uplink.tls-key and --uplink.token-file");
        }
        return address;
    }

    private static ListenAddress parse(String given) {
        try {
            ListenAddress parsed = ListenAddress.parse(given);
            if (!parsed.host().isEmpty() && parsed.port() > 0) {
                return parsed;
            }
        } catch (UserError e) {
            // The same message as for an address without a host.
        }
        throw new UserError("--uplink.address must be host:port or [IPv6]:port, but was '" + given + "'");
    }

    private static InetSocketAddress loopback(ListenAddress parsed, String given) {
        try {
            InetAddress found = InetAddress.getByName(parsed.host());
            if (found.isLoopbackAddress()) {
                return new InetSocketAddress(found, parsed.port());
            }
        } catch (UnknownHostException e) {
            throw new UserError("--uplink.address " + given + ": no such host");
        }
        throw new UserError("--uplink.address " + given + " is no loopback address, and --uplink.insecure would show"
                + " all data to every listener on the network: leave it out");
    }

    private void tryFiles() {
        try {
            var unused = tls();
        } catch (IOException | IllegalArgumentException e) {
            throw new UserError("cannot use the files of --uplink.tls-ca, --uplink.tls-cert and --uplink.tls-key: "
                    + e.getMessage());
        }
    }

    /** Returns a channel, which connects on first use. */
    ManagedChannel channel(EventLoopGroup loop) throws IOException {
        NettyChannelBuilder builder = plainAddress.isPresent()
                ? NettyChannelBuilder.forAddress(plainAddress.get()).usePlaintext()
                : NettyChannelBuilder.forAddress(host, port).sslContext(tls());
        return builder.channelType(EpollSocketChannel.class)
                .eventLoopGroup(loop)
                .directExecutor()
                .disableRetry()
                .disableServiceConfigLookUp()
                .maxInboundMessageSize(MOST_MESSAGE_BYTES)
                .maxInboundMetadataSize(MOST_METADATA_BYTES)
                .flowControlWindow(WINDOW_BYTES)
                .keepAliveTime(KEEPALIVE_SECONDS, TimeUnit.SECONDS)
                .keepAliveTimeout(PONG_SECONDS, TimeUnit.SECONDS)
                .build();
    }

    private SslContext tls() throws IOException {
        SslContextBuilder builder = GrpcSslContexts.configure(SslContextBuilder.forClient(), SslProvider.JDK);
        if (ca.isPresent()) {
            builder.trustManager(ClientFiles.readable(ca.get()).toFile());
        }
        if (identity.isPresent()) {
            builder.keyManager(
                    ClientFiles.readable(identity.get().certificate()).toFile(),
                    ClientFiles.readable(identity.get().key()).toFile());
        }
        return builder.build();
    }

    /** Returns the headers with the current token. */
    Metadata credentials() throws IOException {
        return ClientFiles.credentials(tokenFile, "--uplink.token-file");
    }

    @Override
    public String toString() {
        return new ListenAddress(host, port).toString();
    }
}
