package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.ComputeDriver;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;

/** NVIDIA's CUDA driver library, started. The GPUs are those that the library listed at its start. */
final class CudaDriver implements ComputeDriver {

    private final CudaLibrary library;
    private final Map<String, CudaContext> contexts;

    private CudaDriver(CudaLibrary library, Map<String, CudaContext> contexts) {
        this.library = library;
        this.contexts = contexts;
    }

    /** Returns a driver with the GPUs of a library that has been initialised. */
    static CudaDriver of(CudaLibrary library) throws CudaException {
        Map<String, CudaContext> contexts = new LinkedHashMap<>();
        for (CudaDevices.Device gpu : CudaDevices.list(library)) {
            contexts.put(gpu.uuid(), new CudaContext(library, gpu.device(), gpu.uuid()));
        }
        return new CudaDriver(library, contexts);
    }

    @Override
    public String libraryPath() {
        return library.path();
    }

    @Override
    public List<String> gpus() {
        return List.copyOf(contexts.keySet());
    }

    @Override
    public List<Reading<CopyRates>> copy(List<String> gpuUuids, CopyWork work) {
        CountDownLatch ready = new CountDownLatch(gpuUuids.size());
        long began = System.nanoTime();
        List<Supplier<Reading<CopyRates>>> started = gpuUuids.stream()
                .map(uuid -> start(uuid, new CopyBench(work, ready), ready, began, work.deadline()))
                .toList();
        return started.stream().map(Supplier::get).map(CudaDriver::plausible).toList();
    }

    /**
     * Starts work on a GPU.
     *
     * @param ready counted down where the work cannot start, since others wait for it
     * @return a wait for the result
     */
    private <T> Supplier<Reading<T>> start(
            String uuid, CudaContext.Work<T> work, CountDownLatch ready, long beganNanos, Duration deadline) {
        CudaContext context = contexts.get(uuid);
        Reading<FutureTask<T>> task = context == null
                ? Reading.absent(Absence.NO_DATA, 0, "CUDA does not list " + uuid + " in this process")
                : context.start(work);
        if (context != null && task instanceof Reading.Present<FutureTask<T>> present) {
            return () -> context.await(present.value(), deadline.minusNanos(System.nanoTime() - beganNanos), deadline);
        }
        ready.countDown();
        Reading.Absent<?> why = (Reading.Absent<?>) task;
        return () -> Reading.absent(why.cause(), why.code(), why.detail());
    }

    private static Reading<CopyRates> plausible(Reading<CopyRates> rates) {
        return rates instanceof Reading.Present<CopyRates> measured
                        && !measured.value().isPlausible()
                ? Reading.absent(Absence.IMPLAUSIBLE, 0, measured.value() + ", in bytes a second")
                : rates;
    }
}
