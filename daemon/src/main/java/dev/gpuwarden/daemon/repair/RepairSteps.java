package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.run.ShutdownSignal;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.repair.RepairAttempt.Kind;
import dev.gpuwarden.daemon.repair.RepairAttempt.Outcome;
import dev.gpuwarden.daemon.repair.RepairAttempt.Step;
import dev.gpuwarden.daemon.repair.ResetRun.Result;
import dev.gpuwarden.daemon.script.ManagerProgram;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The steps of one repair, in their order: drain, stop of the units, reset, or evidence and reboot, start of the units. Each is in the record
 * before the next begins. The units start again whatever happens. Blocks for as long as the repair takes.
 */
final class RepairSteps {

    private static final System.Logger LOG = System.getLogger(RepairSteps.class.getName());
    private static final Duration POLL = Duration.ofSeconds(2);
    private static final Duration BETWEEN_RUNS = Duration.ofSeconds(1);

    /** The time in which a signal to all processes of a unit has reached each. */
    private static final Duration SIGNALS = Duration.ofSeconds(1);

    private static final int MOST_RUNS = 5;

    /**
     * The parts of this server that the steps use.
     *
     * @param checks runs all checks of this daemon once, and returns when they have ended
     * @param slurm empty for a server without Slurm
     * @param slurmWait longest wait for jobs to end
     * @param hook the user's program; empty without one
     * @param users processes that hold a GPU, other than this one; empty if a reboot does not depend on them
     */
    record Server(
            ResetRun reset,
            RebootRun reboot,
            Runnable checks,
            SystemUnits units,
            Optional<SlurmNode> slurm,
            Duration slurmWait,
            Optional<HookRun> hook,
            Optional<Supplier<Reading<Set<Integer>>>> users) {}

    private final Server server;
    private final UnitSteps units;
    private final RepairLog log;
    private final Function<RepairAttempt, Optional<HealthEvent>> cause;
    private final Consumer<String> progress;

    /**
     * @param cause returns the event that requests the hook of an attempt; empty once its fault is over
     * @param progress receives a line at the start of each step
     */
    RepairSteps(
            Server server,
            UnitSteps units,
            RepairLog log,
            Function<RepairAttempt, Optional<HealthEvent>> cause,
            Consumer<String> progress) {
        this.server = server;
        this.units = units;
        this.log = log;
        this.cause = cause;
        this.progress = progress;
    }

    /**
     * Carries out the attempt. A reboot is left unfinished: the boot ends it.
     *
     * @param wanted returns false once the fault is over
     * @throws IOException if the record cannot be written; the units start again even so
     */
    void run(RepairAttempt attempt, BooleanSupplier wanted) throws IOException, InterruptedException {
        try {
            Optional<Result> result = act(attempt, wanted);
            if (result.isPresent()) {
                units.start(attempt);
                end(attempt, result.get());
            }
        } catch (InterruptedException e) {
            stopped(attempt);
            throw e;
        } catch (IOException e) {
            units.startUnrecorded(attempt);
            throw e;
        }
    }

    /** Ends the attempt in the record. */
    void end(RepairAttempt attempt, Result result) throws IOException {
        String evidence = log.current(attempt).steps().stream()
                .filter(step -> step.name().equals(RepairAttempt.EVIDENCE))
                .map(step -> "; " + step.detail())
                .collect(Collectors.joining());
        String detail = result.detail() + evidence;
        log.end(attempt, result.outcome(), detail);
        Level level = result.outcome() == Outcome.SUCCEEDED ? Level.INFO : Level.WARNING;
        LOG.log(level, attempt.text() + " " + result.outcome().label() + ": " + detail);
    }

