package dev.gpuwarden.daemon.vram.trace;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.cli.Output;
import dev.gpuwarden.daemon.vram.rules.WatchdogRules;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.decision.GpuWatchdog;
import dev.gpuwarden.watchdog.decision.NotRecycled;
import dev.gpuwarden.watchdog.decision.RecycleHistory;
import dev.gpuwarden.watchdog.decision.Verdict;
import dev.gpuwarden.watchdog.decision.WatchdogState;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DecisionRecordTest {

    private static final WatchdogRules RULES =
            WatchdogRules.DEFAULT.with(Map.of("cooldown", "5s", "deficit-grace", "1s"));
    private static final DecisionRecord.Origin ORIGIN = new DecisionRecord.Origin("node", "boot", "dry-run");

    @TempDir
    Path folder;

    /** Returns the records of a random node. */
    static List<DecisionRecord> records(int count) {
        return records(count, 7);
    }

    /** @param mostRecycles further ones in an hour have no effect */
    private static List<DecisionRecord> records(int count, int mostRecycles) {
        RecycleHistory history = new RecycleHistory(RULES.recycle());
        Map<String, GpuWatchdog> watchdogs = new HashMap<>();
        RandomNode node = new RandomNode(17);
        List<DecisionRecord> records = new ArrayList<>();
        while (records.size() < count) {
            GpuObservation seen = node.next();
            GpuWatchdog watchdog = watchdogs.computeIfAbsent(
                    seen.gpu(), gpu -> new GpuWatchdog(RULES.pressure(), RULES.recycle(), history));
            WatchdogState before = watchdog.state();
            Instant at = Instant.ofEpochSecond(1_780_000_000L, seen.atNanos());
            Decision decision = watchdog.decide(seen);
            records.add(new DecisionRecord(at, ORIGIN, RULES, before, decision));
            NotRecycled why = NotRecycled.values()[records.size() % NotRecycled.values().length];
            decision.recycled()
                    .filter(tenant -> history.state().lastHourNanos().size() > mostRecycles)
                    .ifPresent(tenant -> watchdog.notRecycled(tenant, why, seen.atNanos()));
        }
        return records;
    }

    @Test
    void everyDecisionIsReproducedByteByByteFromItsRecord() throws IOException {
        Set<Verdict> verdicts = EnumSet.noneOf(Verdict.class);
        long undone = 0;
        for (DecisionRecord record : records(3000, 1)) {
            String line = Output.jsonLine(record.tree());
            DecisionRecord read = DecisionRecord.read(Fields.of(line));
            assertThat(read).isEqualTo(record);
            Decision again = read.decideAgain();
            assertThat(again).isEqualTo(record.decision());
            assertThat(Output.jsonLine(DecisionRecord.tree(again)))
                    .isEqualTo(Output.jsonLine(DecisionRecord.tree(record.decision())));
            verdicts.add(again.verdict());
            undone += record.before().history().undone().size();
        }
        assertThat(verdicts).contains(Verdict.RECYCLE, Verdict.RELEASING, Verdict.CAPPED, Verdict.BLIND);
        assertThat(undone).isPositive();
    }

    @Test
    void theStateAfterADecisionIsTheStateBeforeTheNextOfTheSameGpu() {
        Map<String, DecisionRecord> last = new HashMap<>();
        for (DecisionRecord record : records(300)) {
            DecisionRecord before = last.put(record.decision().seen().gpu(), record);
            if (before != null) {
                assertThat(before.after().pressure()).isEqualTo(record.before().pressure());
                assertThat(before.after().endings()).isEqualTo(record.before().endings());
            }
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"verdict\":\"[a-z_]+\" | \"verdict\":\"kill\" | verdict: expected one of blind, calm,",
                "\"atNanos\":-?\\d+ | \"atNanos\":1.5 | seen.atNanos: expected a whole number, seen 1.5",
                "\"on\":false | \"on\":0 | before.pressure.floor.on: expected true or false, seen 0",
                "\"floor\":\"1536MiB\" | \"floor\":\"lots\" | rules: rule floor: expected a size",
                "\"history\":\\{ | \"history\":[],\"x\":{ | before.history: expected an object, seen a list",
                "\"at\":\"[^\"]+\" | \"at\":\"yesterday\" | at: expected a time of RFC 3339 in UTC",
                "\"node\":\"node\" | \"node\":null | node: expected a text",
                "\"pid\":\\d+ | \"pid\":99999999999 | seen.tenants[0].processes[0].pid: expected a whole number from 0",
                "\"ranking\":\\[] | \"ranking\":[{\"tenant\":\"z\"}] | ranking: expected tenants of the observation, seen z",
            })
    void anErrorNamesFileLineFieldExpectedAndSeen(String good, String bad, String message) throws IOException {
        String line = Output.jsonLine(records(1).get(0).tree());
        String broken = line.replaceFirst(good, bad.replace("\\", "\\\\"));
        assertThat(broken).isNotEqualTo(line);
        Path file = folder.resolve("records");
        Files.writeString(file, line + "\n\n" + broken + "\n" + line + "\n");
        List<DecisionRecord> read = new ArrayList<>();
        List<String> wrong = new ArrayList<>();
        Records.read(file, read::add, action -> {}, error -> wrong.add(error.getMessage()));
        assertThat(read).hasSize(2);
        assertThat(wrong).singleElement().asString().startsWith(file + ":3: " + message);
    }
}
