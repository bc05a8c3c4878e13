package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.checks.child.ManagerProgram;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The stops and starts of units in a repair, each in the record of its attempt. Blocks for the manager of units. One thread uses it.
 */
final class UnitSteps {

    private static final System.Logger LOG = System.getLogger(UnitSteps.class.getName());

    private final SystemUnits units;
    private final RepairLog log;
    private final Consumer<String> progress;
    /** The units that were stopped after the boot. One that an operator starts then is left alone. */
    private final Set<String> stoppedAfterBoot = new HashSet<>();

    /** @param progress receives a line at the start of each step */
    UnitSteps(SystemUnits units, RepairLog log, Consumer<String> progress) {
        this.units = units;
        this.log = log;
        this.progress = progress;
    }

    /**
     * Stops the units that run. Returns the failure of one that did not stop, or the cause of an end; the units after it run on.
     *
     * @param gone returns why no unit may be stopped any more
     */
    Optional<String> stop(RepairAttempt attempt, Supplier<Optional<String>> gone)
            throws IOException, InterruptedException {
        for (String unit : units.names()) {
            if (units.isActive(unit)) {
                Optional<String> why = gone.get();
                Optional<String> failure = why.isPresent()
                        ? why.map(text -> "before the stop of the unit " + unit + ": " + text)
                        : stop(attempt, unit);
                if (failure.isPresent()) {
                    return failure;
                }
            }
        }
        return Optional.empty();
    }

    /**
     * Stops the units that the boot has started, each once, since the checks give work to a free GPU alone. A unit that does not stop
     * is in the record, and the checks wait for it.
     */
    void stopAfterBoot(RepairAttempt attempt) throws IOException, InterruptedException {
        List<String> others = units.names().stream()
                .filter(unit -> !stoppedAfterBoot.contains(unit))
                .toList();
        for (String unit : units.active(others)) {
            stoppedAfterBoot.add(unit);
            var unused = stop(attempt, unit);
        }
    }

    private Optional<String> stop(RepairAttempt attempt, String unit) throws IOException, InterruptedException {
        progress.accept("stop of the unit " + unit);
        long start = System.nanoTime();
        // Before the stop, so that a daemon that ends in the middle starts the unit again.
        log.intend(attempt, RepairAttempt.STOP, unit, "requested");
        ManagerProgram stop = units.stop(unit);
        if (stop.succeeded()) {
            return Optional.empty();
        }
        log.record(attempt, RepairAttempt.STOP, unit, false, stop.text(), start);
        return Optional.of(stop.text());
    }

    /** Starts the units that the attempt has stopped, the last one first. */
    void start(RepairAttempt attempt) throws InterruptedException {
        for (String unit : stopped(attempt)) {
            progress.accept("start of the unit " + unit);
            long start = System.nanoTime();
            record(attempt, unit, units.start(unit), start);
        }
    }

    /** Requests the start of the units that the attempt has stopped, and waits for none. */
    void requestStart(RepairAttempt attempt) throws InterruptedException {
        for (String unit : stopped(attempt)) {
            long start = System.nanoTime();
            record(attempt, unit, units.requestStart(unit), start);
        }
    }

    /** Leaves the start to systemd, after the end of the unit that resets. The record has no such step: the next daemon starts them too. */
    void requestStartAfterReset(RepairAttempt attempt) throws InterruptedException {
        List<String> stopped = stopped(attempt);
        if (!stopped.isEmpty()) {
            ManagerProgram request = units.requestStartAfter(ResetRun.UNIT, stopped);
            Level level = request.succeeded() ? Level.INFO : Level.WARNING;
            LOG.log(level, String.join(", ", stopped) + " start after the " + attempt.text() + ": " + request.text());
        }
    }

    private void record(RepairAttempt attempt, String unit, ManagerProgram begin, long start) {
        log.record(attempt, RepairAttempt.START, unit, begin.succeeded(), begin.text(), start);
    }

    /** A line that cannot be read may have been the stop of any unit; the start of one that runs has no effect. */
    private List<String> stopped(RepairAttempt attempt) {
        RepairAttempt now = log.current(attempt);
        Set<String> all = new LinkedHashSet<>(now.stoppedUnits());
        if (now.last(RepairAttempt.UNREADABLE).isPresent()) {
            all.addAll(units.names());
        }
        List<String> reversed = new ArrayList<>(all);
        Collections.reverse(reversed);
        return reversed;
    }
}