    private Optional<Result> act(RepairAttempt attempt, BooleanSupplier wanted)
            throws IOException, InterruptedException {
        boolean drains = attempt.kind() != Kind.HOOK
                || server.hook().filter(HookRun::drains).isPresent();
        Optional<Result> refused = drains ? drain(attempt, wanted) : Optional.empty();
        if (refused.isEmpty() && drains) {
            refused = units.stop(attempt).map(why -> new Result(Outcome.HELD, why));
        }
        if (refused.isPresent()) {
            return refused;
        }
        if (!wanted.getAsBoolean()) {
            return Optional.of(over(attempt));
        }
        if (attempt.kind() == Kind.REBOOT) {
            return reboot(attempt, wanted);
        }
        Result result = attempt.kind() == Kind.HOOK ? hook(attempt) : reset(attempt);
        if (result.outcome() == Outcome.SUCCEEDED) {
            check(wanted);
        }
        return Optional.of(result);
    }

    /** Runs the checks now, since some wait for hours: the first runs may still read the time before the reset. */
    private void check(BooleanSupplier wanted) throws InterruptedException {
        progress.accept("checks run after the reset");
        for (int run = 0; run < MOST_RUNS && wanted.getAsBoolean(); run++) {
            try {
                server.checks().run();
            } catch (IllegalStateException e) {
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                throw e;
            }
            pause(BETWEEN_RUNS);
        }
    }

    private Optional<Result> drain(RepairAttempt attempt, BooleanSupplier wanted)
            throws IOException, InterruptedException {
        if (server.slurm().isEmpty()) {
            return Optional.empty();
        }
        SlurmNode node = server.slurm().get();
        progress.accept("Slurm drains " + node.name());
        long start = System.nanoTime();
        Optional<SlurmNode.State> state = node.state();
        if (state.isEmpty()) {
            return held(
                    attempt, RepairAttempt.DRAIN, node.name(), start, "Slurm does not report the state of the node");
        }
        if (!state.get().drains()) {
            log.record(attempt, RepairAttempt.DRAIN, node.name(), true, "requested", start);
            ManagerProgram drain = node.drain(attempt.text());
            if (!drain.succeeded()) {
                return held(attempt, RepairAttempt.DRAIN, node.name(), start, drain.text());
            }
        }
        while (System.nanoTime() - start < server.slurmWait().toNanos() && wanted.getAsBoolean()) {
            Optional<SlurmNode.State> now = node.state();
            if (now.filter(each -> each.drains() && !each.isUsed()).isPresent()) {
                return Optional.empty();
            }
            pause(POLL);
        }
        return Optional.of(new Result(
                Outcome.HELD,
                "jobs of Slurm still run on " + node.name() + " after " + Durations.text(server.slurmWait())));
    }

    private Result reset(RepairAttempt attempt) throws IOException, InterruptedException {
        progress.accept(attempt.text());
        long start = System.nanoTime();
        log.record(attempt, RepairAttempt.BEGIN_RESET, "", true, "", start);
        Result result = server.reset().run(attempt.subjects());
        if (result.outcome() != Outcome.SUCCEEDED) {
            unlessStopped(SIGNALS);
        }
        log.record(attempt, RepairAttempt.RESET, "", result.outcome() == Outcome.SUCCEEDED, result.detail(), start);
        return result;
    }

    private Result hook(RepairAttempt attempt) throws IOException, InterruptedException {
        Optional<HealthEvent> event = cause.apply(attempt);
        if (event.isEmpty() || server.hook().isEmpty()) {
            return new Result(Outcome.HELD, "no fault requests the " + attempt.text() + " now");
        }
        progress.accept(attempt.text());
        long start = System.nanoTime();
        log.record(attempt, RepairAttempt.BEGIN_HOOK, "", true, "", start);
        Result result = server.hook().get().run(attempt, event.get());
        log.record(attempt, RepairAttempt.HOOK, "", result.outcome() == Outcome.SUCCEEDED, result.detail(), start);
        return result;
    }

    private static Result over(RepairAttempt attempt) {
        return new Result(Outcome.HELD, "the fault was over before the " + attempt.text());
    }

