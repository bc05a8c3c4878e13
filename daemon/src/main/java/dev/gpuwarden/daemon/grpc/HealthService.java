package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.api.datamodels.PlatformConnectorGrpc;
import dev.gpuwarden.api.v1.NodeServiceGrpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.protobuf.services.HealthStatusManager;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** What `grpc.health.v1` says of each service: whether the part behind it works, not only whether it answers. */
final class HealthService {

    private final boolean queries;
    private final BooleanSupplier storing;
    /** Made when somebody first asks. */
    private @Nullable HealthStatusManager statuses;

    /**
     * @param queries whether the server answers them
     * @param storing whether the store takes events; looked at whenever somebody asks
     */
    HealthService(boolean queries, BooleanSupplier storing) {
        this.queries = queries;
        this.storing = storing;
    }

    synchronized ServerServiceDefinition service() {
        HealthStatusManager made = new HealthStatusManager();
        if (queries) {
            made.setStatus(NodeServiceGrpc.SERVICE_NAME, ServingStatus.SERVING);
        }
        statuses = made;
        return ServerInterceptors.intercept(RequestGuard.before(made.getHealthService()), new Look());
    }

    /** Tells of a store that has stopped or begun to take events. Queries go on without it. */
    synchronized void look() {
        if (statuses != null) {
            statuses.setStatus(
                    PlatformConnectorGrpc.SERVICE_NAME,
                    storing.getAsBoolean() ? ServingStatus.SERVING : ServingStatus.NOT_SERVING);
        }
    }

    private final class Look implements ServerInterceptor {
        @Override
        public <Q, A> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            look();
            return next.startCall(call, headers);
        }
    }

    /** Tells those who watch that the daemon stops. */
    synchronized void stop() {
        if (statuses != null) {
            statuses.enterTerminalState();
        }
    }
}
