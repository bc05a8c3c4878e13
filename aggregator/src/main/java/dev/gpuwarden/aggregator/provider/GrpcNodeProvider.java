package dev.gpuwarden.aggregator.provider;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.api.csp.CSPProviderServiceGrpc;
import dev.gpuwarden.api.csp.CSPProviderServiceGrpc.CSPProviderServiceBlockingStub;
import dev.gpuwarden.api.csp.IsNodeReadyRequest;
import dev.gpuwarden.api.csp.SendRebootSignalRequest;
import dev.gpuwarden.api.csp.SendTerminateSignalRequest;
import dev.gpuwarden.core.util.Text;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.MetadataUtils;
import java.io.IOException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * A provider that speaks NVSentinel's contract, `csp/v1alpha1/provider.proto`. Each request has a connection of its own, so
 * changed certificates and tokens take effect with the next one.
 */
public record GrpcNodeProvider(ProviderAddress address) implements NodeProvider {

    private static final Duration CONNECT = Duration.ofSeconds(5);
    private static final Duration ANSWER = Duration.ofSeconds(30);
    private static final int LONGEST_TEXT = 300;

    /** The results that do not show if the provider received the request. */
    private static final Set<Status.Code> UNKNOWN = EnumSet.of(
            Status.Code.CANCELLED,
            Status.Code.UNKNOWN,
            Status.Code.DEADLINE_EXCEEDED,
            Status.Code.UNAVAILABLE,
            // This side's own too, for an answer that is too large or cut off.
            Status.Code.RESOURCE_EXHAUSTED,
            Status.Code.DATA_LOSS);

    /** The header of each answer of a server, and of no error that this side found itself. */
    private static final Metadata.Key<String> CONTENT_TYPE =
            Metadata.Key.of("content-type", Metadata.ASCII_STRING_MARSHALLER);

    @Override
    public NodeProvider.Connection connect() throws ApiException, InterruptedException {
        try {
            ManagedChannel channel = address.channel();
            Connection connection = new Connection(
                    channel,
                    CSPProviderServiceGrpc.newBlockingStub(channel)
                            .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(address.credentials())));
            try {
                connection.await();
                return connection;
            } catch (ApiException | InterruptedException | RuntimeException e) {
                connection.close();
                throw e;
            }
        } catch (IOException e) {
            throw ApiException.noAnswer("provider " + address + ": " + e.getMessage());
        }
    }

    private final class Connection implements NodeProvider.Connection {
        private final ManagedChannel channel;
        private final CSPProviderServiceBlockingStub stub;

        Connection(ManagedChannel channel, CSPProviderServiceBlockingStub stub) {
            this.channel = channel;
            this.stub = stub;
        }

        /** Waits for the handshake. */
        void await() throws ApiException, InterruptedException {
            long end = System.nanoTime() + CONNECT.toNanos();
            ConnectivityState state = channel.getState(true);
            while (state != ConnectivityState.READY) {
                if (state == ConnectivityState.TRANSIENT_FAILURE) {
                    throw ApiException.noAnswer("provider " + address + ": no connection: " + cause());
                }
                CountDownLatch changed = new CountDownLatch(1);
                channel.notifyWhenStateChanged(state, changed::countDown);
                if (!changed.await(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                    throw ApiException.noAnswer(
                            "provider " + address + ": no connection within " + CONNECT.toSeconds() + " s");
                }
                state = channel.getState(true);
            }
        }

        /** Returns the cause of a failed connection, which a call alone shows. This one asks for nothing. */
        private String cause() {
            try {
                var unused = stub.withDeadlineAfter(1, TimeUnit.SECONDS)
                        .isNodeReady(IsNodeReadyRequest.getDefaultInstance());
                return "it came and went";
            } catch (StatusRuntimeException e) {
                return text(e);
            }
        }

        @Override
        public Answer reboot(String node, String resource) throws InterruptedException {
            SendRebootSignalRequest request = SendRebootSignalRequest.newBuilder()
                    .setNodeName(node)
                    .setCrName(resource)
                    .build();
            return answer(() -> limited().sendRebootSignal(request).getRequestId());
        }

        @Override
        public Answer terminate(String node) throws InterruptedException {
            SendTerminateSignalRequest request =
                    SendTerminateSignalRequest.newBuilder().setNodeName(node).build();
            return answer(() -> limited().sendTerminateSignal(request).getRequestId());
        }

        private CSPProviderServiceBlockingStub limited() {
            return stub.withDeadlineAfter(ANSWER.toSeconds(), TimeUnit.SECONDS);
        }

        private Answer answer(Supplier<String> call) {
            try {
                return new Answer.Accepted(Text.printable(call.get(), LONGEST_TEXT));
            } catch (StatusRuntimeException e) {
                return isRefusal(e) ? new Answer.Refused(text(e)) : new Answer.Unknown(text(e));
            }
        }

        @Override
        public void close() {
            channel.shutdownNow();
        }
    }

    /** Providers answer INTERNAL for each failure. It is also this side's own, for a broken stream after the request arrived. */
    private static boolean isRefusal(StatusRuntimeException error) {
        Status.Code code = error.getStatus().getCode();
        return code == Status.Code.INTERNAL
                ? error.getTrailers() != null && error.getTrailers().containsKey(CONTENT_TYPE)
                : !UNKNOWN.contains(code);
    }

    /** Returns the innermost cause, since the description of a failed connection is about netty; without one the description. */
    private static String text(StatusRuntimeException error) {
        Status status = error.getStatus();
        Throwable cause = status.getCause();
        while (cause != null && cause.getCause() != null) {
            cause = cause.getCause();
        }
        String why = cause == null ? status.getDescription() : cause.getMessage();
        return Text.printable(status.getCode() + (why == null ? "" : ": " + why), LONGEST_TEXT);
    }
}
