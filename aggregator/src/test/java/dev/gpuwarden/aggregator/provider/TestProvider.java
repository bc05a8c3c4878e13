package dev.gpuwarden.aggregator.provider;

import dev.gpuwarden.api.csp.CSPProviderServiceGrpc;
import dev.gpuwarden.api.csp.SendRebootSignalRequest;
import dev.gpuwarden.api.csp.SendRebootSignalResponse;
import dev.gpuwarden.api.csp.SendTerminateSignalRequest;
import dev.gpuwarden.api.csp.SendTerminateSignalResponse;
import dev.gpuwarden.testkit.tls.TestKeys;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** A provider with TLS that requires a token. The certificate is for localhost. */
public final class TestProvider extends CSPProviderServiceGrpc.CSPProviderServiceImplBase implements AutoCloseable {

    private static final Metadata.Key<String> AUTHORIZATION =
            Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

    /** The requests that arrived: the method's verb, the node, and the resource of a reboot. */
    public final List<String> requests = new CopyOnWriteArrayList<>();

    private final TestKeys keys;
    private final Server server;
    /** Known also after the end of the server. */
    private final int port;

    private volatile String token = "";
    private volatile Function<String, Status> behaviour = request -> Status.OK;
    private volatile String id = "request-1";

    public TestProvider(Path folder) throws IOException {
        this.keys = new TestKeys(folder);
        keys.certificate("localhost");
        this.server = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
                .sslContext(GrpcSslContexts.forServer(
                                keys.pem("localhost").toFile(),
                                keys.key("localhost").toFile())
                        .build())
                .addService(this)
                .intercept(new Guard())
                .build()
                .start();
        this.port = server.getPort();
    }

    /** @param file file of the token that a caller sends */
    public ProviderAddress address(Path file) {
        return new ProviderAddress("localhost", port, false, Optional.of(keys.ca), Optional.of(file));
    }

    /** Refuses all tokens but this one. */
    public void expects(String other) {
        token = other;
    }

    /** Sets the result of each request; one that is not OK is the answer. */
    public void behaves(Function<String, Status> other) {
        behaviour = other;
    }

    /** Sets the identity of the next requests. */
    public void identifies(String other) {
        id = other;
    }

    private final class Guard implements ServerInterceptor {
        @Override
        public <Q, A> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            if (("Bearer " + token).equals(headers.get(AUTHORIZATION))) {
                return next.startCall(call, headers);
            }
            call.close(Status.UNAUTHENTICATED.withDescription("expected another token"), new Metadata());
            return new ServerCall.Listener<>() {};
        }
    }

    @Override
    public void sendRebootSignal(SendRebootSignalRequest request, StreamObserver<SendRebootSignalResponse> out) {
        Status status = take("reboot " + request.getNodeName() + " " + request.getCrName());
        if (status.isOk()) {
            out.onNext(SendRebootSignalResponse.newBuilder().setRequestId(id).build());
            out.onCompleted();
        } else {
            out.onError(status.asRuntimeException());
        }
    }

    @Override
    public void sendTerminateSignal(
            SendTerminateSignalRequest request, StreamObserver<SendTerminateSignalResponse> out) {
        Status status = take("terminate " + request.getNodeName());
        if (status.isOk()) {
            out.onNext(SendTerminateSignalResponse.newBuilder().setRequestId(id).build());
            out.onCompleted();
        } else {
            out.onError(status.asRuntimeException());
        }
    }

    private Status take(String request) {
        requests.add(request);
        return behaviour.apply(request);
    }

    /** Ends the server and waits for the end of all connections, as if the provider were killed. */
    @Override
    public void close() {
        server.shutdownNow();
        try {
            server.awaitTermination(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
