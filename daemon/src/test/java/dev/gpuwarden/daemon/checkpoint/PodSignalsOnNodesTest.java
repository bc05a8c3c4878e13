package dev.gpuwarden.daemon.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.checks.process.PodProcesses;
import dev.gpuwarden.core.port.ProcessSignals;
import dev.gpuwarden.testkit.cluster.Cluster;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import java.nio.file.Path;
import java.util.Optional;
import java.util.ServiceLoader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A real pod that saves its work on a signal. */
@Tag("nodes")
@Timeout(900)
class PodSignalsOnNodesTest {

    @BeforeEach
    void nodesCanRunHere() {
        Optional<String> missing = Cluster.missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
    }

    @AfterEach
    void removePods() {
        if (Cluster.missing().isEmpty()) {
            Cluster.shared().controlPlane().kubectl("delete", "pod", "told", "untold", "--ignore-not-found");
        }
    }

    private static String pod(String name) {
        return """
                apiVersion: v1
                kind: Pod
                metadata: {name: %s}
                spec:
                  restartPolicy: Never
                  terminationGracePeriodSeconds: 0
                  containers:
                  - name: main
                    image: localhost/busybox:1
                    imagePullPolicy: Never
                    command: [sh, -c, "trap 'echo saved; exit 0' USR1; touch /ready; while :; do sleep 0.1; done"]
                    readinessProbe: {exec: {command: [ls, /ready]}, periodSeconds: 1}
                """.formatted(name);
    }

    @Test
    void theSignalledPodEndsAndTheOtherContinues() {
        ControlPlane plane = Cluster.shared().controlPlane();
        plane.apply(pod("told"));
        plane.apply(pod("untold"));
        plane.kubectl("wait", "--for=condition=Ready", "pod/told", "pod/untold", "--timeout=3m");
        String uid = plane.kubectl("get", "pod", "told", "-o", "jsonpath={.metadata.uid}");
        ProcessSignals signals =
                ServiceLoader.load(ProcessSignals.class).findFirst().orElseThrow();
        PodSignals.Answer answer =
                new PodSignals(true, new PodProcesses(Path.of("/proc")), () -> signals).send("r1", uid, "SIGUSR1");
        assertThat(answer.error()).isEmpty();
        assertThat(answer.signalled()).isPositive();
        plane.kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/told", "--timeout=1m");
        assertThat(plane.kubectl("logs", "told")).isEqualTo("saved\n");
        assertThat(plane.kubectl("get", "pod", "untold", "-o", "jsonpath={.status.phase}"))
                .isEqualTo("Running");
    }
}
