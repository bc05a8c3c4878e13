package dev.gpuwarden.cli.tls;

import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.ApplicationProtocolNegotiator;
import io.netty.handler.ssl.SslContext;
import java.util.List;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSessionContext;

/**
 * A context that passes each connection to that of the newest certificate. A session of the previous one, with a client whose
 * authority may be gone, cannot be resumed.
 */
final class NewestContext extends SslContext {

    private final ReloadedFiles<ServerCertificate> certificate;

    NewestContext(ReloadedFiles<ServerCertificate> certificate) {
        this.certificate = certificate;
    }

    private SslContext newest() {
        return certificate.get().context();
    }

    @Override
    public boolean isClient() {
        return false;
    }

    @Override
    public List<String> cipherSuites() {
        return newest().cipherSuites();
    }

    @Override
    @SuppressWarnings("deprecation")
    public ApplicationProtocolNegotiator applicationProtocolNegotiator() {
        return newest().applicationProtocolNegotiator();
    }

    @Override
    public SSLEngine newEngine(ByteBufAllocator allocator) {
        return newest().newEngine(allocator);
    }

    @Override
    public SSLEngine newEngine(ByteBufAllocator allocator, String host, int port) {
        return newest().newEngine(allocator, host, port);
    }

    @Override
    public SSLSessionContext sessionContext() {
        return newest().sessionContext();
    }
}
