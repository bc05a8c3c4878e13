package dev.gpuwarden.checks.script;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.checks.child.Programs;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import dev.gpuwarden.core.kernel.RecordRules;
import dev.gpuwarden.core.kernel.RecordRules.Found;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NpdLogRulesTest {

    /** In the form of node-problem-detector's config/kernel-monitor.json, with fields that it does not use. */
    private static final String RULES = """
            {
            	"plugin": "kmsg",
            	"logPath": "/dev/kmsg",
            	"lookback": "5m",
            	"bufferSize": 10,
            	"source": "lab-monitor",
            	"metricsReporting": true,
            	"skipList": [" audit:"],
            	"conditions": [
            		{"type": "DiskStuck", "reason": "DiskMoves", "message": "the disk moves"}
            	],
            	"rules": [
            		{"type": "temporary", "reason": "FanStopped", "pattern": "fan \\\\d+ stopped.*"},
            		{"type": "permanent", "condition": "DiskStuck", "reason": "DiskIsStuck",
            		 "pattern": "disk \\\\w+ is stuck", "patternGeneratedMessageSuffix": "see the runbook"},
            		{"type": "temporary", "reason": "Trace", "pattern": "begin of trace\\\\n(.*\\\\n)*end of trace"}
            	]
            }
            """;

    @TempDir
    Path folder;

    private RecordRules load(String json) {
        return NpdLogRules.read(Programs.file(folder.resolve("lab.json"), "rw-r--r--", json));
    }

    private static KernelRecord line(String text) {
        return new KernelRecord(Instant.EPOCH, Writer.KERNEL, text);
    }

    @Test
    void temporaryProblemIsMomentaryAndNamedByTheFile() {
        assertThat(load(RULES).match(line("acpi: fan 3 stopped (again)")))
                .containsExactly(new Found(
                        "lab-monitor",
                        "FanStopped",
                        "acpi: fan 3 stopped (again)",
                        false,
                        folder.resolve("lab.json") + ", FanStopped"));
    }

    @Test
    void permanentProblemLastsAndIsNamedByItsCondition() {
        assertThat(load(RULES).match(line("ata1: disk sda is stuck")))
                .containsExactly(new Found(
                        "DiskStuck",
                        "DiskIsStuck",
                        "ata1: disk sda is stuck; see the runbook",
                        true,
                        folder.resolve("lab.json") + ", DiskIsStuck"));
        assertThat(load(RULES).checks()).containsExactlyInAnyOrder("lab-monitor", "DiskStuck");
    }

    @Test
    void patternMustMatchToTheLinesEnd() {
        RecordRules rules = load(RULES);
        assertThat(rules.match(line("disk sda is stuck no more"))).isEmpty();
        assertThat(rules.match(line("something else")))
                .as("and no earlier line again")
                .isEmpty();
    }

    @Test
    void patternMaySpanTheLastLines() {
        RecordRules rules = load(RULES);
        rules.match(line("begin of trace"));
        for (int i = 0; i < 8; i++) {
            assertThat(rules.match(line("frame " + i))).isEmpty();
        }
        assertThat(rules.match(line("end of trace")))
                .singleElement()
                .extracting(Found::message)
                .isEqualTo(
                        "begin of trace frame 0 frame 1 frame 2 frame 3 frame 4 frame 5 frame 6 frame 7 end of trace");
        rules.match(line("begin of trace"));
        for (int i = 0; i < 9; i++) {
            rules.match(line("frame " + i));
        }
        assertThat(rules.match(line("end of trace"))).as("eleven lines").isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"KERNEL, 1", "UNTOLD, 1", "USER, 0", "PRIVILEGED, 0"})
    void userSpaceRecordsAreIgnored(Writer writer, int found) {
        assertThat(load(RULES).match(new KernelRecord(Instant.EPOCH, writer, "disk sda is stuck")))
                .hasSize(found);
    }

    @Test
    void skippedLinesDoNotMatch() {
        assertThat(load(RULES).match(line("type=1 audit: disk sda is stuck"))).isEmpty();
    }

    @Test
    void longAndHostileLinesAreTruncatedAndCleaned() {
        RecordRules rules = load(RULES);
        assertThat(rules.match(line("x".repeat(8000) + "disk sda is stuck"))).isEmpty();
        assertThat(rules.match(line("\u001b[2J\u202efan 1 stopped" + "y".repeat(8000))))
                .singleElement()
                .satisfies(found -> assertThat(found.message())
                        .hasSizeLessThanOrEqualTo(1000)
                        .doesNotContain("\u001b", "\u202e"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"plugin\": \"journald\", \"pluginConfig\": {\"source\": \"kernel\"}, \"logPath\": \"/var/log/journal\"",
                "\"plugin\": \"journald\", \"logPath\": \"/run/log/journal\"",
                "\"plugin\": \"filelog\", \"pluginConfig\": {\"timestamp\": \"^.{15}\"}, \"logPath\": \"/var/log/kern.log\"",
                "\"plugin\": \"filelog\", \"logPath\": \"/var/log/messages\""
            })
    void kernelLogRulesAreAcceptedForAnySourcePath(String source) {
        String json = RULES.replace("\"plugin\": \"kmsg\",\n\t\"logPath\": \"/dev/kmsg\"", source);
        assertThat(json).contains(source);
        assertThat(load(json).match(line("disk sda is stuck"))).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"plugin\": \"kmsg\" | \"plugin\": \"journald\", \"pluginConfig\": {\"source\": \"dockerd\"} | it is about the journal of dockerd",
                "kmsg\" | filelog\" | it is about /dev/filelog",
                "\"plugin\": \"kmsg\" | \"plugin\": \"custom\" | plugin: expected kmsg or journald or filelog, found 'custom'",
                "fan \\\\d+ | fan (\\\\d+ | a pattern cannot be read",
                "\"condition\": \"DiskStuck\" | \"condition\": \"Other\" | a rule's condition Other is not among the conditions",
                "\"reason\": \"FanStopped\", | \"reason\": \"\", | reason: expected a name, found ''",
            })
    void invalidFileIsAUserError(String from, String to, String message) {
        String json = RULES.replace(from, to);
        assertThat(json).isNotEqualTo(RULES);
        assertThatThrownBy(() -> load(json))
                .isInstanceOf(UserError.class)
                .hasMessageStartingWith(folder + "/lab.json: ")
                .hasMessageContaining(message);
    }

    @Test
    void noFilesMatchNothing() {
        assertThat(new ScriptSettings().logRules().match(line("disk sda is stuck")))
                .isEqualTo(List.of());
    }
}
