package dev.gpuwarden.daemon.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A daemon that is stopped in the middle of calls into the driver, as in a virtual machine that is paused. */
@Tag("programs")
class PausedDaemonTest {

    @Test
    void aPausedDaemonAccusesNoGpu() throws IOException, InterruptedException {
        try (SimulatedNode node = SimulatedNode.start("l4x4")) {
            RunningDaemon daemon = RunningDaemon.start(node);
            List<String> log = new CopyOnWriteArrayList<>();
            Thread reader = new Thread(() -> read(daemon, log));
            reader.start();
            try {
                daemon.awaitReady();
                node.set("fault.slow", "{function: nvmlDeviceGetTemperature, hang: yes}");
                while (node.control().waiting("slow") < 4) {
                    TimeUnit.MILLISECONDS.sleep(10);
                }
                signal(daemon, "STOP");
                TimeUnit.SECONDS.sleep(3);
                node.set("fault.slow", "clear");
                signal(daemon, "CONT");
                daemon.awaitMetrics(metrics -> metrics.lines()
                                .filter(line -> line.matches("gpuwarden_gpu_sample_age_seconds.* [01]\\..*"))
                                .count()
                        == 4);
                daemon.awaitMetrics(metrics -> metrics.lines()
                                .filter(line -> line.matches("gpuwarden_gpu_state.*answering.* 1\\.0"))
                                .count()
                        == 4);
                assertThat(daemon.get("/metrics").body()).doesNotContain("gpu-hung");
                while (log.stream().noneMatch(line -> line.contains("the daemon itself did not run for"))) {
                    TimeUnit.MILLISECONDS.sleep(20);
                }
                assertThat(log).noneMatch(line -> line.contains("hung"));
            } finally {
                daemon.stop();
                reader.join();
            }
        }
    }

    private static void read(RunningDaemon daemon, List<String> log) {
        try {
            for (String line = daemon.err().readLine();
                    line != null;
                    line = daemon.err().readLine()) {
                log.add(line);
            }
        } catch (IOException e) {
            // The end of the process closes the stream.
        }
    }

    private static void signal(RunningDaemon daemon, String signal) throws IOException, InterruptedException {
        String pid = Long.toString(daemon.process().pid());
        assertThat(new ProcessBuilder("kill", "-" + signal, pid).start().waitFor())
                .isZero();
    }
}
