package dev.gpuwarden.nat.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.ProcessSignals;
import dev.gpuwarden.core.port.ProcessSignals.Target;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ServiceLoader;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LinuxSignalsTest {

    private static final int SIGUSR1 = 10;

    private final ProcessSignals signals =
            ServiceLoader.load(ProcessSignals.class).findFirst().orElseThrow();

    private static Target held(Reading<Target> reading) {
        return reading.asOptional().orElseThrow(() -> new AssertionError(reading));
    }

    @Test
    void aSignalReachesTheProcessAndOnlyWhileItLives() throws Exception {
        Process shell = new ProcessBuilder(
                        "sh", "-c", "trap 'echo saved; exit 7' USR1; echo ready; while :; do sleep 0.02; done")
                .start();
        BufferedReader out = new BufferedReader(new InputStreamReader(shell.getInputStream(), StandardCharsets.UTF_8));
        assertThat(out.readLine()).isEqualTo("ready");
        try (Target target = held(signals.hold((int) shell.pid()))) {
            assertThat(target.send(SIGUSR1)).isEmpty();
            assertThat(out.readLine()).isEqualTo("saved");
            assertThat(shell.waitFor(20, TimeUnit.SECONDS)).isTrue();
            assertThat(shell.exitValue()).isEqualTo(7);
            assertThat(target.send(SIGUSR1)).contains("it has ended");
        }
        assertThat(signals.hold((int) shell.pid())).isEqualTo(Reading.absent(Absence.NO_DATA, 0, "no such process"));
    }
}
