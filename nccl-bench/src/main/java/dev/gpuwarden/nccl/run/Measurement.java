package dev.gpuwarden.nccl.run;

import dev.gpuwarden.core.port.CollectiveException;
import dev.gpuwarden.core.port.Communicator;
import dev.gpuwarden.nccl.data.TestData;
import dev.gpuwarden.nccl.group.Team;
import dev.gpuwarden.nccl.plan.Layout;
import dev.gpuwarden.nccl.plan.Plan;
import java.util.ArrayList;
import java.util.List;

/** The measurement of one operation in one rank, in the order of nccl-tests. */
final class Measurement {

    private final Plan plan;
    private final Communicator communicator;
    private final Operation operation;
    private final Buffers buffers;
    private final Team team;
    private final int localRank;
    private final Patience patience;
    private final List<Long> marks = new ArrayList<>();

    Measurement(
            Plan plan,
            Communicator communicator,
            Operation operation,
            Buffers buffers,
            Team team,
            int localRank,
            Patience patience) {
        this.plan = plan;
        this.communicator = communicator;
        this.operation = operation;
        this.buffers = buffers;
        this.team = team;
        this.localRank = localRank;
        this.patience = patience;
    }

    /**
     * Times of one rank, in seconds.
     *
     * @param operation time of one operation
     * @param enqueueing time of the host for one operation
     * @param iterations by the GPU's clock; empty where it was not requested
     */
    record Times(double operation, double enqueueing, List<Double> iterations) {}

    void warmUp(Layout layout) throws CollectiveException {
        patience.begin(plan.timeout());
        for (int i = 0; i < plan.warmUps(); i++) {
            enqueue(layout, i, false);
        }
        communicator.await(plan.timeout());
        patience.end();
    }

    Times time(Layout layout, boolean inPlace) throws CollectiveException, Team.Left {
        once(layout, inPlace);
        team.meet(localRank);
        patience.begin(plan.timeout());
        return plan.graphs() > 0 ? launched(layout, inPlace) : enqueued(layout, inPlace);
    }

    private Times enqueued(Layout layout, boolean inPlace) throws CollectiveException, Team.Left {
        int operations = plan.iterations() * plan.aggregated();
        mark(0);
        long began = System.nanoTime();
        long excluded = 0;
        for (int i = 0; i < plan.iterations(); i++) {
            iteration(layout, i, inPlace);
            mark(i + 1);
            if (plan.blocking() == 3) {
                communicator.await(plan.timeout());
                long done = System.nanoTime();
                meet();
                excluded += System.nanoTime() - done;
            }
        }
        double enqueueing = (System.nanoTime() - began - excluded) / 1e9 / operations;
        communicator.await(plan.timeout());
        double whole = (System.nanoTime() - began - excluded) / 1e9 / operations;
        patience.end();
        return new Times(whole, enqueueing, iterations());
    }

    /** Captures all iterations, and measures the launches. The time of enqueueing is that of all launches, as in nccl-tests. */
    private Times launched(Layout layout, boolean inPlace) throws CollectiveException, Team.Left {
        int operations = plan.iterations() * plan.aggregated();
        communicator.startCapture();
        for (int i = 0; i < plan.iterations(); i++) {
            iteration(layout, i, inPlace);
        }
        long graph = communicator.endCapture();
        meet();
        long began = System.nanoTime();
        for (int i = 0; i < plan.graphs(); i++) {
            communicator.launch(graph);
        }
        double enqueueing = (System.nanoTime() - began) / 1e9 / operations;
        communicator.await(plan.timeout());
        double whole = (System.nanoTime() - began) / 1e9 / operations / plan.graphs();
        communicator.discard(graph);
        patience.end();
        return new Times(whole, enqueueing, List.of());
    }

    private void iteration(Layout layout, int iteration, boolean inPlace) throws CollectiveException, Team.Left {
        boolean group = plan.aggregated() > 1;
        if (group) {
            communicator.startGroup();
        }
        for (int i = 0; i < plan.aggregated(); i++) {
            enqueue(layout, (long) iteration * plan.aggregated() + i, inPlace);
            if (plan.blocking() == 1 || plan.blocking() == 2) {
                communicator.await(plan.timeout());
            }
            if (plan.blocking() == 1) {
                meet();
            }
        }
        if (group) {
            communicator.endGroup();
        }
    }

    /** Waits for the other ranks, whose failure bounds this wait. */
    private void meet() throws Team.Left {
        patience.end();
        team.meet(localRank);
        patience.begin(plan.timeout());
    }

    private void once(Layout layout, boolean inPlace) throws CollectiveException {
        patience.begin(plan.timeout());
        enqueue(layout, 0, inPlace);
        communicator.await(plan.timeout());
        patience.end();
    }

    private void onceByGraph(Layout layout, boolean inPlace) throws CollectiveException {
        patience.begin(plan.timeout());
        communicator.startCapture();
        enqueue(layout, 0, inPlace);
        long graph = communicator.endCapture();
        communicator.launch(graph);
        communicator.await(plan.timeout());
        communicator.discard(graph);
        patience.end();
    }

    private void enqueue(Layout layout, long iteration, boolean inPlace) throws CollectiveException {
        operation.enqueue(
                communicator,
                layout,
                buffers.send(layout, iteration, inPlace),
                buffers.receive(layout, iteration, inPlace));
    }

    private void mark(int number) throws CollectiveException {
        if (plan.switches().perIteration()) {
            if (marks.size() <= number) {
                marks.add(communicator.newMark());
            }
            communicator.record(marks.get(number));
        }
    }

    private List<Double> iterations() throws CollectiveException {
        List<Double> seconds = new ArrayList<>();
        for (int i = 0; plan.switches().perIteration() && i < plan.iterations(); i++) {
            seconds.add(communicator.seconds(marks.get(i), marks.get(i + 1)));
        }
        return seconds;
    }

    /** Returns the wrong elements of this rank after one operation on known data. */
    long check(TestData data, Layout layout, int repetition, boolean inPlace) throws CollectiveException {
        int rank = operation.rank();
        buffers.prepare(layout, data.input(layout, rank, repetition), inPlace);
        if (plan.graphs() > 0) {
            onceByGraph(layout, inPlace);
        } else {
            once(layout, inPlace);
        }
        return buffers.wrong(
                layout, data.expected(layout, rank, operation.root(), repetition, inPlace), inPlace, data.tolerance());
    }
}
