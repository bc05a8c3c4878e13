package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.checks.verify.Verification;
import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.daemon.repair.RepairAttempt.Kind;
import dev.gpuwarden.daemon.repair.RepairAttempt.Outcome;
import dev.gpuwarden.daemon.repair.RepairStatus.State;
import dev.gpuwarden.daemon.repair.ServerDecision.Planned;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** One turn after the other of the repair of this server. One thread calls it, except for {@link #status()}. */
final class ServerRepairLoop {

    private static final System.Logger LOG = System.getLogger(ServerRepairLoop.class.getName());

    private static final Duration SOON = Duration.ofSeconds(1);
    private static final Duration LATER = Duration.ofSeconds(30);

    /** The time in which a server shuts down and is up again. */
    private static final Duration LONGEST_REBOOT = Duration.ofMinutes(15);

    /** The time in which checks decide after a boot; then the repair counts as failed. */
    private static final Duration LONGEST_VERIFICATION = Duration.ofMinutes(30);

    /**
     * The settings of the loop, and the sources that it reads.
     *
     * @param armed false for a dry run
     * @param bootId of this boot
     * @param evidence the evidence for faults now
     * @param load true if checks after a boot give work to a GPU
     * @param incomplete the reason for which the faults are not all found yet; empty once they are
     */
    record Setup(
            boolean armed,
            RepairRules rules,
            String bootId,
            EventReader faults,
            Supplier<FaultEvidence> evidence,
            Supplier<ServerGpus> gpus,
            boolean load,
            Supplier<Optional<String>> incomplete) {

        /** Returns the faults of parts whose checks have not passed since a boot or a reset. */
        List<Fault> pending() {
            return faults.faults().stream().filter(Verification::isPending).toList();
        }
    }

    private final Setup setup;
    private final RepairSteps.Server server;
    private final LeftPersistence left;
    private final RepairLog log;
    private final UnitSteps units;
    private final RepairSteps steps;
    private final RepairReason reason;
    private final Clock clock;
    /** The clock of the verification after a boot. The wall clock of a server is often set soon after one. */
    private final LongSupplier nanoTime;

    private final long startedNanos;
    /** The id of the attempt that {@link #since} measures; empty before the first. */
    private String awaited = "";

    private long awaitedNanos;
    private volatile RepairStatus status = new RepairStatus(State.WAITING, "the daemon starts", List.of(), Map.of());

    /** @param nanoTime clock that is never set */
    ServerRepairLoop(
            Setup setup,
            RepairSteps.Server server,
            LeftPersistence left,
            RepairLog log,
            Clock clock,
            LongSupplier nanoTime) {
        this.setup = setup;
        this.server = server;
        this.left = left;
        this.log = log;
        this.clock = clock;
        this.nanoTime = nanoTime;
        this.startedNanos = nanoTime.getAsLong();
        Consumer<String> progress = line -> report(State.WORKING, line, List.of());
        this.units = new UnitSteps(server.units(), log, progress);
        this.reason = new RepairReason(setup, log, server.users());
        this.steps =
                new RepairSteps(server, units, log, attempt -> reason.hookCause(attempt, clock.instant()), progress);
    }

    RepairStatus status() {
        return status;
    }

    /** Takes one turn, which blocks for as long as a repair takes. Returns the longest pause before the next. */
    Duration step() throws InterruptedException {
        try {
            log.flush();
            Optional<RepairAttempt> open = log.unfinished();
            if (open.isPresent()) {
                return finish(open.get()) ? Duration.ZERO : SOON;
            }
            return decide();
        } catch (IOException e) {
            report(
                    State.BLOCKED,
                    "the record of repairs cannot be written, so none begins: " + e.getMessage(),
                    List.of());
            return LATER;
        }
    }

    /** Leaves no unit stopped for checks after a boot, since no daemon may come to end them. Call it after the last turn. */
    void close() throws InterruptedException {
        Optional<RepairAttempt> open =
                log.unfinished().filter(attempt -> !attempt.bootId().equals(setup.bootId()));
        if (open.isPresent()) {
            units.requestStart(open.get());
        }
    }

    private Duration decide() throws IOException, InterruptedException {
        Optional<String> incomplete = setup.incomplete().get();
        if (incomplete.isPresent()) {
            report(State.WAITING, incomplete.get(), List.of());
            return SOON;
        }
        Instant now = clock.instant();
        ServerDecision decision = ServerDecision.decide(
                reason.present(now), log.attempts(), setup.rules(), setup.gpus().get(), now);
        List<String> tasks = new ArrayList<>(stoppedUnits());
        left.restore(setup.armed()).ifPresent(tasks::add);
        tasks.addAll(decision.tasks());
        List<Fault> pending = setup.pending();
        boolean late =
                pending.stream().anyMatch(fault -> !now.isBefore(fault.since().plus(LONGEST_VERIFICATION)));
        if (late) {
            tasks.add("let the checks after the repair pass: " + Verification.text(pending));
        }
        if (decision.action().isPresent()) {
            Planned planned = decision.action().get();
            String plan = planned.text()
                    + (planned.kind() == Kind.REBOOT ? " " + server.reboot().text() : "");
            if (setup.armed()) {
                RepairAttempt attempt = log.begin(planned.kind(), planned.subjects(), planned.why(), setup.bootId());
                report(State.WORKING, "begins: " + plan, tasks);
                steps.run(attempt, look(attempt));
                return Duration.ZERO;
            }
            report(State.BLOCKED, "dry run: would begin " + plan, tasks);
            return LATER;
        }
        if (!tasks.isEmpty()) {
            report(State.OPERATOR, "an operator must: " + String.join("; ", tasks), tasks);
        } else if (decision.again().isPresent()) {
            report(State.WAITING, "a fault is young, or was repaired a moment ago", tasks);
        } else if (!pending.isEmpty()) {
            report(State.WAITING, Verification.text(pending), tasks);
        } else if (decides().isPresent()) {
            report(State.WAITING, waits(now), tasks);
        } else {
            if (server.slurm().isPresent() && log.mayBeDrained()) {
                new SlurmReturn(server.slurm().get(), log, clock)
                        .resume(() -> decides().isPresent());
            }
            report(State.IDLE, "no fault requests a repair", tasks);
        }
        Duration pause = decision.again()
                .map(again -> Duration.between(now, again))
                .filter(until -> until.compareTo(LATER) < 0)
                .orElse(LATER);
        return pause.compareTo(SOON) < 0 ? SOON : pause;
    }

    private Optional<Fault> decides() {
        return setup.faults().faults().stream().filter(Fault::decides).findFirst();
    }

    /** Returns what the faults wait for that no repair begins for. */
    private String waits(Instant now) {
        return setup.faults().faults().stream().filter(Fault::decides).anyMatch(reason.present(now)::contains)
                ? "the faults request no repair"
                : "no fault has a reading that is bad now; a fault ends after more passes";
    }

    private RepairSteps.Look look(RepairAttempt attempt) {
        return new RepairSteps.Look() {
            @Override
            public Optional<String> gone() {
                return reason.gone(attempt, clock.instant());
            }

            @Override
            public Optional<String> used() {
                return reason.used();
            }

            @Override
            public boolean lasts() {
                return reason.lasts(attempt, clock.instant());
            }
        };
    }

    /** Brings a repair to its end that is in progress without this thread. Returns false if it is still in progress. */
    private boolean finish(RepairAttempt open) throws IOException, InterruptedException {
        boolean booted = !open.bootId().equals(setup.bootId());
        boolean reboots = open.kind() == Kind.REBOOT
                && (open.done(RepairAttempt.REBOOT).isPresent()
                        // A line that cannot be read may have been the request, and the server has booted since.
                        || booted && open.last(RepairAttempt.UNREADABLE).isPresent());
        if (reboots && !booted) {
            if (since(open).compareTo(LONGEST_REBOOT) < 0) {
                report(State.WORKING, open.text() + " was requested", List.of());
                return false;
            }
            return end(open, Outcome.FAILED, "no other boot within 15 m after the request");
        }
        if (reboots) {
            return verified(open);
        }
        // First: a reset whose beginning is lost has no boot, and may run.
        if (open.isResetting() && isResetting()) {
            if (since(open).compareTo(server.reset().longest()) > 0) {
                return end(open, Outcome.HELD, "gpu-reset of an earlier daemon did not end in time");
            }
            report(State.WORKING, open.text() + " runs since an earlier daemon", List.of());
            return false;
        }
        if (open.isResetting() && booted) {
            return end(open, Outcome.FAILED, "the server booted during the reset");
        }
        units.start(open);
        steps.endInterrupted(open, "the daemon ended in the middle");
        return true;
    }

    /** Returns the time for which this daemon waits for the end of the attempt, which no change of the wall clock makes longer. */
    private Duration since(RepairAttempt open) {
        if (!open.id().equals(awaited)) {
            awaited = open.id();
            awaitedNanos = nanoTime.getAsLong();
        }
        return Duration.ofNanos(nanoTime.getAsLong() - awaitedNanos);
    }

    /** A child of an earlier daemon undoes its steps once that daemon is gone; a unit goes on. */
    private boolean isResetting() throws InterruptedException {
        return left.isResetting()
                || server.reset().process() == RepairProcess.unit
                        && server.units().isActive(ResetRun.UNIT);
    }

    /** Ends a reboot after the boot, once the checks have decided about its parts. */
    private boolean verified(RepairAttempt open) throws IOException, InterruptedException {
        Duration since = Duration.ofNanos(nanoTime.getAsLong() - startedNanos);
        boolean late = since.compareTo(LONGEST_VERIFICATION) >= 0;
        List<Fault> pending = setup.pending().stream()
                .filter(fault -> RepairReason.concerns(open, fault))
                .toList();
        boolean early = setup.incomplete().get().isPresent()
                || since.compareTo(setup.rules().settle()) < 0;
        if (!late && (early || !pending.isEmpty())) {
            if (setup.load() && !pending.isEmpty()) {
                units.stopAfterBoot(open);
            }
            String waits = pending.isEmpty() ? "" : ": " + Verification.text(pending);
            report(State.WORKING, open.text() + ": booted, and its checks have not all passed" + waits, List.of());
            return false;
        }
        return pending.isEmpty()
                ? end(open, Outcome.SUCCEEDED, "boot " + setup.bootId())
                : end(
                        open,
                        Outcome.FAILED,
                        "its checks have not passed within 30 m after the boot: " + Verification.text(pending));
    }

    private boolean end(RepairAttempt open, Outcome outcome, String detail) throws InterruptedException {
        units.start(open);
        steps.end(open, new ResetRun.Result(outcome, detail));
        return true;
    }

    /** Returns a task for each unit of the last repair that does not run again. */
    private List<String> stoppedUnits() throws InterruptedException {
        List<RepairAttempt> attempts = log.attempts();
        List<String> tasks = new ArrayList<>();
        if (attempts.isEmpty()) {
            return tasks;
        }
        RepairAttempt last = attempts.get(attempts.size() - 1);
        for (String unit : last.stoppedUnits()) {
            if (server.units().isActive(unit)) {
                log.record(last, RepairAttempt.START, unit, true, "it runs again", System.nanoTime());
            } else {
                tasks.add("start the unit " + unit + ", which did not start again after the " + last.text());
            }
        }
        return tasks;
    }

    private void report(State state, String text, List<String> tasks) {
        Map<List<String>, Long> ended = new HashMap<>();
        for (Kind kind : Kind.values()) {
            for (Outcome outcome : Outcome.values()) {
                ended.put(List.of(kind.label(), outcome.label()), 0L);
            }
        }
        for (RepairAttempt attempt : log.attempts()) {
            attempt.end()
                    .ifPresent(end -> ended.merge(
                            List.of(attempt.kind().label(), end.outcome().label()), 1L, Long::sum));
        }
        RepairStatus before = status;
        status = new RepairStatus(state, text, tasks, ended);
        if (!before.text().equals(text)) {
            boolean calm = state == State.IDLE || state == State.WAITING;
            LOG.log(calm ? Level.DEBUG : state == State.WORKING ? Level.INFO : Level.WARNING, text);
        }
    }
}
