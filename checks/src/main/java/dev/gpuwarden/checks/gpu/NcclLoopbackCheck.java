package dev.gpuwarden.checks.gpu;

import com.google.auto.service.AutoService;
import dev.gpuwarden.checks.GpuGrants;
import dev.gpuwarden.checks.compute.AllReduceBench;
import dev.gpuwarden.checks.compute.AllReduceBench.Outcome;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.GpuAccess.Refusal;
import dev.gpuwarden.core.check.GpuLoad;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.compute.AllReduceSums;
import dev.gpuwarden.core.compute.AllReduceWork;
import dev.gpuwarden.core.compute.EqualBoard;
import dev.gpuwarden.core.health.EachGpu;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.CollectiveDriver;
import dev.gpuwarden.core.port.CollectiveDriver.Gpu;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * All-reduces between the free GPUs of equal boards, from 8 bytes to 256 MiB, by NCCL in this process. The bus bandwidth of
 * the largest size out of place counts. If it is too low, neighbouring pairs are measured, and only GPUs with slow pairs are faulty.
 * Each GPU compares its sums, and repeated wrong ones are a fault.
 */
@AutoService(HealthCheck.class)
public final class NcclLoopbackCheck implements HealthCheck {

    /** The size that limits are for. */
    private static final long WANTED_BYTES = 256 << 20;

    private static final AllReduceWork WORK =
            new AllReduceWork(8, WANTED_BYTES, Duration.ofMillis(100), 10, Duration.ofSeconds(60));

    /** Two kinds of boards, and pairs of 16 GPUs after one of them. */
    private static final Duration DEADLINE = Duration.ofMinutes(5);

    private static final Duration PAIR_DEADLINE = Duration.ofSeconds(10);

    /** Pairs are measured for this long; the rest of the deadline is for the other board's GPUs. */
    private static final Duration PAIRS_DEADLINE = Duration.ofSeconds(60);

    private final AllReduceBench bench = new AllReduceBench();
    private final AllReduceWork work;

    public NcclLoopbackCheck() {
        this(WORK);
    }

    NcclLoopbackCheck(AllReduceWork work) {
        this.work = work;
    }

    @Override
    public CheckInfo info() {
        return CheckInfo.of(
                        "nccl-loopback", "GPU", "An all-reduce between the GPUs of this node reaches its bandwidth.")
                .every(Duration.ofHours(4))
                .damped(1, 1);
    }

    @Override
    public Duration deadline() {
        return DEADLINE;
    }

    @Override
    public GpuLoad load() {
        return GpuLoad.INVASIVE;
    }

    @Override
    public List<Finding> run(CheckContext context) {
        List<GpuSnapshot> gpus = context.node().gpus().stream()
                .filter(gpu -> gpu.state() == GpuState.ANSWERING
                        && ComputeCheck.whyNot(gpu).isEmpty())
                .toList();
        try (GpuGrants grants = GpuGrants.request(context, this, gpus)) {
            grants.idleIf(bench::isIdle);
            Map<GpuSnapshot, Ended> runs = new LinkedHashMap<>();
            for (List<GpuSnapshot> group : groups(grants.gpus())) {
                measure(group, context, grants, runs);
            }
            return CudaNotReady.judged(
                    EachGpu.answering(context.node(), gpu -> finding(gpu, context, runs, grants)), context, info());
        }
    }

    /** A run, and what its GPUs had proven before its end. */
    private record Ended(LoopbackRun run, Proofs proofs) {}

    private static Finding finding(
            GpuSnapshot gpu, CheckContext context, Map<GpuSnapshot, Ended> runs, GpuGrants grants) {
        Optional<Refusal> refusal = grants.refusal(gpu);
        Optional<String> whyNot = ComputeCheck.whyNot(gpu);
        Ended run = runs.get(gpu);
        FindingBuilder builder =
                run == null ? new FindingBuilder(gpu, context) : run.proofs().builder(gpu);
        if (refusal.isPresent()) {
            builder.skip(refusal.get().code(), refusal.get().text());
        } else if (whyNot.isPresent()) {
            builder.skip("not-measured", whyNot.get());
        } else if (run == null) {
            builder.skip("one-gpu", "no other free GPU has the same board, and one GPU has no bus bandwidth");
        } else {
            run.run().judge(builder);
        }
        return builder.finding();
    }

