package dev.gpuwarden.daemon.grpc;

import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** A tracer of one call from its first byte to its end, which counts the call and its memory. Thread-safe. */
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

    /** Returns the tracer of the call that is being served. */
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

    /** Sets the call to end if it holds too much memory. */
    void watch(ServerCall<?, ?> served) {
        call = served;
        account.on(served.getAttributes().get(ConnectionLimiter.CONNECTION));
    }

    /** Adds bytes to the call's memory, and ends the call if the quota has no room. Returns false then. */
    boolean take(long bytes) {
        if (over || account.closed()) {
            return false;
        }
        if (account.take(bytes)) {
            return true;
        }
        over = true;
        stats.refused(CallStats.Refusal.MEMORY);
        // Not on this stack: gRPC is still delivering bytes.
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
