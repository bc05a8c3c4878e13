package dev.gpuwarden.checks.script;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.child.ChildRun;
import dev.gpuwarden.checks.child.ChildRun.End;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ScriptVerdictTest {

    private static final NodeSnapshot NODE =
            new NodeSnapshot(new DriverState.Opening(), Reading.of(List.of()), List.of(gpu(0), gpu(1)));

    private static GpuSnapshot gpu(int index) {
        Reading.Absent<String> none = new Reading.Absent<>(Absence.PENDING, 0, "");
        GpuIdentity unknown = GpuIdentity.unknown(index, none);
        GpuIdentity identity = new GpuIdentity(
                index,
                Reading.of("GPU-" + index),
                Reading.of(new PciAddress(0, 0x3b + index, 0, 0)),
                unknown.minor(),
                unknown.name(),
                unknown.serial(),
                unknown.vbios(),
                unknown.boardPart(),
                unknown.computeCapability(),
                unknown.numaNode(),
                unknown.migMode(),
                List.of(),
                unknown.nvlinks());
        return new GpuSnapshot(
                identity,
                GpuState.ANSWERING,
                "",
                new GpuFrame(),
                Reading.of(1L),
                Reading.of(List.of()),
                Reading.of(1L),
                0,
                List.of());
    }

    private static List<Finding> of(int code, String out) {
        return ScriptVerdict.of("leak.sh", new ChildRun(new End.Exited(code), out, "on stderr\n"), NODE);
    }

    @ParameterizedTest
    @CsvSource({
        "0, PASS, script-passed, leak.sh passed",
        "1, FAIL, script-failed, leak.sh failed",
        "2, UNKNOWN, script-config-error, leak.sh reports an error in its configuration",
        "3, UNKNOWN, script-undecided, leak.sh could not decide",
        "4, UNKNOWN, script-broken, 'leak.sh ended with exit code 4, expected 0, 1, 2 or 3; it wrote: on stderr'",
        "139, UNKNOWN, script-broken, 'leak.sh ended with exit code 139, expected 0, 1, 2 or 3; it wrote: on stderr'"
    })
    void exitCodeDecides(int code, Outcome outcome, String word, String message) {
        assertThat(of(code, "")).singleElement().satisfies(finding -> {
            assertThat(finding.outcome()).isEqualTo(outcome);
            assertThat(finding.code()).isEqualTo(word);
            assertThat(finding.message()).isEqualTo(message);
            assertThat(finding.subject()).isEqualTo(Subject.NODE);
            assertThat(finding.action()).isEqualTo(RecommendedAction.NONE);
        });
    }

    @Test
    void lastLineWithoutJsonIsTheMessage() {
        assertThat(of(1, "looking\n\u001b[31mscratch is 98 % full\u202e\n\n"))
                .singleElement()
                .extracting(Finding::message)
                .isEqualTo("[31mscratch is 98 % full");
    }

    @Test
    void jsonSetsAllFields() {
        assertThat(of(
                        1,
                        "looking\n{\"message\": \"scratch is full\", \"code\": \"scratch-full\", \"action\": \"RESTART_BM\","
                                + " \"remedy\": \"empty it\", \"entities\": [{\"type\": \"DISK\", \"value\": \"/scratch\"}],"
                                + " \"measurements\": {\"used_ratio\": 0.98}, \"other\": null}\n"))
                .containsExactly(new Finding(
                        Outcome.FAIL,
                        "scratch-full",
                        Subject.of(new Entity("DISK", "/scratch")),
                        "scratch is full",
                        "empty it",
                        RecommendedAction.RESTART_BM,
                        List.of(new Measurement("used_ratio", 0.98, ""))));
    }

    @Test
    void passHasNoActionAndNoFaultCode() {
        Finding finding = of(0, "{\"action\": \"restart-bm\", \"code\": \"scratch-full\"}")
                .get(0);
        assertThat(finding.action()).isEqualTo(RecommendedAction.NONE);
        assertThat(finding.code()).isEqualTo("script-passed");
    }

    @Test
    void gpuIsOnePartUnderAnyName() {
        assertThat(of(
                        1,
                        "{\"entities\": [{\"type\": \"GPU_UUID\", \"value\": \"GPU-1\"}, {\"type\": \"PCI\","
                                + " \"value\": \"0000:3c:00\"}, {\"type\": \"GPU\", \"value\": \"0\"}]}"))
                .extracting(finding -> finding.subject().label())
                .containsExactly("GPU 1 (0000:3c:00.0)", "GPU 0 (0000:3b:00.0)");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"message\": \"all is well\"",
                "{\"message\": 7}",
                "{\"message\": \"a\"} {\"message\": \"b\"}",
                "{\"message\": \"a\", \"message\": \"b\"}",
                "{\"action\": \"make-coffee\"}",
                "{\"action\": \"custom\"}",
                "{\"code\": \"two words\"}",
                "{\"entities\": [\"GPU-1\"]}",
                "{\"entities\": [{\"type\": \"GPU\"}]}",
                "{\"entities\": {}}",
                "{\"measurements\": {\"a\": \"b\"}}",
                "{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":"
                        + "{\"a\":1}}}}}}}}}}}}}}}}}",
            })
    void invalidJsonIsUnknown(String line) {
        for (int code : new int[] {0, 1}) {
            assertThat(of(code, line)).singleElement().satisfies(finding -> {
                assertThat(finding.outcome()).isEqualTo(Outcome.UNKNOWN);
                assertThat(finding.code()).isEqualTo(ScriptVerdict.BROKEN);
                assertThat(finding.message())
                        .contains("exit code " + code + ", but its last line is not the expected JSON");
            });
        }
    }

    @Test
    void cutOffRunIsUnknown() {
        ChildRun run = new ChildRun(new End.CutOff("did not end within 10s"), "all is well\n", "");
        assertThat(ScriptVerdict.of("leak.sh", run, NODE)).singleElement().satisfies(finding -> {
            assertThat(finding.outcome()).isEqualTo(Outcome.UNKNOWN);
            assertThat(finding.message())
                    .isEqualTo("leak.sh did not end within 10s, and was cut off; it wrote: all is well");
        });
    }

    @Test
    void longTextsAreTruncated() {
        assertThat(of(1, "x".repeat(60_000)).get(0).message()).hasSize(1000);
    }
}
