package dev.gpuwarden.nat.nccl;

import dev.gpuwarden.core.port.CollectiveException;
import dev.gpuwarden.core.port.Communicator;
import dev.gpuwarden.core.port.ElementType;
import dev.gpuwarden.nat.lib.Invocation;
import dev.gpuwarden.nat.lib.NativeMemory;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** A rank: a communicator of the library and a stream of its GPU. Functions are prepared once, so that a call costs one JNI transition. */
final class NcclCommunicator implements Communicator {

    /** nccl.h 2.27: NCCL_WIN_COLL_SYMMETRIC. */
    static final int SYMMETRIC = 1;

    /** nccl.h 2.11: ncclScalarHostImmediate. */
    private static final int SCALAR_ON_HOST = 1;

    /** Time for the operations of an aborted communicator to end. */
    private static final Duration ABORTED = Duration.ofMillis(200);

    private final NcclLibrary library;
    private final NcclComm comm;
    private final GpuStream stream;
    private final long joiningBytes;
    private final Map<NcclSymbol, Invocation> prepared = new EnumMap<>(NcclSymbol.class);
    private final List<Long> registered = new ArrayList<>();
    private final List<Long> windows = new ArrayList<>();
    private int groups;
    private boolean failed;

    NcclCommunicator(NcclLibrary library, NcclComm comm, GpuStream stream, long joiningBytes) {
        this.library = library;
        this.comm = comm;
        this.stream = stream;
        this.joiningBytes = joiningBytes;
    }

    @Override
    public long allocate(long bytes) throws CollectiveException {
        // The library's own memory permits more algorithms, as in nccl-tests; it has it since 2.19.
        if (!library.has(NcclSymbol.MEMORY_ALLOCATE) || !library.has(NcclSymbol.MEMORY_FREE)) {
            return stream.allocate(bytes);
        }
        try (NativeMemory out = NativeMemory.allocate(Long.BYTES)) {
            int result = library.call(NcclSymbol.MEMORY_ALLOCATE, out.address(), bytes);
            if (result != NcclResult.SUCCESS) {
                throw library.failure(NcclSymbol.MEMORY_ALLOCATE, result, 0);
            }
            long address = out.buffer().getLong(0);
            stream.onClose(() -> quietly(NcclSymbol.MEMORY_FREE, address));
            return address;
        }
    }

