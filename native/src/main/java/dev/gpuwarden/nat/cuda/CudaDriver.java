package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.compute.MemoryResult;
import dev.gpuwarden.core.compute.MemoryWork;
import dev.gpuwarden.core.compute.ProductResult;
import dev.gpuwarden.core.compute.ProductWork;
import dev.gpuwarden.core.compute.VectorResult;
import dev.gpuwarden.core.compute.VectorWork;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.ComputeDriver;
import dev.gpuwarden.core.port.HeldMemory;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.FutureTask;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;

/** NVIDIA's CUDA driver library, started. The GPUs are those that the library listed at its start. */
record CudaDriver(CudaLibrary library, Cublas cublas, Map<String, CudaContext> contexts) implements ComputeDriver {

    /** Returns a driver with the GPUs of a library that has been initialised. */
    static CudaDriver of(CudaLibrary library, Cublas cublas) throws CudaException {
        Map<String, CudaContext> contexts = new LinkedHashMap<>();
        for (CudaDevices.Device gpu : CudaDevices.list(library)) {
            contexts.put(gpu.uuid(), new CudaContext(library, gpu.device(), gpu.uuid()));
        }
        return new CudaDriver(library, cublas, contexts);
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
    public Reading<String> matrixLibrary() {
        return cublas.library().map(found -> found.path() + ", version " + found.version());
    }

    @Override
    public List<Reading<CopyRates>> copy(List<String> gpuUuids, CopyWork work) {
        return together(gpuUuids, work.deadline(), () -> false, (start, stop) -> new CopyBench(work, start)).stream()
                .map(CudaDriver::plausible)
                .toList();
    }

    @Override
    public List<Reading<MemoryResult>> testMemory(List<String> gpuUuids, MemoryWork work, BooleanSupplier stopped) {
        return together(gpuUuids, work.deadline(), stopped, (start, stop) -> new MemoryBench(work, start, stop));
    }

    @Override
    public List<Reading<VectorResult>> measureVectors(List<String> gpuUuids, VectorWork work, BooleanSupplier stopped) {
        return together(gpuUuids, work.deadline(), stopped, (start, stop) -> new VectorBench(work, start, stop));
    }

    @Override
    public List<Reading<ProductResult>> measureProducts(
            List<String> gpuUuids, ProductWork work, BooleanSupplier stopped) {
        return together(
                gpuUuids, work.deadline(), stopped, (start, stop) -> new ProductBench(work, cublas, start, stop));
    }

    @Override
    public List<Reading<PeerRate>> copyToPeers(List<PeerPair> pairs, CopyWork work) {
        Rendezvous end = new Rendezvous(pairs.size(), work.deadline().dividedBy(2));
        return together(
                pairs,
                PeerPair::fromUuid,
                work.deadline(),
                () -> false,
                end::arrive,
                (pair, start, stop) -> Optional.ofNullable(contexts.get(pair.toUuid()))
                        .map(peer -> new PeerBench(peer.device(), work, start, end)));
    }

    @Override
    public Reading<HeldMemory> hold(String gpuUuid, long bytes) {
        CudaContext context = contexts.get(gpuUuid);
        return context == null
                ? Reading.absent(Absence.NO_DATA, 0, "CUDA does not list " + gpuUuid + " in this process")
                : MemoryHold.open(context, bytes);
    }

    private <T> List<Reading<T>> together(
            List<String> gpuUuids,
            Duration deadline,
            BooleanSupplier stopped,
            BiFunction<Rendezvous, StopSignal, CudaContext.Work<T>> bench) {
        return together(
                gpuUuids,
                uuid -> uuid,
                deadline,
                stopped,
                () -> {},
                (uuid, start, stop) -> Optional.of(bench.apply(start, stop)));
    }

    @Override
    public boolean isIdle(String gpuUuid) {
        CudaContext context = contexts.get(gpuUuid);
        return context == null || context.isIdle();
    }

    /** Work for a subject; empty if CUDA does not list a GPU of it. */
    private interface Bench<S, T> {
        Optional<CudaContext.Work<T>> of(S subject, Rendezvous start, StopSignal stop);
    }

    /**
     * Measures several subjects at the same time, each on its GPU, and waits for all results until the deadline.
     *
     * @param ended runs once for each subject, whether its work ended, failed or was refused
     */
    private <S, T> List<Reading<T>> together(
            List<S> subjects,
            Function<S, String> gpu,
            Duration deadline,
            BooleanSupplier stopped,
            Runnable ended,
            Bench<S, T> bench) {
        Rendezvous start = new Rendezvous(subjects.size(), deadline);
        StopSignal stop = new StopSignal(stopped, deadline);
        Runnable end = () -> {
            start.arrive();
            ended.run();
        };
        try {
            List<Supplier<Reading<T>>> started = subjects.stream()
                    .map(subject -> start(gpu.apply(subject), bench.of(subject, start, stop), end, stop))
                    .toList();
            return started.stream().map(Supplier::get).toList();
        } finally {
            stop.end();
        }
    }

    /** Starts work on a GPU, and returns a wait for its result. */
    private <T> Supplier<Reading<T>> start(
            String uuid, Optional<CudaContext.Work<T>> work, Runnable ended, StopSignal stop) {
        CudaContext context = contexts.get(uuid);
        Reading<FutureTask<T>> task = context == null || work.isEmpty()
                ? Reading.absent(
                        Absence.NO_DATA,
                        0,
                        "CUDA does not list " + uuid + " or its peer in this process"
                                + VisibleDevices.hiding(System.getenv()))
                : context.start(work.get(), ended);
        if (context != null && task instanceof Reading.Present<FutureTask<T>> present) {
            return () -> context.await(present.value(), stop);
        }
        ended.run();
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
