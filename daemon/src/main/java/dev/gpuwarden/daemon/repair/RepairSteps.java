package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.checks.child.ManagerProgram;
import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.run.ShutdownSignal;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.repair.RepairAttempt.Kind;
import dev.gpuwarden.daemon.repair.RepairAttempt.Outcome;
import dev.gpuwarden.daemon.repair.RepairAttempt.Step;
import dev.gpuwarden.daemon.repair.ResetRun.Result;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The steps of one repair, in their order: drain, stop of the units, reset, or evidence and reboot, start of the units. Each is in the record
 * before the next begins. The units start again whatever happens. Blocks for as long as the repair takes.
 *
 * @param cause returns the event that requests the hook of an attempt; empty once its fault is over
 * @param progress receives a line at the start of each step
 */
record RepairSteps(
        Server server,
        UnitSteps units,
        RepairLog log,
        Function<RepairAttempt, Optional<HealthEvent>> cause,
        Consumer<String> progress) {

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
     * @param pause waits
     */
    record Server(
            ResetRun reset,
            RebootRun reboot,
            Runnable checks,
            SystemUnits units,
            Optional<SlurmNode> slurm,
            Duration slurmWait,
            Optional<HookRun> hook,
            Optional<Supplier<Reading<Set<Integer>>>> users,
            Pause pause) {}

    /** A wait, in which the thread may be interrupted. */
    interface Pause {
        void of(Duration time) throws InterruptedException;
    }

    /** The reason of an attempt, as it is now: an act follows the decision by up to hours. */
    interface Look {
        /** Returns why the attempt must not go on; empty while it may. */
        Optional<String> gone();

        /** Returns why a reboot must wait for processes; empty if it need not. */
        Optional<String> used();

        /** Returns whether the fault lasts, which checks after a reset can end. */
        boolean lasts();
    }

    /**
     * Carries out the attempt. A reboot is left unfinished: the boot ends it.
     *
     * @param look its reason, which is tested immediately before each act
     * @throws IOException if the disk did not take an intent, whose act was left out; the units start again even so
     */
    void run(RepairAttempt attempt, Look look) throws IOException, InterruptedException {
        try {
            Optional<Result> result = act(attempt, look);
            if (result.isPresent()) {
                units.start(attempt);
                end(attempt, result.get());
            }
        } catch (InterruptedException e) {
            stopped(attempt);
            throw e;
        } catch (IOException e) {
            units.start(attempt);
            endInterrupted(attempt, "the record of repairs cannot be written: " + e.getMessage());
            throw e;
        }
    }

    /** Ends the attempt in the record. */
    void end(RepairAttempt attempt, Result result) {
        String evidence = log.current(attempt).steps().stream()
                .filter(step -> step.name().equals(RepairAttempt.EVIDENCE))
                .map(step -> "; " + step.detail())
                .collect(Collectors.joining());
        String detail = result.detail() + evidence;
        log.end(attempt, result.outcome(), detail);
        Level level = result.outcome() == Outcome.SUCCEEDED ? Level.INFO : Level.WARNING;
        LOG.log(level, attempt.text() + " " + result.outcome().label() + ": " + detail);
    }

    private Optional<Result> act(RepairAttempt attempt, Look look) throws IOException, InterruptedException {
        boolean drains = attempt.kind() != Kind.HOOK
                || server.hook().filter(HookRun::drains).isPresent();
        Optional<Result> refused = drains ? drain(attempt, look) : Optional.empty();
        if (refused.isEmpty() && drains) {
            refused = units.stop(attempt, look::gone).map(why -> new Result(Outcome.HELD, why));
        }
        if (refused.isPresent()) {
            return refused;
        }
        if (attempt.kind() == Kind.REBOOT) {
            return reboot(attempt, look);
        }
        Result result = attempt.kind() == Kind.HOOK ? hook(attempt, look) : reset(attempt, look);
        if (result.outcome() == Outcome.SUCCEEDED) {
            check(look);
        }
        return Optional.of(result);
    }

    /** Returns the result of an attempt whose reason is gone. Each act begins with this. */
    private static Optional<Result> gone(RepairAttempt attempt, Look look) {
        return look.gone().map(why -> new Result(Outcome.HELD, "before the " + attempt.text() + ": " + why));
    }

    /** Runs the checks now, since some wait for hours: the first runs may still read the time before the reset. */
    private void check(Look look) throws InterruptedException {
        progress.accept("checks run after the reset");
        for (int run = 0; run < MOST_RUNS && look.lasts(); run++) {
            try {
                server.checks().run();
            } catch (IllegalStateException e) {
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                throw e;
            }
            server.pause().of(BETWEEN_RUNS);
        }
    }

    private Optional<Result> drain(RepairAttempt attempt, Look look) throws IOException, InterruptedException {
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
        Optional<Result> gone = gone(attempt, look);
        if (gone.isPresent()) {
            return gone;
        }
        if (!state.get().drains()) {
            log.intend(attempt, RepairAttempt.DRAIN, node.name(), "requested");
            ManagerProgram drain = node.drain(attempt.text());
            if (!drain.succeeded()) {
                return held(attempt, RepairAttempt.DRAIN, node.name(), start, drain.text());
            }
        }
        while (System.nanoTime() - start < server.slurmWait().toNanos()) {
            gone = gone(attempt, look);
            if (gone.isPresent()) {
                return gone;
            }
            Optional<SlurmNode.State> now = node.state();
            if (now.filter(each -> each.drains() && !each.isUsed()).isPresent()) {
                return Optional.empty();
            }
            server.pause().of(POLL);
        }
        return Optional.of(new Result(
                Outcome.HELD,
                "jobs of Slurm still run on " + node.name() + " after " + Durations.text(server.slurmWait())));
    }

    private Result reset(RepairAttempt attempt, Look look) throws IOException, InterruptedException {
        Optional<Result> gone = gone(attempt, look);
        if (gone.isPresent()) {
            return gone.get();
        }
        progress.accept(attempt.text());
        long start = System.nanoTime();
        log.intend(attempt, RepairAttempt.BEGIN_RESET, "", "");
        Result result = server.reset().run(attempt.subjects());
        if (result.outcome() != Outcome.SUCCEEDED) {
            unlessStopped(SIGNALS);
        }
        log.record(attempt, RepairAttempt.RESET, "", result.outcome() == Outcome.SUCCEEDED, result.detail(), start);
        return result;
    }

    private Result hook(RepairAttempt attempt, Look look) throws IOException, InterruptedException {
        Optional<Result> gone = gone(attempt, look);
        if (gone.isPresent()) {
            return gone.get();
        }
        Optional<HealthEvent> event = cause.apply(attempt);
        if (event.isEmpty() || server.hook().isEmpty()) {
            return new Result(Outcome.HELD, "no fault requests the " + attempt.text() + " now");
        }
        progress.accept(attempt.text());
        long start = System.nanoTime();
        log.intend(attempt, RepairAttempt.BEGIN_HOOK, "", "");
        Result result = server.hook().get().run(attempt, event.get());
        log.record(attempt, RepairAttempt.HOOK, "", result.outcome() == Outcome.SUCCEEDED, result.detail(), start);
        return result;
    }

    private Optional<Result> reboot(RepairAttempt attempt, Look look) throws IOException, InterruptedException {
        Optional<Result> refused = refused(attempt, look);
        if (refused.isPresent()) {
            return refused;
        }
        boolean kept = keepEvidence(attempt);
        unlessStopped(kept ? Duration.ZERO : SIGNALS);
        // Evidence takes minutes, in which the fault may end and a process may begin.
        refused = refused(attempt, look);
        if (refused.isPresent()) {
            return refused;
        }
        progress.accept(attempt.text());
        long start = System.nanoTime();
        log.intend(attempt, RepairAttempt.REBOOT, "", "requested");
        ManagerProgram reboot = server.reboot().request();
        log.record(attempt, RepairAttempt.REBOOT, "", reboot.succeeded(), reboot.text(), start);
        if (!reboot.ran()) {
            return Optional.of(new Result(Outcome.HELD, reboot.text()));
        }
        return RebootRun.refused(reboot) ? Optional.of(new Result(Outcome.FAILED, reboot.text())) : Optional.empty();
    }

    private boolean keepEvidence(RepairAttempt attempt) throws InterruptedException {
        progress.accept("evidence before the " + attempt.text());
        long start = System.nanoTime();
        EvidenceRun.Evidence evidence = server.reboot().evidence().keep(attempt);
        log.record(attempt, RepairAttempt.EVIDENCE, "", evidence.kept(), evidence.text(), start);
        return evidence.kept();
    }

    private static Optional<Result> refused(RepairAttempt attempt, Look look) {
        return gone(attempt, look).or(() -> look.used().map(why -> new Result(Outcome.HELD, why)));
    }

    /**
     * The daemon ends, and has seconds for this. After the request of a reboot that is expected, and the boot ends the attempt. A
     * reset in its own unit goes on, so that the next daemon ends the attempt: a unit that starts now could take the GPU, so systemd starts it after the reset.
     */
    private void stopped(RepairAttempt attempt) throws InterruptedException {
        RepairAttempt now = log.current(attempt);
        if (now.done(RepairAttempt.REBOOT).isPresent()) {
            return;
        }
        if (server.reset().process() == RepairProcess.unit && now.isResetting()) {
            units.requestStartAfterReset(attempt);
            return;
        }
        units.requestStart(attempt);
        endInterrupted(attempt, "the daemon was stopped in the middle");
    }

    /** Ends an attempt that was cut off in the middle. One without a result is marked, and the decision tries it again soon. */
    void endInterrupted(RepairAttempt attempt, String why) {
        RepairAttempt now = log.current(attempt);
        if (now.last(RepairAttempt.RESET).isEmpty()
                && now.last(RepairAttempt.HOOK).isEmpty()) {
            log.record(attempt, RepairAttempt.INTERRUPTED, "", true, why, System.nanoTime());
        }
        end(attempt, interrupted(now, why));
    }

    /** Returns the result of an attempt that was cut off. A hook may have done its work in part, so it is not run again. */
    static Result interrupted(RepairAttempt attempt, String why) {
        Optional<Step> reset = attempt.last(RepairAttempt.RESET);
        if (reset.isPresent()) {
            return ResetRun.recorded(reset.get());
        }
        Optional<Step> hook = attempt.last(RepairAttempt.HOOK);
        if (hook.isPresent()) {
            return HookRun.recorded(hook.get());
        }
        return new Result(attempt.done(RepairAttempt.BEGIN_HOOK).isPresent() ? Outcome.FAILED : Outcome.HELD, why);
    }

    private Optional<Result> held(RepairAttempt attempt, String step, String target, long start, String why) {
        log.record(attempt, step, target, false, why, start);
        return Optional.of(new Result(Outcome.HELD, why));
    }

    /**
     * Continues only if no signal stops the daemon. systemd sends SIGTERM to all processes of its unit, so that a program can end before this
     * thread is interrupted. Its end is no failure then, and nothing may follow it.
     */
    private void unlessStopped(Duration signals) throws InterruptedException {
        server.pause().of(signals);
        if (ShutdownSignal.inProgress()) {
            throw new InterruptedException();
        }
    }

    /** Sleeps in this thread. */
    static void sleep(Duration time) throws InterruptedException {
        LockSupport.parkNanos(time.toNanos());
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
    }
}
