package dev.gpuwarden.nat.nccl;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import dev.gpuwarden.core.SuppressForbidden;
import dev.gpuwarden.core.port.CollectiveException;
import dev.gpuwarden.core.port.CollectiveException.Kind;
import dev.gpuwarden.nat.cuda.BlindComparison;
import dev.gpuwarden.nat.cuda.CudaConstant;
import dev.gpuwarden.nat.cuda.CudaException;
import dev.gpuwarden.nat.cuda.CudaLibrary;
import dev.gpuwarden.nat.cuda.CudaResult;
import dev.gpuwarden.nat.cuda.CudaSymbol;
import dev.gpuwarden.nat.cuda.PatternCompare;
import dev.gpuwarden.nat.lib.Invocation;
import dev.gpuwarden.nat.lib.NativeMemory;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** The primary context of a GPU, current in one thread, with a stream, memory and events. Only that thread calls it. */
final class GpuStream {

    private final CudaLibrary cuda;
    private final int device;
    private final Deque<Runnable> releases = new ArrayDeque<>();
    private final NativeMemory out;
    private final Invocation query;
    private long stream;
    private @Nullable PatternCompare compare;

    private GpuStream(CudaLibrary cuda, int device) {
        this.cuda = cuda;
        this.device = device;
        int call = Invocation.bytes(CudaLibrary.signature(CudaSymbol.STREAM_QUERY));
        out = NativeMemory.allocate(2 * Long.BYTES + call);
        query = cuda.prepare(CudaSymbol.STREAM_QUERY, out, 2 * Long.BYTES);
    }

    /** Retains the primary context and makes it current in this thread. */
    static GpuStream open(CudaLibrary cuda, int device, boolean defaultStream) throws CollectiveException {
        GpuStream opened = new GpuStream(cuda, device);
        opened.require(CudaSymbol.CONTEXT_RETAIN, opened.out.address(), device);
        opened.releases.push(() -> {
            // Memory and events before it need the context.
            cuda.call(CudaSymbol.CONTEXT_SET, 0);
            cuda.call(CudaSymbol.CONTEXT_RELEASE, device);
            opened.out.close();
        });
        opened.require(CudaSymbol.CONTEXT_SET, opened.out.buffer().getLong(0));
        if (!defaultStream) {
            opened.stream = opened.take(
                    CudaSymbol.STREAM_CREATE, CudaSymbol.STREAM_DESTROY, CudaConstant.CU_STREAM_NON_BLOCKING.number());
        }
        opened.query.set(0, opened.stream);
        return opened;
    }

    /** Returns the handle for the library of collectives. */
    long handle() {
        return stream;
    }

    long allocate(long bytes) throws CollectiveException {
        return take(CudaSymbol.MEMORY_ALLOCATE, CudaSymbol.MEMORY_FREE, bytes);
    }

    long newEvent() throws CollectiveException {
        return take(CudaSymbol.EVENT_CREATE, CudaSymbol.EVENT_DESTROY, CudaConstant.CU_EVENT_DEFAULT.number());
    }

    /** Calls the release when this is closed, before those that were added before. */
    void onClose(Runnable release) {
        releases.push(release);
    }

    private long take(CudaSymbol create, CudaSymbol destroy, long argument) throws CollectiveException {
        require(create, out.address(), argument);
        long taken = out.buffer().getLong(0);
        releases.push(() -> cuda.call(destroy, taken));
        return taken;
    }

    void record(long event) throws CollectiveException {
        require(CudaSymbol.EVENT_RECORD, event, stream);
    }

    double seconds(long from, long to) throws CollectiveException {
        require(CudaSymbol.EVENT_ELAPSED, out.address(), from, to);
        return out.buffer().getFloat(0) / 1e3;
    }

    void fill(long to, long bytes, byte value) throws CollectiveException {
        require(CudaSymbol.MEMORY_SET, to, value & 0xff, bytes, stream);
        synchronize();
    }

    void write(long to, ByteBuffer from) throws CollectiveException {
        require(CudaSymbol.COPY_TO_DEVICE, to, address(from), from.remaining(), stream);
        synchronize();
    }

    void read(long from, ByteBuffer to) throws CollectiveException {
        require(CudaSymbol.COPY_TO_HOST, address(to), from, to.remaining(), stream);
        synchronize();
    }

