package dev.gpuwarden.daemon.grpc;

import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** Follows one call from its first byte to its end: counts it, and what it holds. Thread-safe. */
final class CallTracer extends ServerStreamTracer {

    private static final Context.Key<CallTracer> CURRENT = Context.key("gpuwarden-call-tracer");

    private final CallStats stats;
    private final MemoryQuota.Account account;
    private final Executor loop;
    private volatile String method = "";
    private volatile @Nullable ServerCall<?, ?> call;
    private volatile boolean over;

    private CallTracer(CallStats stats, MemoryQuota.Account account, Executor loop) {
        this.stats = stats;
        this.account = account;
        this.loop = loop;
        stats.began();
    }

    static ServerStreamTracer.Factory factory(CallStats stats, MemoryQuota held, Executor loop) {
        return new ServerStreamTracer.Factory() {
            @Override
            public ServerStreamTracer newServerStreamTracer(String fullMethodName, Metadata headers) {
                return new CallTracer(stats, held.open(), loop);
            }
        };
    }

    /** The tracer of the call that is being served. */
    static CallTracer current() {
        CallTracer tracer = CURRENT.get();
        if (tracer == null) {
            throw new IllegalStateException("no call is being served");
        }
        return tracer;
    }

    @Override
    public Context filterContext(Context context) {
        return context.withValue(CURRENT, this);
    }

    @Override
    public void serverCallStarted(ServerCallInfo<?, ?> info) {
        method = info.getMethodDescriptor().getFullMethodName();
    }

    /** From now on the call can be ended where it holds too much. */
    void watch(ServerCall<?, ?> served) {
        call = served;
        account.on(served.getAttributes().get(ConnectionLimiter.CONNECTION));
    }

    /** The call has so much more; it is ended where there is no room for that. */
    boolean take(long bytes) {
        if (over || account.closed()) {
            return false;
        }
        if (account.take(bytes)) {
            return true;
        }
        over = true;
        stats.refused(CallStats.Refusal.MEMORY);
        // Not now: gRPC is in the middle of handing over bytes.
        loop.execute(this::end);
        return false;
    }

    private void end() {
        ServerCall<?, ?> served = call;
        if (served != null) {
            served.close(
                    Status.RESOURCE_EXHAUSTED.withDescription("the daemon has too much to do; try again"),
                    new Metadata());
        }
    }

    @Override
    public void inboundWireSize(long bytes) {
        take(bytes);
    }

    @Override
    public void streamClosed(Status status) {
        account.close();
        stats.ended(method, status.getCode());
    }
}
