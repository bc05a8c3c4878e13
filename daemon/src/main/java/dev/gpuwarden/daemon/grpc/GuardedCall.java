package dev.gpuwarden.daemon.grpc;

import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.KnownLength;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;
import java.util.function.LongPredicate;

/**
 * A call that may be ended from both sides: by its service, and by the daemon for what it holds. gRPC takes a second end for
 * a mistake; here whatever comes after the first is left out.
 */
final class GuardedCall<Q, A> extends SimpleForwardingServerCall<Q, A> {

    private static final Status GONE = Status.CANCELLED.withDescription("the call ended before its answer");

    private final LongPredicate take;
    private boolean closed;
    /** An answer found no room, or the client had gone before it. */
    private boolean unanswered;

    /** @param take says whether there is room for so many bytes of an answer */
    GuardedCall(ServerCall<Q, A> call, LongPredicate take) {
        super(call);
        this.take = take;
    }

    @Override
    public synchronized void sendHeaders(Metadata headers) {
        if (!closed) {
            super.sendHeaders(headers);
        }
    }

    @Override
    public synchronized void sendMessage(A message) {
        // A stream goes only as fast as it is read, see Watcher; a single answer is kept until it is.
        boolean kept = getMethodDescriptor().getType().serverSendsOneMessage();
        if (closed) {
            return;
        }
        if (!kept || take.test(size(message))) {
            super.sendMessage(message);
        } else {
            unanswered = true;
        }
    }

    @Override
    public synchronized void close(Status status, Metadata trailers) {
        if (!closed) {
            closed = true;
            // gRPC takes a good end without an answer for a mistake, and logs each.
            super.close(unanswered && status.isOk() ? GONE : status, trailers);
        }
    }

    private static long size(Object message) {
        try {
            return message instanceof KnownLength ? ((InputStream) message).available() : 0;
        } catch (IOException e) {
            return 0;
        }
    }
}