    private void quietly(NcclSymbol symbol, long... arguments) {
        try {
            library.call(symbol, arguments);
        } catch (CollectiveException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void fill(long to, long bytes, byte value) throws CollectiveException {
        stream.fill(to, bytes, value);
    }

    @Override
    public void write(long to, ByteBuffer from) throws CollectiveException {
        stream.write(to, from);
    }

    @Override
    public void read(long from, ByteBuffer to) throws CollectiveException {
        stream.read(from, to);
    }

    @Override
    public long countWrong(long address, long count, ElementType type, long pattern, long position, long period)
            throws CollectiveException {
        return stream.wrong(pattern, address, count, position, period, type.bytes());
    }

    @Override
    public void copy(long to, long from, long bytes) throws CollectiveException {
        stream.copy(to, from, bytes);
    }

    @Override
    public void startGroup() throws CollectiveException {
        run(NcclSymbol.GROUP_START);
        groups++;
    }

    @Override
    public void endGroup() throws CollectiveException {
        groups--;
        run(NcclSymbol.GROUP_END);
    }

    @Override
    public void allReduce(long send, long receive, long count, ElementType type, int operator)
            throws CollectiveException {
        run(NcclSymbol.ALL_REDUCE, send, receive, count, type.ordinal(), operator, comm.handle(), stream.handle());
    }

    @Override
    public void allGather(long send, long receive, long sendCount, ElementType type) throws CollectiveException {
        run(NcclSymbol.ALL_GATHER, send, receive, sendCount, type.ordinal(), comm.handle(), stream.handle());
    }

    @Override
    public void reduceScatter(long send, long receive, long receiveCount, ElementType type, int operator)
            throws CollectiveException {
        run(
                NcclSymbol.REDUCE_SCATTER,
                send,
                receive,
                receiveCount,
                type.ordinal(),
                operator,
                comm.handle(),
                stream.handle());
    }

    @Override
    public void broadcast(long send, long receive, long count, ElementType type, int root) throws CollectiveException {
        run(NcclSymbol.BROADCAST, send, receive, count, type.ordinal(), root, comm.handle(), stream.handle());
    }

    @Override
    public void reduce(long send, long receive, long count, ElementType type, int operator, int root)
            throws CollectiveException {
        run(NcclSymbol.REDUCE, send, receive, count, type.ordinal(), operator, root, comm.handle(), stream.handle());
    }

    @Override
    public void send(long from, long count, ElementType type, int peer) throws CollectiveException {
        run(NcclSymbol.SEND, from, count, type.ordinal(), peer, comm.handle(), stream.handle());
    }

    @Override
    public void receive(long to, long count, ElementType type, int peer) throws CollectiveException {
        run(NcclSymbol.RECEIVE, to, count, type.ordinal(), peer, comm.handle(), stream.handle());
    }

    @Override
    public int scaledSum(byte[] scalar, ElementType type) throws CollectiveException {
        try (NativeMemory memory = NativeMemory.allocate(2 * Long.BYTES)) {
            memory.buffer().put(Long.BYTES, scalar);
            run(
                    NcclSymbol.SCALED_SUM,
                    memory.address(),
                    memory.address() + Long.BYTES,
                    type.ordinal(),
                    SCALAR_ON_HOST,
                    comm.handle());
            return memory.buffer().getInt(0);
        }
    }

    @Override
    public void release(int operator) throws CollectiveException {
        run(NcclSymbol.RELEASE_OPERATOR, operator, comm.handle());
    }

    @Override
    public void register(long address, long bytes) throws CollectiveException {
        try (NativeMemory out = NativeMemory.allocate(Long.BYTES)) {
            run(NcclSymbol.REGISTER, comm.handle(), address, bytes, out.address());
            registered.add(out.buffer().getLong(0));
        }
    }

    @Override
    public void registerWindow(long address, long bytes) throws CollectiveException {
        // After a failure a thread of the library may still write the handle.
        NativeMemory out = NativeMemory.allocate(Long.BYTES);
        stream.onClose(out::close);
        run(NcclSymbol.WINDOW_REGISTER, comm.handle(), address, bytes, out.address(), SYMMETRIC);
        windows.add(out.buffer().getLong(0));
    }

    /** Calls a function. Inside a group the end of the group waits for it. */
    private void run(NcclSymbol symbol, long... arguments) throws CollectiveException {
        Invocation call = prepared.get(symbol);
        if (call == null) {
            call = prepare(symbol);
        }
        for (int i = 0; i < arguments.length; i++) {
            call.set(i, arguments[i]);
        }
        int result = call.callInt();
        if (result == NcclResult.SUCCESS || groups > 0 && result == NcclResult.IN_PROGRESS) {
            return;
        }
        try {
            comm.settle(symbol, result);
        } catch (CollectiveException e) {
            failed = true;
            throw e;
        }
    }

    private Invocation prepare(NcclSymbol symbol) throws CollectiveException {
        NativeMemory memory = NativeMemory.allocate(Invocation.bytes(NcclLibrary.signature(symbol)));
        stream.onClose(memory::close);
        Invocation call = library.prepare(symbol, memory, 0);
        prepared.put(symbol, call);
        return call;
    }

    @Override
    public void await(Duration limit) throws CollectiveException {
        Pause pause = Pause.until(limit);
        try {
            while (!stream.isIdle()) {
                comm.check();
                if (pause.isOver()) {
                    throw comm.timeout("the operation", limit);
                }
                pause.pause();
            }
        } catch (CollectiveException e) {
            failed = true;
            throw e;
        }
    }

    @Override
    public void startCapture() throws CollectiveException {
        stream.startCapture();
    }

    /** Each call before was waited for, since the library records in a thread of its own. */
    @Override
    public long endCapture() throws CollectiveException {
        return stream.endCapture();
    }

    @Override
    public void launch(long graph) throws CollectiveException {
        stream.launch(graph);
    }

    @Override
    public void discard(long graph) throws CollectiveException {
        stream.discard(graph);
    }

    @Override
    public long newMark() throws CollectiveException {
        return stream.newEvent();
    }

    @Override
    public void record(long mark) throws CollectiveException {
        stream.record(mark);
    }

    @Override
    public double seconds(long from, long to) throws CollectiveException {
        return stream.seconds(from, to);
    }

    @Override
    public long joiningBytes() {
        return joiningBytes;
    }

    @Override
    public long freeBytes() throws CollectiveException {
        return stream.freeBytes();
    }

    @Override
    public void close() {
        try {
            if (failed) {
                comm.abort();
            } else {
                for (long handle : registered) {
                    run(NcclSymbol.DEREGISTER, comm.handle(), handle);
                }
                for (long window : windows) {
                    run(NcclSymbol.WINDOW_DEREGISTER, comm.handle(), window);
                }
                comm.leave();
            }
        } catch (CollectiveException e) {
            failed = true;
            comm.abort();
        }
        if (failed && !stream.endsWithin(ABORTED)) {
            stream.leave();
        } else {
            stream.close();
        }
    }
}
