package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.ComputeDriver;
import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.nat.lib.NativeMemory;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The primary context of one GPU. Each piece of work has a platform thread of its own, which holds the context only as long as the work
 * runs, so that an idle driver takes no memory of the GPU. Thread-safe.
 */
final class CudaContext {

    /**
     * The usual stack of a thread on Linux. The driver compiles PTX in the calling thread, and the program's own threads have stacks for
     * Java (`-Xss`).
     */
    private static final long STACK_BYTES = 8L << 20;

    private final CudaLibrary library;
    private final int device;
    private final String uuid;
    /** The work that exceeded its deadline, or the last one; guarded by this. */
    private FutureTask<?> last = new FutureTask<>(() -> null);

    private Optional<CudaException> poison = Optional.empty();

    CudaContext(CudaLibrary library, int device, String uuid) {
        this.library = library;
        this.device = device;
        this.uuid = uuid;
        last.run();
    }

    /** Returns the CUdevice. */
    int device() {
        return device;
    }

    /** Work with a current context. It frees what it allocates. */
    interface Work<T> {
        T run(CudaLibrary library) throws CudaException;
    }

    /**
     * Starts work; {@link #await} returns its result. Refused while earlier work has not returned, and after an error that stays.
     *
     * @param ended runs when the work has ended, also if it failed before its first call
     */
    synchronized <T> Reading<FutureTask<T>> start(Work<T> work, Runnable ended) {
        if (poison.isPresent()) {
            return library.absent(poison.get());
        }
        if (!last.isDone()) {
            return Reading.absent(Absence.STALE, 0, "an earlier call on " + uuid + " has not returned yet");
        }
        FutureTask<T> task = new FutureTask<>(() -> held(work)) {
            @Override
            protected void done() {
                ended.run();
            }
        };
        last = task;
        Threads.daemon("gpuwarden-cuda", STACK_BYTES, task).start();
        return Reading.of(task);
    }

    /** Returns whether all work has returned. */
    synchronized boolean isIdle() {
        return last.isDone();
    }

    /** Waits for the result of work, until the deadline. */
    <T> Reading<T> await(FutureTask<T> task, StopSignal stop) {
        try {
            return Reading.of(task.get(Math.max(0, stop.left().toNanos()), TimeUnit.NANOSECONDS));
        } catch (TimeoutException e) {
            return Reading.absent(
                    Absence.STALE,
                    0,
                    "the CUDA driver has not answered for " + uuid + " within "
                            + stop.deadline().toMillis() + " ms");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Reading.absent(Absence.STALE, 0, "interrupted while waiting for " + uuid);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof CudaException failure) {
                return library.absent(failure);
            }
            if (e.getCause() instanceof NoResult none) {
                return none.reading();
            }
            throw new IllegalStateException("work on " + uuid, e.getCause());
        }
    }

    private <T> T held(Work<T> work) throws CudaException {
        try (NativeMemory out = NativeMemory.allocate(8)) {
            library.require(CudaSymbol.CONTEXT_RETAIN, out.address(), device);
            try {
                library.require(CudaSymbol.CONTEXT_SET, out.buffer().getLong(0));
                return work.run(library);
            } finally {
                library.call(CudaSymbol.CONTEXT_SET, 0);
                library.call(CudaSymbol.CONTEXT_RELEASE, device);
            }
        } catch (CudaException e) {
            if (ComputeDriver.poisons(e.result())) {
                synchronized (this) {
                    poison = Optional.of(e);
                }
            }
            throw e;
        }
    }
}