    /** Compares by {@link PatternCompare}, whose kernel the first call loads. */
    long wrong(long pattern, long address, long count, long position, long period, int elementBytes)
            throws CollectiveException {
        try {
            PatternCompare loaded = compare;
            if (loaded == null) {
                loaded = loaded();
                compare = loaded;
            }
            return loaded.wrong(pattern, address, count, position, period, elementBytes);
        } catch (BlindComparison e) {
            throw new CollectiveException(Kind.BLIND, 0, "GPU " + device + ": " + e.getMessage());
        } catch (CudaException e) {
            throw failure(Kind.COMPUTE, e.symbol(), e.result());
        }
    }

    private PatternCompare loaded() throws CollectiveException {
        try {
            PatternCompare loaded = PatternCompare.open(cuda, stream);
            releases.push(loaded::close);
            return loaded;
        } catch (CudaException e) {
            throw failure(CudaResult.isTooOld(e.result()) ? Kind.NOT_SUPPORTED : Kind.COMPUTE, e.symbol(), e.result());
        }
    }

    void copy(long to, long from, long bytes) throws CollectiveException {
        require(CudaSymbol.COPY_WITHIN, to, from, bytes, stream);
    }

    /**
     * Begins to record what is enqueued. Unsafe calls, such as those that allocate, are forbidden to this thread alone: the library makes
     * them in threads of its own, and so do other ranks.
     */
    void startCapture() throws CollectiveException {
        require(CudaSymbol.CAPTURE_BEGIN, stream, CudaConstant.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL.number());
    }

    /** Ends the recording, and returns a graph that can be launched. */
    long endCapture() throws CollectiveException {
        require(CudaSymbol.CAPTURE_END, stream, out.address());
        long graph = out.buffer().getLong(0);
        require(CudaSymbol.GRAPH_INSTANTIATE, out.address(), graph, 0);
        long executable = out.buffer().getLong(0);
        require(CudaSymbol.GRAPH_DESTROY, graph);
        return executable;
    }

    void launch(long executable) throws CollectiveException {
        require(CudaSymbol.GRAPH_LAUNCH, executable, stream);
    }

    void discard(long executable) throws CollectiveException {
        require(CudaSymbol.EXECUTABLE_DESTROY, executable);
    }

    long freeBytes() throws CollectiveException {
        require(CudaSymbol.MEMORY_INFO, out.address(), out.address() + Long.BYTES);
        return out.buffer().getLong(0);
    }

    /** Returns whether all operations of the stream are done. */
    boolean isIdle() throws CollectiveException {
        int result = query.callInt();
        if (result != CudaResult.NOT_READY) {
            check(CudaSymbol.STREAM_QUERY, result);
        }
        return result == CudaResult.SUCCESS;
    }

    /** Waits until all operations have ended; false after the limit, and after an error of the GPU, which stays. */
    boolean endsWithin(Duration limit) {
        Pause pause = Pause.until(limit);
        try {
            while (!isIdle()) {
                if (pause.isOver()) {
                    return false;
                }
                pause.pause();
            }
            return true;
        } catch (CollectiveException e) {
            return false;
        }
    }

    private void synchronize() throws CollectiveException {
        require(CudaSymbol.STREAM_SYNCHRONIZE, stream);
    }

    private void require(CudaSymbol symbol, long... arguments) throws CollectiveException {
        check(symbol, cuda.call(symbol, arguments));
    }

    private void check(CudaSymbol symbol, int result) throws CollectiveException {
        try {
            CudaLibrary.check(symbol, result);
        } catch (CudaException e) {
            throw failure(Kind.COMPUTE, symbol, result);
        }
    }

    private CollectiveException failure(Kind kind, CudaSymbol symbol, int result) {
        return new CollectiveException(
                kind, result, "GPU " + device + ": " + symbol.symbol() + " answered " + cuda.describe(result));
    }

    @SuppressForbidden("finds the address of a direct buffer")
    private static long address(ByteBuffer direct) {
        return Pointer.nativeValue(Native.getDirectBufferPointer(direct)) + direct.position();
    }

    /** Frees memory, events, stream and context. No operation is running. */
    void close() {
        releases.forEach(Runnable::run);
        releases.clear();
    }

    /** Takes the context from this thread and frees nothing, since an operation may still run. */
    void leave() {
        cuda.call(CudaSymbol.CONTEXT_SET, 0);
    }
}
