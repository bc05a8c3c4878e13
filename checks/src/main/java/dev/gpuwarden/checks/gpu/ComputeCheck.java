package dev.gpuwarden.checks.gpu;

import dev.gpuwarden.checks.GpuGrants;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.GpuAccess.Refusal;
import dev.gpuwarden.core.check.GpuLoad;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.compute.Digest;
import dev.gpuwarden.core.compute.EqualBoard;
import dev.gpuwarden.core.compute.EqualWork;
import dev.gpuwarden.core.compute.EqualWork.Part;
import dev.gpuwarden.core.compute.ProductResult;
import dev.gpuwarden.core.compute.ResultVerdict;
import dev.gpuwarden.core.compute.WorkReadings;
import dev.gpuwarden.core.health.EachGpu;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.ComputeDriver;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A check that gives work to GPUs, and evaluates each GPU's measurement. A GPU that could not be measured is SKIPPED or
 * UNKNOWN with the cause: nothing is known about it then, and it is no hardware fault.
 *
 * @param <M> the measurement of one GPU
 */
abstract class ComputeCheck<M> implements HealthCheck {

    // cuda.h 13.0, CUresult.
    private static final int OUT_OF_MEMORY = 2;
    private static final int DEVICE_UNAVAILABLE = 46;
    private static final int UNSUPPORTED_PTX = 222;
    private static final int SYSTEM_NOT_READY = 802;

    private static final Duration DEADLINE = Duration.ofMinutes(10);

    /** The deadline of one piece of work of an invasive check. */
    static final Duration WORK_DEADLINE = Duration.ofMinutes(1);

    /**
     * The work of one measurement of some GPUs.
     *
     * @param stopped asked often and by several threads: true ends the work soon, and the results count as incomplete
     * @param celsius returns the temperatures of the GPUs now, in the order of the UUIDs
     * @param reports receives progress, see {@link CheckContext#progress}
     */
    record Work<M>(
            ComputeCheck<M> check,
            ComputeDriver driver,
            List<GpuSnapshot> gpus,
            Proofs proofs,
            BooleanSupplier stopped,
            Supplier<List<Reading<Long>>> celsius,
            Reports reports) {

        List<String> uuids() {
            return gpus.stream().map(gpu -> gpu.identity().selector()).toList();
        }

        /**
         * Reports what is measured of a GPU so far. The rest of the run cannot change its proof. For the thread of the check alone.
         *
         * @param gpu its place among the UUIDs
         */
        void soFar(int gpu, M measured) {
            proofs.add(gpus.get(gpu), builder -> check.evaluateIncomplete(builder, measured));
        }

        /** Reports those of these results that are there, and returns all of them. */
        <R> List<Reading<R>> soFar(List<Reading<R>> results, Function<Reading<R>, M> measured) {
            for (int i = 0; i < results.size(); i++) {
                if (results.get(i) instanceof Reading.Present<R> present) {
                    soFar(i, measured.apply(present));
                }
            }
            return results;
        }
    }

    /** See {@link CheckContext#progress}. */
    interface Reports {
        void progress(String doing, int done, int total);
    }

    /** Returns the measurement of each GPU, in the order of the UUIDs; blocks within {@link #deadline()}. */
    abstract List<Reading<M>> measure(Work<M> work);

    /** Adds the parts of one GPU's finding. The siblings are the measurements of equal boards. */
    abstract void evaluate(FindingBuilder builder, M measured, List<M> siblings);

    /**
     * Adds what an incomplete measurement shows for certain, such as a wrong result that was found before its end; nothing if it shows
     * nothing yet.
     */
    void evaluateIncomplete(FindingBuilder builder, M measured) {}

    @Override
    public Duration deadline() {
        return DEADLINE;
    }

    @Override
    public GpuLoad load() {
        return GpuLoad.INVASIVE;
    }

    @Override
    public final List<Finding> run(CheckContext context) {
        List<GpuSnapshot> gpus = context.node().gpus().stream()
                .filter(gpu -> gpu.state() == GpuState.ANSWERING && whyNot(gpu).isEmpty())
                .toList();
        try (GpuGrants grants = GpuGrants.request(context, this, gpus)) {
            Map<GpuSnapshot, Worked<M>> worked = worked(context, grants);
            return CudaNotReady.judged(
                    EachGpu.answering(context.node(), gpu -> finding(gpu, context, worked, grants)), context, info());
        }
    }

    /** The measurement of a GPU, the readings of it during that time, and what it has proven before. */
    private record Worked<M>(Reading<M> measured, WorkReadings readings, Proofs proofs) {}

    /** Measures all GPUs that are granted. If grants are withdrawn during that time, it measures the others once more. */
    private Map<GpuSnapshot, Worked<M>> worked(CheckContext context, GpuGrants grants) {
        Map<GpuSnapshot, Worked<M>> worked = new LinkedHashMap<>();
        List<GpuSnapshot> left = grants.gpus();
        if (!left.isEmpty()) {
            context.source(ComputeDriver.class).asOptional().ifPresent(driver -> grants.idleIf(driver::isIdle));
        }
        while (!left.isEmpty()) {
            Reading<Driver> readings = load() == GpuLoad.INVASIVE
                    ? context.source(Driver.class)
                    : Reading.absent(Absence.OFF, 0, "beside other work, readings belong to that too");
            Proofs proofs = new Proofs(context);
            try (WorkSampler sampler = new WorkSampler(readings, left)) {
                List<Reading<M>> all = measurements(context, left, proofs, grants.withdrawn(left), sampler);
                for (int i = 0; i < all.size(); i++) {
                    worked.put(left.get(i), new Worked<>(all.get(i), sampler.of(left.get(i)), proofs));
                }
            }
            List<GpuSnapshot> kept = grants.giveUpWithdrawn(left);
            // The next measurement replaces this one, but not what this one proves.
            left = kept.size() < left.size() ? kept : List.of();
            left.forEach(gpu -> Optional.ofNullable(worked.get(gpu))
                    .flatMap(own -> own.measured().asOptional())
                    .ifPresent(measured -> proofs.add(gpu, builder -> evaluateIncomplete(builder, measured))));
        }
        return worked;
    }

