package dev.gpuwarden.testkit.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.testkit.scenario.Scenario;
import dev.gpuwarden.testkit.scenario.Scenarios;
import dev.gpuwarden.testkit.sim.NativeFiles;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class DemoActTest {

    private final Scenario demo = Scenarios.find("demo", NativeFiles.find().vocabulary());

    @Test
    void everyActIsAStepOfTheScenario() {
        List<Duration> steps = demo.timeline().stream().map(Scenario.Step::at).toList();
        assertThat(DemoAct.ALL.stream().map(DemoAct::at).skip(1)).isSubsetOf(steps);
        assertThat(DemoAct.ALL).extracting(DemoAct::at).isSorted();
    }

    @Test
    void noActIsOverBeforeThePreviousOneMustBeSeen() {
        for (int i = 1; i < DemoAct.ALL.size(); i++) {
            Duration end =
                    DemoAct.ALL.get(i - 1).at().plus(DemoAct.ALL.get(i - 1).limit());
            assertThat(DemoAct.ALL.get(i).at()).isGreaterThan(end);
        }
    }

    @Test
    void aLineOfTheExpositionTells() {
        DemoAct hung = DemoAct.ALL.get(3);
        assertThat(hung.seenIn("gpuwarden_gpu_state{gpu=\"5\",state=\"hung\",uuid=\"GPU-1\"} 1.0\n"))
                .isTrue();
        assertThat(hung.seenIn("gpuwarden_gpu_state{gpu=\"5\",state=\"hung\",uuid=\"GPU-1\"} 0.0\n"))
                .isFalse();
        assertThat(DemoAct.ALL).noneMatch(act -> act.seenIn(""));
        DemoSign row = hung.looks().get(0).sign();
        assertThat(row.seenIn("5    gpu hung   gpu hung  hung  gpu hung\n")).isTrue();
        assertThat(row.seenIn("5    NVIDIA H100  0000:5b:00.0  answering  36 C\n"))
                .isFalse();
    }

    @Test
    void aFaultIsSeenWithItsActionAndSeenToGo() {
        DemoAct remap = DemoAct.ALL.stream()
                .filter(act -> act.at().equals(Duration.ofSeconds(66)))
                .findFirst()
                .orElseThrow();
        DemoAct mended = DemoAct.ALL.get(DemoAct.ALL.indexOf(remap) + 1);
        String xid = "gpuwarden_faults{acted_on=\"true\",action=\"component-reset\",agent=\"syslog-health-monitor\","
                + "check=\"SysLogsXIDError\",code=\"64\",component=\"GPU\",entity=\"0000:a8:00\",entity_type=\"PCI\",fatal=\"true\"} 1.0\n";
        String check = "gpuwarden_faults{acted_on=\"true\",action=\"contact-support\",agent=\"gpuwarden\","
                + "check=\"GpuRemappedRows\",code=\"row-remap-failure\",component=\"GPU\",entity=\"0000:a8:00\",entity_type=\"PCI\",fatal=\"true\"} 1.0\n";
        assertThat(remap.seenIn(xid)).isFalse();
        assertThat(remap.seenIn(xid + check)).isTrue();
        assertThat(remap.seenIn(xid.replace("component-reset", "none") + check)).isFalse();
        assertThat(mended.seenIn(xid)).isFalse();
        assertThat(mended.seenIn("gpuwarden_up 1\n")).isTrue();
    }

    @Test
    void aTableIsShownWithoutTheRowsOfOtherGpusUnlessTheSignIsMissing() {
        DemoLook look = DemoLook.scan("^5 .*\\bhung\\b");
        String table = "GPU  STATE\n4    answering\n5    hung\n\nverdict: not fit\n";
        assertThat(look.excerpt(table)).isEqualTo("GPU  STATE\n5    hung\n\nverdict: not fit\n");
        assertThat(look.excerpt(table.replace("hung", "lost"))).isEqualTo(table.replace("hung", "lost"));
    }

    @Test
    @Tag("programs")
    void theSameProgramRunsAgain() throws IOException, InterruptedException {
        Process list = SameProgram.run(Map.of(), "sim", "list", "-o", "json").start();
        String output = new String(list.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        assertThat(list.waitFor()).isZero();
        assertThat(output).contains("\"name\": \"demo\"");
    }
}
