package dev.gpuwarden.testkit.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.testkit.scenario.Scenario;
import dev.gpuwarden.testkit.scenario.Scenarios;
import dev.gpuwarden.testkit.sim.NativeFiles;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
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
        DemoAct lost = DemoAct.ALL.get(1);
        assertThat(lost.seenIn("gpuwarden_gpu_state{gpu=\"3\",state=\"lost\",uuid=\"GPU-1\"} 1.0\n"))
                .isTrue();
        assertThat(lost.seenIn("gpuwarden_gpu_state{gpu=\"3\",state=\"lost\",uuid=\"GPU-1\"} 0.0\n"))
                .isFalse();
        DemoAct gone = DemoAct.ALL.get(DemoAct.ALL.size() - 1);
        assertThat(gone.shown()).isFalse();
        assertThat(DemoAct.ALL).noneMatch(act -> act.seenIn(""));
        assertThat(lost.row()
                        .matcher("3    gpu lost   gpu lost  lost  gpu lost\n")
                        .find())
                .isTrue();
        assertThat(lost.row()
                        .matcher("3    NVIDIA H100  0000:5b:00.0  answering  36 C\n")
                        .find())
                .isFalse();
    }

    @Test
    void theSameProgramRunsAgain() throws IOException, InterruptedException {
        Process list = SameProgram.run(Map.of(), "sim", "list", "-o", "json").start();
        String output = new String(list.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        assertThat(list.waitFor()).isZero();
        assertThat(output).contains("\"name\": \"demo\"");
    }
}