    private List<Reading<M>> measurements(
            CheckContext context, List<GpuSnapshot> gpus, Proofs proofs, BooleanSupplier stopped, WorkSampler sampler) {
        Reading<ComputeDriver> driver = context.source(ComputeDriver.class);
        if (driver instanceof Reading.Absent<ComputeDriver> none) {
            Reading<M> same = Reading.absent(none.cause(), none.code(), none.detail());
            return gpus.stream().map(gpu -> same).toList();
        }
        return measure(new Work<>(
                this,
                driver.asOptional().orElseThrow(),
                gpus,
                proofs,
                stopped,
                () -> celsius(sampler, gpus),
                context::progress));
    }

    private static List<Reading<Long>> celsius(WorkSampler sampler, List<GpuSnapshot> gpus) {
        long now = System.nanoTime();
        return gpus.stream().map(gpu -> sampler.celsius(gpu, now)).toList();
    }

    private Finding finding(
            GpuSnapshot gpu, CheckContext context, Map<GpuSnapshot, Worked<M>> worked, GpuGrants grants) {
        Worked<M> own = worked.get(gpu);
        FindingBuilder builder =
                own == null ? new FindingBuilder(gpu, context) : own.proofs().builder(gpu);
        Optional<Refusal> refusal = grants.refusal(builder.gpu());
        if (refusal.isPresent()) {
            builder.skip(refusal.get().code(), refusal.get().text());
            Optional.ofNullable(own)
                    .flatMap(any -> any.measured().asOptional())
                    .ifPresent(incomplete -> evaluateIncomplete(builder, incomplete));
        } else if (own == null) {
            builder.skip("not-measured", whyNot(builder.gpu()).orElse("not among the GPUs of this run"));
        } else if (own.measured() instanceof Reading.Absent<M> absent) {
            unmeasured(builder, absent);
        } else {
            List<Worked<M>> siblings = builder.peers().stream()
                    .filter(peer -> grants.refusal(peer).isEmpty())
                    .filter(peer -> EqualBoard.of(peer).equals(EqualBoard.of(builder.gpu())))
                    .flatMap(peer -> Optional.ofNullable(worked.get(peer)).stream())
                    .filter(peer -> peer.measured() instanceof Reading.Present<M>)
                    .toList();
            builder.work(own.readings());
            evaluate(
                    builder,
                    own.measured().asOptional().orElseThrow(),
                    siblings.stream()
                            .flatMap(peer -> peer.measured().asOptional().stream())
                            .toList());
            WorkEvidence.add(builder, siblings.stream().map(Worked::readings).toList());
        }
        return builder.finding();
    }

    /** Returns why a GPU can get no work; empty if it can. {@code GpuAccess} decides by a newer list if others hold it. */
    static Optional<String> whyNot(GpuSnapshot gpu) {
        if (gpu.identity().uuid() instanceof Reading.Absent<String> absent) {
            return Optional.of("the driver gave no UUID, by which CUDA names GPUs: " + absent.text());
        }
        if (gpu.frame().present(GpuMetric.MIG_MODE) && gpu.frame().raw(GpuMetric.MIG_MODE) == 1) {
            return Optional.of("the GPU is partitioned (MIG), and a partition is no whole GPU");
        }
        return Optional.empty();
    }

    /**
     * Returns the verdict on a GPU's own product: by its comparison with the closed form, and by the digest.
     *
     * @param expected the digest of the right product; empty if only the comparison counts
     */
    static ResultVerdict verdict(
            String what, FindingBuilder builder, Reading<ProductResult> product, Optional<Digest> expected) {
        Part part = new Part(what, EqualBoard.of(builder.gpu()), product);
        return EqualWork.judge(List.of(part), expected).get(0);
    }

    /** Returns whether the GPU had work when the node was read, so that a low rate is no sign of a defect. */
    static boolean busy(GpuSnapshot gpu) {
        boolean used =
                gpu.frame().present(GpuMetric.UTILIZATION_GPU) && gpu.frame().raw(GpuMetric.UTILIZATION_GPU) > 0;
        return used
                || gpu.processes().asOptional().filter(list -> !list.isEmpty()).isPresent();
    }

    static void unmeasured(FindingBuilder builder, Reading.Absent<?> absent) {
        builder.context().access().failed(absent.code());
        switch (absent.code()) {
            case OUT_OF_MEMORY -> builder.skip("gpu-memory-full", absent.text());
            case DEVICE_UNAVAILABLE -> builder.skip("gpu-in-exclusive-use", absent.text());
            case UNSUPPORTED_PTX -> builder.skip("driver-too-old", absent.text());
            case SYSTEM_NOT_READY ->
                builder.unknown(
                        CudaNotReady.CODE,
                        CudaNotReady.TEXT + absent.text(),
                        "start Fabric Manager; see the check gpu-fabric");
            default -> {
                switch (absent.cause()) {
                    case NOT_SUPPORTED, NO_SYMBOL, NO_DATA, OFF -> builder.skip("not-measured", absent.text());
                    default ->
                        builder.unknown(
                                "not-measured",
                                absent.text(),
                                "run 'gpuwarden doctor', and read the kernel log for an XID of this GPU");
                }
            }
        }
    }
}
