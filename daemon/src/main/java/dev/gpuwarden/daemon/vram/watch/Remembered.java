package dev.gpuwarden.daemon.vram.watch;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.file.RotatingLog;
import dev.gpuwarden.daemon.vram.trace.DecisionRecord;
import dev.gpuwarden.daemon.vram.trace.Records;
import dev.gpuwarden.watchdog.decision.RecycleHistory;
import dev.gpuwarden.watchdog.decision.WatchdogState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The part of the watchdog's memory that outlives a daemon, from the records of the one before.
 *
 * @param history of the node
 * @param byGpu state by UUID
 * @param problems the first lines and files that could not be read, for the log; their recycles are forgotten
 */
public record Remembered(RecycleHistory.State history, Map<String, WatchdogState> byGpu, List<String> problems) {

    /** There was no daemon before. */
    public static final Remembered NOTHING = new Remembered(RecycleHistory.State.NONE, Map.of(), List.of());

    private static final int MOST_PROBLEMS = 10;
    private static final String UNKNOWN_BOOT = "unknown";

    /**
     * Reads the newest record of each GPU. Records of the other mode do not count: a dry run recycles no tenant.
     *
     * @param now the present place; times of another boot are taken as if no time had passed since the record
     * @param nowNanos present time, by the clock of the observations
     */
    public static Remembered read(Path file, DecisionRecord.Origin now, long nowNanos) {
        Map<String, DecisionRecord> last = new HashMap<>();
        List<DecisionRecord> newest = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        if (Files.exists(file) || Files.exists(RotatingLog.older(file, 1))) {
            try {
                Records.read(
                        file,
                        record -> {
                            if (record.origin().mode().equals(now.mode())) {
                                last.put(record.decision().seen().gpu(), record);
                                newest.clear();
                                newest.add(record);
                            }
                        },
                        action -> {},
                        wrong -> {
                            if (problems.size() < MOST_PROBLEMS) {
                                problems.add(wrong.getMessage());
                            }
                        });
            } catch (UserError e) {
                problems.add(e.getMessage());
            }
        }
        Map<String, WatchdogState> byGpu = new HashMap<>();
        last.forEach((gpu, record) -> byGpu.put(gpu, state(record, now, nowNanos)));
        RecycleHistory.State history = newest.stream()
                .findFirst()
                .map(record -> state(record, now, nowNanos).history())
                .orElse(RecycleHistory.State.NONE);
        return new Remembered(history, byGpu, problems);
    }

    private static WatchdogState state(DecisionRecord record, DecisionRecord.Origin now, long nowNanos) {
        long at = record.decision().seen().atNanos();
        String boot = record.origin().bootId();
        boolean sameClock = boot.equals(now.bootId()) && !boot.equals(UNKNOWN_BOOT) && at <= nowNanos;
        return record.after().afterRestart(sameClock ? 0 : nowNanos - at);
    }

    /** Returns the state with which the watchdog of this GPU begins. */
    public WatchdogState of(String gpu) {
        return Optional.ofNullable(byGpu.get(gpu)).orElse(WatchdogState.NONE);
    }
}
