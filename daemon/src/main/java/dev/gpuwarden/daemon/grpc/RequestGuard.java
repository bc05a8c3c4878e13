package dev.gpuwarden.daemon.grpc;

import com.google.protobuf.Descriptors.Descriptor;
import io.grpc.BindableService;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Grpc;
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
import javax.net.ssl.SSLSession;

/**
 * Stands between the wire and a service. Requests reach the service only if they are messages and not too many things at once;
 * gRPC alone would answer UNKNOWN to a malformed one, and make objects of it without bound. Also says who asks.
 */
final class RequestGuard implements ServerInterceptor {

    /** What a field costs as an object, about. */
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

    /** The service behind the guard. */
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
}
