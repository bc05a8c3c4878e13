package dev.gpuwarden.nccl.run;

import dev.gpuwarden.core.port.CollectiveDriver;
import dev.gpuwarden.core.port.CollectiveDriver.Member;
import dev.gpuwarden.core.port.CollectiveException;
import dev.gpuwarden.core.port.Communicator;
import dev.gpuwarden.core.port.ElementType;
import dev.gpuwarden.core.port.ReduceOperator;
import dev.gpuwarden.nccl.data.TestData;
import dev.gpuwarden.nccl.group.Team;
import dev.gpuwarden.nccl.plan.Collective.Bandwidth;
import dev.gpuwarden.nccl.plan.Layout;
import dev.gpuwarden.nccl.plan.Operator;
import dev.gpuwarden.nccl.plan.Plan;
import dev.gpuwarden.nccl.plan.Plan.Series;
import dev.gpuwarden.nccl.report.Row;
import dev.gpuwarden.nccl.report.Row.Half;
import dev.gpuwarden.nccl.report.RunText.MemoryUse;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** One rank, in a thread of its own. All ranks take the same steps, and the first one of a process reports the rows. */
final class Rank {

    private final Plan plan;
    private final Member member;
    private final int localRank;
    private final Team team;
    private final RowListener listener;
    private final TimesOfRanks times;
    private final Patience patience = new Patience();
    private long outOfBounds;
    private int repetition;

    /** @param listener does nothing in all ranks but the first */
    Rank(Plan plan, Member member, int localRank, Team team, RowListener listener) {
        this.plan = plan;
        this.member = member;
        this.localRank = localRank;
        this.team = team;
        this.listener = listener;
        times = new TimesOfRanks(plan, team, localRank);
    }

    /** The result of a rank, which is the same in all ranks. */
    record Result(long outOfBounds, MemoryUse memory) {}

    Patience patience() {
        return patience;
    }

    /** Makes the waits of this rank throw. Any thread may call it. */
    void abort() {
        member.abort().request();
    }

    Result run(CollectiveDriver driver) throws CollectiveException, Team.Left {
        patience.begin(plan.joining());
        try (Communicator communicator = driver.join(member)) {
            patience.end();
            long free = communicator.freeBytes();
            Buffers buffers =
                    new Buffers(communicator, member.rank(), plan.sizes().most(), plan.offset());
            buffers.register(plan.switches().register());
            long afterBuffers = communicator.freeBytes();
            for (Series series : plan.series(member.ranks())) {
                series(communicator, buffers, series);
            }
            MemoryUse memory = new MemoryUse(
                    (long) times.most(communicator.joiningBytes()), (long) times.most(free - afterBuffers), (long)
                            times.most(afterBuffers - communicator.freeBytes()));
            patience.begin(plan.timeout());
            return new Result(outOfBounds, memory);
        }
    }

    private void series(Communicator communicator, Buffers buffers, Series series)
            throws CollectiveException, Team.Left {
        int operator = operator(communicator, series);
        Operation operation = new Operation(plan.collective(), member.rank(), member.ranks(), operator, series.root());
        Measurement measurement = new Measurement(plan, communicator, operation, buffers, team, localRank, patience);
        TestData data = TestData.of(plan.collective(), series.operator(), series.type(), member.ranks());
        buffers.fill(data.pattern());
        team.meet(localRank);
        for (long bytes : plan.sizes().warmUp()) {
            measurement.warmUp(layout(bytes, series.type()));
        }
        for (int cycle = 0; plan.cycles() == 0 || cycle < plan.cycles(); cycle++) {
            for (long bytes : plan.sizes().all()) {
                Layout layout = layout(bytes, series.type());
                listener.started(series, layout.bytes(), layout.count());
                Half outOfPlace = half(measurement, data, layout, false);
                Half inPlace = half(measurement, data, layout, true);
                listener.ended(new Row(series, layout.bytes(), layout.count(), outOfPlace, inPlace));
            }
        }
        if (series.operator() == Operator.MULSUM && plan.collective().reduces()) {
            communicator.release(operator);
        }
    }

    private Layout layout(long bytes, ElementType type) {
        return plan.collective().layout(bytes, type, member.ranks());
    }

    private int operator(Communicator communicator, Series series) throws CollectiveException {
        if (!plan.collective().reduces()) {
            return ReduceOperator.SUM.ordinal();
        }
        return series.operator() == Operator.MULSUM
                ? communicator.scaledSum(TestData.scalar(series.type(), member.rank()), series.type())
                : ReduceOperator.valueOf(series.operator().name()).ordinal();
    }

    private Half half(Measurement measurement, TestData data, Layout layout, boolean inPlace)
            throws CollectiveException, Team.Left {
        Measurement.Times mine = measurement.time(layout, inPlace);
        double seconds = times.combined(mine.operation());
        double shown = plan.switches().processorTime() ? times.combined(mine.enqueueing()) : seconds;
        Bandwidth bandwidth = plan.collective().bandwidth(layout, member.ranks(), seconds);
        Optional<Row.IterationTimes> iterations =
                plan.switches().perIteration() ? Optional.of(times.iterations(mine.iterations())) : Optional.empty();
        Half half = new Half(shown, bandwidth, wrong(measurement, data, layout, inPlace), iterations);
        listener.measured(half);
        return half;
    }

    private OptionalLong wrong(Measurement measurement, TestData data, Layout layout, boolean inPlace)
            throws CollectiveException, Team.Left {
        if (plan.checks() == 0 || inPlace && !plan.collective().worksInPlace()) {
            return OptionalLong.empty();
        }
        for (int check = 0; check < plan.checks(); check++) {
            repetition++;
            List<Double> wrong = times.ofThreads(measurement.check(data, layout, repetition, inPlace), Double::sum);
            long failed = wrong.stream().filter(count -> count > 0).count();
            if (failed > 0) {
                outOfBounds += failed;
                return OptionalLong.of(
                        (long) wrong.stream().mapToDouble(count -> count).sum());
            }
        }
        return OptionalLong.of(0);
    }
}
