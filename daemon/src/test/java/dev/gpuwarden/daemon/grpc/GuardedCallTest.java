package dev.gpuwarden.daemon.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.datamodels.PlatformConnectorGrpc;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class GuardedCallTest {

    private final List<Status> ends = new ArrayList<>();

    /** The calls that gRPC receives. */
    private final class Wire extends ServerCall<Object, Object> {
        @Override
        @SuppressWarnings("unchecked") // only the method's type is read
        public MethodDescriptor<Object, Object> getMethodDescriptor() {
            return (MethodDescriptor<Object, Object>)
                    (MethodDescriptor<?, ?>) PlatformConnectorGrpc.getHealthEventOccurredV1Method();
        }

        @Override
        public void request(int count) {}

        @Override
        public void sendHeaders(Metadata headers) {}

        @Override
        public void sendMessage(Object message) {
            throw new AssertionError("expected no answer where there is no room for it");
        }

        @Override
        public void close(Status status, Metadata trailers) {
            ends.add(status);
        }

        @Override
        public boolean isCancelled() {
            return true;
        }
    }

    @Test
    void anAnswerThatIsNotKeptIsNoGoodEnd() {
        // gRPC logs a good end without an answer as a mistake, each time: any client could fill the log.
        RequestGuard.GuardedCall<Object, Object> call = new RequestGuard.GuardedCall<>(new Wire(), bytes -> false);
        call.sendMessage("answer");
        call.close(Status.OK, new Metadata());
        call.close(Status.OK, new Metadata());
        assertThat(ends)
                .singleElement()
                .satisfies(status -> assertThat(status.getCode()).isEqualTo(Status.Code.CANCELLED));
    }
}
