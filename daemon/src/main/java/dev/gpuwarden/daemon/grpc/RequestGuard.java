package dev.gpuwarden.daemon.grpc;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.WireFormat;
import io.grpc.BindableService;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Grpc;
import io.grpc.KnownLength;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.ProtoMethodDescriptorSupplier;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import java.util.function.LongPredicate;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;

/**
 * A guard in front of a service: requests reach it only if they are valid messages and within the limits. gRPC alone
 * would answer UNKNOWN to a malformed request and allocate objects for it without bound. The guard also sets the
 * call's peer.
 */
final class RequestGuard implements ServerInterceptor {

    /** The approximate bytes of a field as an object. */
    private static final long OBJECT_BYTES = 64;

    private static final MethodDescriptor.Marshaller<InputStream> BYTES = new MethodDescriptor.Marshaller<>() {
        @Override
        public InputStream stream(InputStream value) {
            return value;
        }

        @Override
        public InputStream parse(InputStream stream) {
            return stream;
        }
    };

    private RequestGuard() {}

    /** Returns the service behind the guard. */
    static ServerServiceDefinition before(BindableService service) {
        return ServerInterceptors.intercept(
                ServerInterceptors.useMarshalledMessages(service.bindService(), BYTES), new RequestGuard());
    }

    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
        CallTracer tracer = CallTracer.current();
        ServerCall<Q, A> guarded = new GuardedCall<>(call, tracer::take);
        tracer.watch(guarded);
        Context context = Context.current().withValue(Peer.OF_CALL, peer(call));
        return new Checked<>(Contexts.interceptCall(context, guarded, headers, next), guarded, tracer);
    }

    private static Peer peer(ServerCall<?, ?> call) {
        SSLSession session = call.getAttributes().get(Grpc.TRANSPORT_ATTR_SSL_SESSION);
        if (session != null) {
            return Certificates.peer(session);
        }
        Peer peer = call.getAttributes().get(Peer.OF_CONNECTION);
        return peer == null ? new Peer.Anonymous() : peer;
    }

    private static final class Checked<Q> extends SimpleForwardingServerCallListener<Q> {
        private final ServerCall<Q, ?> call;
        private final CallTracer tracer;
        private boolean refused;

        Checked(ServerCall.Listener<Q> service, ServerCall<Q, ?> call, CallTracer tracer) {
            super(service);
            this.call = call;
            this.tracer = tracer;
        }

        @Override
        @SuppressWarnings("unchecked") // the guard's own marshaller makes streams of all messages
        public void onMessage(Q message) {
            if (refused) {
                return;
            }
            try {
                byte[] bytes = ((InputStream) message).readAllBytes();
                if (tracer.take(FieldCounter.fields(bytes, type()) * OBJECT_BYTES)) {
                    super.onMessage((Q) new ByteArrayInputStream(bytes));
                } else {
                    refused = true;
                }
            } catch (IOException e) {
                refuse(Status.INVALID_ARGUMENT.withDescription("malformed request: " + e.getMessage()));
            } catch (StatusRuntimeException e) {
                boolean malformed = e.getStatus().getCode() == Status.Code.INTERNAL;
                refuse(malformed ? Status.INVALID_ARGUMENT.withDescription("malformed request") : e.getStatus());
            }
        }

        private Descriptor type() {
            Object schema = call.getMethodDescriptor().getSchemaDescriptor();
            return ((ProtoMethodDescriptorSupplier) Objects.requireNonNull(schema))
                    .getMethodDescriptor()
                    .getInputType();
        }

        private void refuse(Status status) {
            refused = true;
            call.close(status, new Metadata());
        }

        @Override
        public void onHalfClose() {
            if (!refused) {
                super.onHalfClose();
            }
        }
    }

    /**
     * A call that both its service and the memory quota may end. gRPC treats a second end as a programming error;
     * this class ignores everything after the first.
     */
    static final class GuardedCall<Q, A> extends SimpleForwardingServerCall<Q, A> {

        private static final Status GONE = Status.CANCELLED.withDescription("the call ended before its answer");

        private final LongPredicate take;
        private boolean closed;
        /** True after an answer that found no room, or whose client had gone. */
        private boolean unanswered;

        /** @param take reserves bytes for an answer; false if there is no room */
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
            // A stream is sent only as fast as it is read, see WatchHub.Watcher; a single answer is held until it is
            // read.
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
                // gRPC logs an error for each OK status without an answer.
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

    /** The peer of a TLS connection. A class of its own, so that TLS classes are loaded only if TLS is used. */
    private static final class Certificates {

        private Certificates() {}

        static Peer peer(SSLSession session) {
            try {
                return new Peer.Certified(session.getPeerPrincipal().getName());
            } catch (SSLPeerUnverifiedException e) {
                return new Peer.Anonymous();
            }
        }
    }

    /**
     * Counts the fields of a message before it is parsed into objects. Two bytes on the wire can become an object of a
     * hundred bytes, so that a message of 4 MiB could use all memory. Pure.
     */
    static final class FieldCounter {

        /** A thousand events with all fields of real senders have 40,000. */
        static final int MAX_FIELDS = 100_000;

        private static final int MAX_DEPTH = 16;

        private final CodedInputStream in;
        private int fields;

        private FieldCounter(CodedInputStream in) {
            this.in = in;
        }

        /**
         * Returns the number of fields, including those of inner messages.
         *
         * @throws InvalidProtocolBufferException if it is no message, nests too deep or has more than {@link #MAX_FIELDS}
         */
        static int fields(byte[] message, Descriptor type) throws IOException {
            FieldCounter scan = new FieldCounter(CodedInputStream.newInstance(message));
            scan.message(type, 0);
            return scan.fields;
        }

        private void message(Descriptor type, int depth) throws IOException {
            if (depth > MAX_DEPTH) {
                throw new InvalidProtocolBufferException("messages nest deeper than " + MAX_DEPTH);
            }
            for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
                if (++fields > MAX_FIELDS) {
                    throw new InvalidProtocolBufferException("more than " + MAX_FIELDS + " fields");
                }
                FieldDescriptor field = type.findFieldByNumber(WireFormat.getTagFieldNumber(tag));
                boolean inner = field != null && field.getJavaType() == FieldDescriptor.JavaType.MESSAGE;
                if (inner && WireFormat.getTagWireType(tag) == WireFormat.WIRETYPE_LENGTH_DELIMITED) {
                    int outer = in.pushLimit(in.readRawVarint32());
                    message(field.getMessageType(), depth + 1);
                    in.popLimit(outer);
                } else if (WireFormat.getTagWireType(tag) == WireFormat.WIRETYPE_START_GROUP) {
                    // Groups are obsolete; skipping one would count none of its fields.
                    throw new InvalidProtocolBufferException("a group, which no message of this interface has");
                } else {
                    in.skipField(tag);
                }
            }
        }
    }
}