    private Optional<Result> reboot(RepairAttempt attempt, BooleanSupplier wanted)
            throws IOException, InterruptedException {
        Optional<Result> used = used(attempt);
        if (used.isPresent()) {
            return used;
        }
        boolean kept = keepEvidence(attempt);
        // Evidence takes minutes, in which the fault may end and a process may begin.
        if (!wanted.getAsBoolean()) {
            return Optional.of(over(attempt));
        }
        used = used(attempt);
        if (used.isPresent()) {
            return used;
        }
        unlessStopped(kept ? Duration.ZERO : SIGNALS);
        progress.accept(attempt.text());
        long start = System.nanoTime();
        log.record(attempt, RepairAttempt.REBOOT, "", true, "requested", start);
        ManagerProgram reboot = server.reboot().request();
        log.record(attempt, RepairAttempt.REBOOT, "", reboot.succeeded(), reboot.text(), start);
        return RebootRun.refused(reboot) ? Optional.of(new Result(Outcome.FAILED, reboot.text())) : Optional.empty();
    }

    private boolean keepEvidence(RepairAttempt attempt) throws IOException, InterruptedException {
        progress.accept("evidence before the " + attempt.text());
        long start = System.nanoTime();
        EvidenceRun.Evidence evidence = server.reboot().evidence().keep(attempt);
        log.record(attempt, RepairAttempt.EVIDENCE, "", evidence.kept(), evidence.text(), start);
        return evidence.kept();
    }

    /** Returns the result of a reboot that must wait for processes. */
    private Optional<Result> used(RepairAttempt attempt) throws IOException {
        long start = System.nanoTime();
        if (server.users().isPresent()) {
            Reading<Set<Integer>> users = server.users().get().get();
            if (users.asOptional().filter(Set::isEmpty).isEmpty()) {
                String seen = users.asOptional()
                        .map(pids -> "processes " + pids)
                        .orElseGet(() -> ((Reading.Absent<?>) users).text());
                return held(
                        attempt,
                        RepairAttempt.REBOOT,
                        "",
                        start,
                        "expected no process that holds a GPU (--repair.reboot=idle), seen " + seen);
            }
        }
        return Optional.empty();
    }

    /**
     * The daemon ends, and has seconds for this. After the request of a reboot that is expected, and the boot ends the attempt. A
     * reset in its own unit goes on, so that the next daemon ends the attempt: a unit that starts now could take the GPU, so systemd starts it after the reset.
     */
    private void stopped(RepairAttempt attempt) throws IOException, InterruptedException {
        RepairAttempt now = log.current(attempt);
        if (now.done(RepairAttempt.REBOOT).isPresent()) {
            return;
        }
        if (server.reset().process() == RepairProcess.unit && now.isResetting()) {
            units.requestStartAfterReset(attempt);
            return;
        }
        units.requestStart(attempt);
        end(attempt, interrupted(log.current(attempt), "the daemon was stopped in the middle"));
    }

    /** Returns the result of an attempt whose daemon has ended. A hook may have done its work in part, so it is not run again. */
    static Result interrupted(RepairAttempt attempt, String why) {
        Optional<Step> ran = attempt.last(RepairAttempt.RESET).or(() -> attempt.last(RepairAttempt.HOOK));
        if (ran.isPresent()) {
            return ResetRun.recorded(ran.get());
        }
        return new Result(attempt.done(RepairAttempt.BEGIN_HOOK).isPresent() ? Outcome.FAILED : Outcome.HELD, why);
    }

    private Optional<Result> held(RepairAttempt attempt, String step, String target, long start, String why)
            throws IOException {
        log.record(attempt, step, target, false, why, start);
        return Optional.of(new Result(Outcome.HELD, why));
    }

    /**
     * Continues only if no signal stops the daemon. systemd sends SIGTERM to all processes of its unit, so that a program can end before this
     * thread is interrupted. Its end is no failure then, and nothing may follow it.
     */
    private static void unlessStopped(Duration signals) throws InterruptedException {
        pause(signals);
        if (ShutdownSignal.inProgress()) {
            throw new InterruptedException();
        }
    }

    private static void pause(Duration time) throws InterruptedException {
        LockSupport.parkNanos(time.toNanos());
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
    }
}
