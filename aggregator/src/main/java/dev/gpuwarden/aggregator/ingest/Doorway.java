package dev.gpuwarden.aggregator.ingest;

import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.net.SocketAddress;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Lets in so many at a time: who has connected and has not been answered yet is a stranger, and while there are {@link #MOST} of
 * them the others wait outside, in the kernel, where they cost nothing. Thousands that come at once are greeted one after the
 * other, instead of all so slowly that each gives up and comes again. Thread-safe.
 */
@Sharable
final class Doorway extends ChannelInboundHandlerAdapter implements ServerInterceptor {

    /** Enough to keep two processors and an API server busy: a greeting takes one of them some milliseconds. */
    static final int MOST = 64;

    /** That wait in the kernel: so many are in before the first of them gives up after ten seconds. Others try again. */
    static final int OUTSIDE = 256;

    /** Who says nothing for so long keeps nobody else out. */
    static final long LONGEST_SECONDS = 5;

    private final Set<SocketAddress> strangers = new HashSet<>();
    private @Nullable Channel door;

    /** A connection that somebody has opened. */
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        Channel stranger = (Channel) message;
        SocketAddress who = stranger.remoteAddress();
        if (who != null) {
            synchronized (this) {
                door = context.channel();
                strangers.add(who);
                turn();
            }
            stranger.closeFuture().addListener(any -> known(who));
            var unused = context.executor().schedule(() -> known(who), LONGEST_SECONDS, TimeUnit.SECONDS);
        }
        context.fireChannelRead(message);
    }

    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
        SocketAddress who = call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
        return next.startCall(
                new SimpleForwardingServerCall<Q, A>(call) {
                    @Override
                    public void sendMessage(A message) {
                        super.sendMessage(message);
                        known(who);
                    }

                    @Override
                    public void close(Status status, Metadata trailers) {
                        super.close(status, trailers);
                        known(who);
                    }
                },
                headers);
    }

    private synchronized void known(@Nullable SocketAddress who) {
        if (strangers.remove(who)) {
            turn();
        }
    }

    private void turn() {
        if (door != null) {
            door.config().setAutoRead(strangers.size() < MOST);
        }
    }

    /** Who is in and has not been answered. */
    synchronized int strangers() {
        return strangers.size();
    }
}
