package dev.gpuwarden.daemon.grpc;

import io.grpc.Attributes;
import io.grpc.netty.GrpcHttp2ConnectionHandler;
import io.grpc.netty.InternalProtocolNegotiationEvent;
import io.grpc.netty.InternalProtocolNegotiator;
import io.grpc.netty.ProtocolNegotiationEvent;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.unix.PeerCredentials;
import io.netty.util.AsciiString;
import java.io.IOException;

/**
 * A limit on open connections, applied before gRPC sees a connection. It also records the peer's credentials. gRPC's
 * public interface has neither a connection's credentials nor its number.
 */
final class ConnectionLimiter implements InternalProtocolNegotiator.ProtocolNegotiator {

    /** The connection of a call, which is closed if its client holds too much memory. */
    static final Attributes.Key<Channel> CONNECTION = Attributes.Key.create("gpuwarden-connection");

    private final InternalProtocolNegotiator.ProtocolNegotiator inside;
    private final CallStats stats;
    private final int maxConnections;
    /** Used by the event loop only. */
    private int connections;

    ConnectionLimiter(InternalProtocolNegotiator.ProtocolNegotiator inside, CallStats stats, int maxConnections) {
        this.inside = inside;
        this.stats = stats;
        this.maxConnections = maxConnections;
    }

    @Override
    public AsciiString scheme() {
        return inside.scheme();
    }

    @Override
    public ChannelHandler newHandler(GrpcHttp2ConnectionHandler handler) {
        handler.setCumulator(new HeapCumulator());
        return new Entry(inside.newHandler(handler));
    }

    @Override
    public void close() {
        inside.close();
    }

    private boolean enter(Channel channel) {
        if (connections == maxConnections) {
            return false;
        }
        connections++;
        stats.connected();
        channel.closeFuture().addListener(closed -> {
            connections--;
            stats.disconnected();
        });
        return true;
    }

    private static Peer peer(Channel channel) throws IOException {
        if (channel instanceof EpollDomainSocketChannel unix) {
            PeerCredentials credentials = unix.peerCredentials();
            return new Peer.Process(
                    credentials.pid(), credentials.uid(), credentials.gids()[0], System.nanoTime());
        }
        return new Peer.Anonymous();
    }

    private final class Entry extends ChannelInboundHandlerAdapter {
        private final ChannelHandler next;

        Entry(ChannelHandler next) {
            this.next = next;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) throws Exception {
            if (!(event instanceof ProtocolNegotiationEvent negotiation)) {
                super.userEventTriggered(context, event);
                return;
            }
            Channel channel = context.channel();
            if (!enter(channel)) {
                stats.refused(CallStats.Refusal.CONNECTIONS);
                channel.close();
                return;
            }
            Attributes attributes = InternalProtocolNegotiationEvent.getAttributes(negotiation).toBuilder()
                    .set(Peer.OF_CONNECTION, peer(channel))
                    .set(CONNECTION, channel)
                    .build();
            context.pipeline().replace(this, null, next);
            context.pipeline()
                    .fireUserEventTriggered(InternalProtocolNegotiationEvent.withAttributes(negotiation, attributes));
        }
    }
}
