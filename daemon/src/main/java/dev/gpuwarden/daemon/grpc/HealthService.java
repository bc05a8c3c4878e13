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

/**
 * The `grpc.health.v1` service. It reports whether the part behind a service works, not only whether the service
 * answers. Thread-safe.
 */
final class HealthService {

    private final boolean queries;
    private final BooleanSupplier storing;
    /** Created on the first call. */
    private @Nullable HealthStatusManager statuses;

    /**
     * @param queries true if the server answers queries
     * @param storing true while the store takes events; evaluated on each call
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
        return ServerInterceptors.intercept(RequestGuard.before(made.getHealthService()), new StatusUpdater());
    }

    /** Updates the status of a store that has stopped or started to take events. Queries continue without it. */
    synchronized void update() {
        if (statuses != null) {
            statuses.setStatus(
                    PlatformConnectorGrpc.SERVICE_NAME,
                    storing.getAsBoolean() ? ServingStatus.SERVING : ServingStatus.NOT_SERVING);
        }
    }

    private final class StatusUpdater implements ServerInterceptor {
        @Override
        public <Q, A> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            update();
            return next.startCall(call, headers);
        }
    }

    /** Reports to watchers that the daemon stops. */
    synchronized void stop() {
        if (statuses != null) {
            statuses.enterTerminalState();
        }
    }
}
