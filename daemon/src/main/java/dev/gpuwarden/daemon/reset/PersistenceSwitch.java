package dev.gpuwarden.daemon.reset;

import dev.gpuwarden.cli.FileErrors;
import dev.gpuwarden.core.model.Reading;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Persistence mode around a reset: recorded, turned off, and turned on again where it was on. The record is also that of earlier resets
 * whose process was killed in between.
 */
final class PersistenceSwitch {

    private final NvidiaSmi smi;
    private final PersistenceRecord record;

    /** Left off by earlier resets. */
    private final Set<String> earlier = new TreeSet<>();

    /** Turned off by this reset, or possibly so. */
    private final Set<String> own = new LinkedHashSet<>();

    /**
     * @param failure empty after success
     * @param judged whether a failure is about the GPU
     */
    record Result(Optional<String> failure, String detail, boolean judged) {}

    PersistenceSwitch(NvidiaSmi smi, PersistenceRecord record) {
        this.smi = smi;
        this.record = record;
    }

    /** Reads the record. Returns the cause of a failure. */
    Optional<String> open() {
        try {
            earlier.addAll(record.read());
            return Optional.empty();
        } catch (IOException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    /**
     * Records the GPUs before their mode is turned off. Returns the cause of a failure.
     *
     * @param modes a mode that cannot be read counts as on, until nvidia-smi reports it
     */
    Optional<String> announce(List<String> uuids, Map<String, Reading<Long>> modes) {
        return write(uuids.stream()
                .filter(uuid -> !Reading.of(0L).equals(modes.get(uuid)))
                .collect(Collectors.toSet()));
    }

    private Optional<String> write(Set<String> others) {
        Set<String> all = new TreeSet<>(earlier);
        all.addAll(others);
        try {
            record.write(all);
            return Optional.empty();
        } catch (IOException e) {
            return Optional.of("persistence mode cannot be recorded in " + DriverRoot.onHost(record.folder()) + ": "
                    + FileErrors.why(e) + "; make room there");
        }
    }

    /** Turns it off, and returns those of these GPUs for which it was on. */
    Result off(List<String> uuids) throws InterruptedException {
        for (String uuid : uuids) {
            own.add(uuid);
            NvidiaSmi.Result off = smi.persistenceOff(uuid);
            // A run that was cut off may have turned it off.
            if (off.ended() && !NvidiaSmi.wasOn(off) && !earlier.contains(uuid)) {
                own.remove(uuid);
            }
            if (off.failure().isPresent()) {
                return new Result(off.failure(), "", off.judged());
            }
        }
        return new Result(write(own), own.isEmpty() ? "it was off" : "it was on: " + own, false);
    }

    /** Turns it on where this reset has turned it off, also if the thread is interrupted. Returns a result for each GPU. */
    List<Result> on() throws InterruptedException {
        boolean interrupted = Thread.interrupted();
        List<Result> results = new ArrayList<>();
        for (String uuid : List.copyOf(own)) {
            Optional<String> failure;
            try {
                failure = smi.persistenceOn(uuid).failure();
            } catch (InterruptedException e) {
                // The signal that stops this reset comes once.
                interrupted = true;
                failure = smi.persistenceOn(uuid).failure();
            }
            results.add(new Result(failure, uuid, false));
            if (failure.isEmpty()) {
                own.remove(uuid);
                earlier.remove(uuid);
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return results;
    }

    /** Records what is left to turn on. Returns the cause of a failure. */
    Optional<String> close() {
        return write(own);
    }

    /** Returns the GPUs that earlier resets have left off. */
    Set<String> earlier() {
        return Set.copyOf(earlier);
    }

    /**
     * Turns it on where earlier resets have left it off. A failure stays in the record.
     *
     * @param present the GPUs of this node; others were taken out, and are removed from the record
     */
    Result restoreEarlier(Set<String> present) throws InterruptedException {
        List<String> done = new ArrayList<>();
        List<String> failed = new ArrayList<>();
        for (String uuid : List.copyOf(earlier)) {
            if (!present.contains(uuid)) {
                done.add(uuid + " is not on this node");
                earlier.remove(uuid);
                continue;
            }
            NvidiaSmi.Result on = smi.persistenceOn(uuid);
            if (on.failure().isPresent()) {
                failed.add(uuid + ": " + on.failure().get());
            } else {
                done.add(uuid);
                earlier.remove(uuid);
            }
        }
        close().ifPresent(failed::add);
        String text = String.join(", ", done);
        return new Result(
                failed.isEmpty()
                        ? Optional.empty()
                        : Optional.of(String.join("; ", failed) + "; turn it on by nvidia-smi -i UUID -pm 1"),
                text,
                false);
    }
}
