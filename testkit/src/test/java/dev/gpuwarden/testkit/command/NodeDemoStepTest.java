package dev.gpuwarden.testkit.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.cli.run.SameProgram;
import dev.gpuwarden.testkit.scenario.Scenario;
import dev.gpuwarden.testkit.scenario.Scenarios;
import dev.gpuwarden.testkit.sim.NativeFiles;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class NodeDemoStepTest {

    private final Scenario demo = Scenarios.find("demo", NativeFiles.find().vocabulary());

    @Test
    void everyStepIsInTheScenario() {
        List<Duration> steps = demo.timeline().stream().map(Scenario.Step::at).toList();
        assertThat(NodeDemoStep.ALL.stream().map(NodeDemoStep::at).skip(1)).isSubsetOf(steps);
        assertThat(NodeDemoStep.ALL).extracting(NodeDemoStep::at).isSorted();
    }

    @Test
    void stepsAreFartherApartThanTheirLimits() {
        for (int i = 1; i < NodeDemoStep.ALL.size(); i++) {
            Duration end = NodeDemoStep.ALL
                    .get(i - 1)
                    .at()
                    .plus(NodeDemoStep.ALL.get(i - 1).limit());
            assertThat(NodeDemoStep.ALL.get(i).at()).isGreaterThan(end);
        }
    }

    @Test
    void expositionLineMatches() {
        NodeDemoStep hung = NodeDemoStep.ALL.get(3);
        assertThat(hung.matches("gpuwarden_gpu_state{gpu=\"5\",state=\"hung\",uuid=\"GPU-1\"} 1.0\n"))
                .isTrue();
        assertThat(hung.matches("gpuwarden_gpu_state{gpu=\"5\",state=\"hung\",uuid=\"GPU-1\"} 0.0\n"))
                .isFalse();
        assertThat(NodeDemoStep.ALL).noneMatch(step -> step.matches(""));
        ExpectedLine row = hung.checks().get(0).expected();
        assertThat(row.matches("5    gpu hung   gpu hung  hung  gpu hung\n")).isTrue();
        assertThat(row.matches("5    NVIDIA H100  0000:5b:00.0  answering  36 C\n"))
                .isFalse();
    }

    @Test
    void faultMatchesWithItsActionAndItsEnd() {
        NodeDemoStep remap = NodeDemoStep.ALL.stream()
                .filter(step -> step.at().equals(Duration.ofSeconds(66)))
                .findFirst()
                .orElseThrow();
        NodeDemoStep mended = NodeDemoStep.ALL.get(NodeDemoStep.ALL.indexOf(remap) + 1);
        String xid = "gpuwarden_faults{acted_on=\"true\",action=\"component-reset\",agent=\"syslog-health-monitor\","
                + "check=\"SysLogsXIDError\",code=\"64\",component=\"GPU\",entity=\"0000:a8:00\",entity_type=\"PCI\",fatal=\"true\"} 1.0\n";
        String check = "gpuwarden_faults{acted_on=\"true\",action=\"contact-support\",agent=\"gpuwarden\","
                + "check=\"GpuRemappedRows\",code=\"row-remap-failure\",component=\"GPU\",entity=\"0000:a8:00\",entity_type=\"PCI\",fatal=\"true\"} 1.0\n";
        assertThat(remap.matches(xid)).isFalse();
        assertThat(remap.matches(xid + check)).isTrue();
        assertThat(remap.matches(xid.replace("component-reset", "none") + check))
                .isFalse();
        assertThat(mended.matches(xid)).isFalse();
        assertThat(mended.matches("gpuwarden_up 1\n")).isTrue();
    }

    @Test
    void excerptOmitsOtherGpusUnlessLineIsMissing() {
        NodeDemoStep.Check check = NodeDemoStep.Check.scan("^5 .*\\bhung\\b");
        String table = "GPU  STATE\n4    answering\n5    hung\n\nverdict: not fit\n";
        assertThat(check.excerpt(table)).isEqualTo("GPU  STATE\n5    hung\n\nverdict: not fit\n");
        assertThat(check.excerpt(table.replace("hung", "lost"))).isEqualTo(table.replace("hung", "lost"));
    }

    @Test
    @Tag("programs")
    void sameProgramRunsAgain() throws IOException, InterruptedException {
        Process list = SameProgram.run(Map.of(), "sim", "list", "-o", "json").start();
        String output = new String(list.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        assertThat(list.waitFor()).isZero();
        assertThat(output).contains("\"name\": \"demo\"");
    }
}
