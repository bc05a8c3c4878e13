package dev.gpuwarden.aggregator.provider;

import dev.gpuwarden.api.ClientFiles;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The address of a provider, with the files that prove both sides to each other. The files are read for each connection.
 *
 * @param plaintext true to connect without TLS
 * @param ca certificates that the provider's must descend from; those of the system if empty
 * @param token file with the token that is sent with each request
 */
public record ProviderAddress(String host, int port, boolean plaintext, Optional<Path> ca, Optional<Path> token) {

    private static final int MOST_MESSAGE_BYTES = 65_536;
    private static final int MOST_METADATA_BYTES = 8_192;

    /** Returns a channel, which connects on first use. */
    ManagedChannel channel() throws IOException {
        NettyChannelBuilder builder = NettyChannelBuilder.forAddress(host, port);
        return (plaintext ? builder.usePlaintext() : builder.sslContext(tls()))
                .disableRetry()
                .disableServiceConfigLookUp()
                .maxInboundMessageSize(MOST_MESSAGE_BYTES)
                .maxInboundMetadataSize(MOST_METADATA_BYTES)
                .build();
    }

    private SslContext tls() throws IOException {
        SslContextBuilder builder = GrpcSslContexts.forClient();
        if (ca.isPresent()) {
            builder.trustManager(ClientFiles.readable(ca.get()).toFile());
        }
        try {
            return builder.build();
        } catch (IllegalArgumentException e) {
            throw new IOException(ca.map(Path::toString).orElse("TLS") + ": " + e.getMessage(), e);
        }
    }

    /** Returns the headers with the current token. */
    Metadata credentials() throws IOException {
        return ClientFiles.credentials(token, "--janitor.provider-token-file");
    }

    @Override
    public String toString() {
        return host + ":" + port;
    }
}
