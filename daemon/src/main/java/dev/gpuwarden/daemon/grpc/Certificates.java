package dev.gpuwarden.daemon.grpc;

import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;

/** Who a TLS client is. Apart, so that nothing of TLS is loaded where it is not used. */
final class Certificates {

    private Certificates() {}

    static Peer peer(SSLSession session) {
        try {
            return new Peer.Certified(session.getPeerPrincipal().getName());
        } catch (SSLPeerUnverifiedException e) {
            return new Peer.Anonymous();
        }
    }
}