    private static List<List<GpuSnapshot>> groups(List<GpuSnapshot> gpus) {
        return List.copyOf(gpus.stream()
                .collect(Collectors.groupingBy(EqualBoard::of, LinkedHashMap::new, Collectors.toList()))
                .values());
    }

    /** Measures a group. If GPUs of it are withdrawn during that time, it measures the others once more. */
    private void measure(
            List<GpuSnapshot> group, CheckContext context, GpuGrants grants, Map<GpuSnapshot, Ended> runs) {
        List<GpuSnapshot> left = group;
        while (left.size() > 1) {
            Proofs proofs = new Proofs(context);
            LoopbackRun run =
                    measured(context.source(CollectiveDriver.class), left, context, proofs, grants.withdrawn(left));
            List<GpuSnapshot> kept = grants.giveUpWithdrawn(left);
            if (kept.size() == left.size()) {
                kept.forEach(gpu -> runs.put(gpu, new Ended(run, proofs)));
                return;
            }
            left = kept;
        }
    }

    private LoopbackRun measured(
            Reading<CollectiveDriver> driver,
            List<GpuSnapshot> group,
            CheckContext context,
            Proofs proofs,
            BooleanSupplier stopped) {
        if (driver instanceof Reading.Absent<CollectiveDriver> none) {
            return new LoopbackRun.NoLibrary(none);
        }
        CollectiveDriver nccl = driver.asOptional().orElseThrow();
        List<GpuSnapshot> members = new ArrayList<>();
        List<Gpu> gpus = new ArrayList<>();
        for (GpuSnapshot gpu : group) {
            nccl.gpu(gpu.identity().selector()).ifPresent(listed -> {
                members.add(gpu);
                gpus.add(listed);
            });
        }
        if (gpus.size() < 2) {
            return new LoopbackRun.NoLibrary(new Reading.Absent<>(
                    Absence.NO_DATA, 0, "CUDA lists fewer than two of these GPUs in this process"));
        }
        context.progress("all-reduces between " + gpus.size() + " GPUs", 0, 0);
        Outcome outcome = bench.run(nccl, gpus, work, stopped, wrongSums(LoopbackRun.ALL, members, proofs));
        if (outcome instanceof Outcome.Failed failed) {
            return new LoopbackRun.Failed(members, failed.causes());
        }
        LoopbackRun.Measured all =
                new LoopbackRun.Measured(members, (Outcome.Measured) outcome, WANTED_BYTES, Map.of());
        return all.isLow(context) && members.size() > 2 ? all.withPairs(pairs(nccl, gpus, all, proofs, stopped)) : all;
    }

    /** Returns the receiver of sums that reports wrong ones immediately, in the order of these GPUs. */
    private static Consumer<List<AllReduceSums>> wrongSums(String what, List<GpuSnapshot> gpus, Proofs proofs) {
        return sums -> {
            for (int i = 0; i < sums.size(); i++) {
                AllReduceSums own = sums.get(i);
                if (own.wrongSizes() > 0) {
                    proofs.add(gpus.get(i), builder -> LoopbackRun.addWrong(builder, what, own));
                }
            }
        };
    }

    /** Returns the rates of neighbouring pairs by the place of the first GPU; without those that could not be measured. */
    private Map<Integer, Double> pairs(
            CollectiveDriver nccl, List<Gpu> gpus, LoopbackRun.Measured all, Proofs proofs, BooleanSupplier stopped) {
        Map<Integer, Double> rates = new LinkedHashMap<>();
        long end = System.nanoTime() + PAIRS_DEADLINE.toNanos();
        for (int i = 0; i < gpus.size() && System.nanoTime() < end && !stopped.getAsBoolean(); i++) {
            int place = i;
            int next = (i + 1) % gpus.size();
            List<Gpu> pair = List.of(gpus.get(i), gpus.get(next));
            List<GpuSnapshot> members = List.of(all.group().get(i), all.group().get(next));
            Outcome outcome = bench.run(
                    nccl,
                    pair,
                    work.only(all.rate().bytes(), PAIR_DEADLINE),
                    stopped,
                    wrongSums("all-reduce of pair " + i, members, proofs));
            if (outcome instanceof Outcome.Measured measured) {
                rates.put(place, measured.last().busBandwidth());
            }
        }
        return rates;
    }
}
