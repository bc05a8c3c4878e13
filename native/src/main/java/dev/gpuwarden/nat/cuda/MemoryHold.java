package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.HeldMemory;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Memory that the thread of a context takes and holds, until it is closed. */
final class MemoryHold implements HeldMemory, CudaContext.Work<Long> {

    private static final Duration DEADLINE = Duration.ofSeconds(30);

    private final CudaContext context;
    private final BlockingQueue<Request> requests = new LinkedBlockingQueue<>();
    /** Completed when the thread has ended, with what it answers to each request from then on. */
    private final CompletableFuture<Reading<Long>> ended = new CompletableFuture<>();

    private @Nullable FutureTask<Long> task;

    private MemoryHold(CudaContext context) {
        this.context = context;
    }

    /** A request for bytes; without bytes, for the end. */
    private record Request(long bytes, CompletableFuture<Reading<Long>> answer) {}

    /** Takes a context and memory. Absent with the driver's code if either fails, and nothing is held then. */
    static Reading<HeldMemory> open(CudaContext context, long bytes) {
        MemoryHold hold = new MemoryHold(context);
        Reading<FutureTask<Long>> started = context.start(hold, () -> hold.ended.complete(Reading.of(0L)));
        if (started instanceof Reading.Absent<FutureTask<Long>> absent) {
            return Reading.absent(absent.cause(), absent.code(), absent.detail());
        }
        hold.task = started.asOptional().orElseThrow();
        Reading<Long> first = hold.grow(bytes);
        if (first instanceof Reading.Absent<Long> absent) {
            hold.close();
            return Reading.absent(absent.cause(), absent.code(), absent.detail());
        }
        return Reading.of(hold);
    }

    @Override
    public Long run(CudaLibrary library) {
        long held = 0;
        try (Resources resources = new Resources(library)) {
            for (Request request = requests.take(); request.bytes() > 0; request = requests.take()) {
                try {
                    resources.memory(request.bytes());
                    held += request.bytes();
                    request.answer().complete(Reading.of(held));
                } catch (CudaException e) {
                    request.answer().complete(library.absent(e));
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return held;
    }

    @Override
    public Reading<Long> grow(long bytes) {
        if (bytes <= 0) {
            throw new IllegalArgumentException("expected bytes above 0, seen " + bytes);
        }
        Request request = new Request(bytes, new CompletableFuture<>());
        requests.add(request);
        await(CompletableFuture.anyOf(request.answer(), ended));
        FutureTask<Long> thread = task;
        if (request.answer().isDone()) {
            return request.answer().join();
        }
        // The thread ended without an answer: its failure is the answer.
        Reading<Long> failure = thread != null && ended.isDone()
                ? context.await(thread, new StopSignal(() -> false, DEADLINE))
                : Reading.absent(
                        Absence.STALE, 0, "the CUDA driver has not answered within " + DEADLINE.toSeconds() + " s");
        return failure instanceof Reading.Absent<Long>
                ? failure
                : Reading.absent(Absence.NO_DATA, 0, "the memory was given back");
    }

    @Override
    public void close() {
        requests.add(new Request(0, new CompletableFuture<>()));
        await(ended);
    }

    private static void await(CompletableFuture<?> end) {
        try {
            end.get(DEADLINE.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException late) {
            // The caller sees that there is no answer.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        }
    }
}
