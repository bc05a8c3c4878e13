package dev.gpuwarden.nat.nccl;

import dev.gpuwarden.core.port.AbortSignal;
import dev.gpuwarden.core.port.CollectiveDriver.Member;
import dev.gpuwarden.core.port.CollectiveException;
import dev.gpuwarden.core.port.CollectiveException.Kind;
import dev.gpuwarden.nat.lib.Invocation;
import dev.gpuwarden.nat.lib.NativeMemory;
import java.time.Duration;

/**
 * A communicator whose calls return before they are done: this polls their state until a deadline. Only the thread that joined calls
 * it: the library frees a communicator when it aborts it, so another thread must not do that.
 */
final class NcclComm {

    private final NcclLibrary library;
    private final int rank;
    private final Duration deadline;
    private final AbortSignal abort;
    private final NativeMemory state;
    private final int stateAt;
    private final Invocation asyncError;
    private final long handle;
    /** True after the handle was given back to the library. */
    private boolean gone;

    private NcclComm(NcclLibrary library, Member member, long handle) throws CollectiveException {
        this.library = library;
        this.rank = member.rank();
        this.deadline = member.deadline();
        abort = member.abort();
        this.handle = handle;
        int call = Invocation.bytes(NcclLibrary.signature(NcclSymbol.ASYNC_ERROR));
        state = NativeMemory.allocate(call + Long.BYTES);
        asyncError = library.prepare(NcclSymbol.ASYNC_ERROR, state, 0);
        asyncError.set(0, handle);
        asyncError.set(1, state.address() + call);
        stateAt = call;
    }

    /** Joins a group. The context of the GPU is current in the calling thread. */
    static NcclComm join(NcclLibrary library, Member member) throws CollectiveException {
        // A thread of the library may use these until the joining is over, and after a failure for an unknown time.
        NativeMemory id = NativeMemory.allocate(member.uniqueId().length);
        NativeMemory out = NativeMemory.allocate(Long.BYTES);
        NativeMemory config = NcclConfig.nonBlocking(member.ctaPolicy());
        id.buffer().put(0, member.uniqueId());
        int result = library.call(
                NcclSymbol.INIT, out.address(), member.ranks(), id.address(), member.rank(), config.address());
        long handle = out.buffer().getLong(0);
        if (result != NcclResult.SUCCESS && result != NcclResult.IN_PROGRESS || handle == 0) {
            throw library.failure(NcclSymbol.INIT, result, handle);
        }
        NcclComm comm = new NcclComm(library, member, handle);
        comm.settle(NcclSymbol.INIT, result);
        id.close();
        out.close();
        config.close();
        return comm;
    }

    long handle() {
        return handle;
    }

    /** Waits until a call is done. It aborts the communicator, and throws, after an error or the deadline. */
    void settle(NcclSymbol symbol, int result) throws CollectiveException {
        if (result == NcclResult.SUCCESS) {
            return;
        }
        int now = result;
        Pause pause = Pause.until(deadline);
        while (now == NcclResult.IN_PROGRESS) {
            now = asyncError();
            if (now == NcclResult.IN_PROGRESS) {
                checkAbort();
                if (pause.isOver()) {
                    throw timeout(symbol.symbol(), deadline);
                }
                pause.pause();
            }
        }
        if (now != NcclResult.SUCCESS) {
            throw failed(symbol, now);
        }
    }

    /** Throws where an operation of this group failed after its call. */
    void check() throws CollectiveException {
        checkAbort();
        int now = asyncError();
        if (now != NcclResult.SUCCESS && now != NcclResult.IN_PROGRESS) {
            throw failed(NcclSymbol.ASYNC_ERROR, now);
        }
    }

    private int asyncError() throws CollectiveException {
        int result = asyncError.callInt();
        if (result != NcclResult.SUCCESS) {
            throw failed(NcclSymbol.ASYNC_ERROR, result);
        }
        return state.buffer().getInt(stateAt);
    }

    private void checkAbort() throws CollectiveException {
        if (abort.isRequested()) {
            abort();
            throw new CollectiveException(Kind.ABORTED, 0, "rank " + rank + " was aborted");
        }
    }

    private CollectiveException failed(NcclSymbol symbol, int result) {
        CollectiveException why = library.failure(symbol, result, handle);
        abort();
        return new CollectiveException(why.kind(), why.code(), "rank " + rank + ": " + why.getMessage());
    }

    /** Aborts the communicator. */
    CollectiveException timeout(String what, Duration limit) {
        abort();
        return new CollectiveException(
                Kind.TIMEOUT, 0, "rank " + rank + ": " + what + " is not done after " + limit.toMillis() + " ms");
    }

    /** Ends all operations of this rank, and gives the communicator back. */
    void abort() {
        if (!gone) {
            gone = true;
            try {
                library.call(NcclSymbol.ABORT, handle);
            } catch (CollectiveException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Waits until all members have ended their operations, and gives the communicator back. */
    void leave() throws CollectiveException {
        if (!gone) {
            settle(NcclSymbol.FINALIZE, library.call(NcclSymbol.FINALIZE, handle));
            gone = true;
            library.call(NcclSymbol.DESTROY, handle);
            state.close();
        }
    }
}
