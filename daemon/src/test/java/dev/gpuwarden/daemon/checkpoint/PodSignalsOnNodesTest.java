package dev.gpuwarden.daemon.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.core.port.ProcessSignals;
import dev.gpuwarden.daemon.process.PodProcesses;
import dev.gpuwarden.testkit.cluster.Cluster;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A real pod that saves its work when it is told to. */
@Timeout(900)
class PodSignalsOnNodesTest {

    @TempDir
    Path parent;

    @BeforeEach
    void nodesCanRunHere() {
        Optional<String> missing = Cluster.missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
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
    void thePodThatIsToldToEndsByItselfAndTheOtherGoesOn() throws Exception {
        try (Cluster cluster = Cluster.start(parent.resolve("c"), List.of("t4"))) {
            ControlPlane plane = cluster.controlPlane();
            plane.apply(pod("told"));
            plane.apply(pod("other"));
            plane.kubectl("wait", "--for=condition=Ready", "pod/told", "pod/other", "--timeout=3m");
            String uid = plane.kubectl("get", "pod", "told", "-o", "jsonpath={.metadata.uid}");
            ProcessSignals signals =
                    ServiceLoader.load(ProcessSignals.class).findFirst().orElseThrow();
            PodSignals.Answer answer =
                    new PodSignals(true, new PodProcesses(Path.of("/proc")), () -> signals).send("r1", uid, "SIGUSR1");
            assertThat(answer.error()).isEmpty();
            assertThat(answer.signalled()).isPositive();
            plane.kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/told", "--timeout=1m");
            assertThat(plane.kubectl("logs", "told")).isEqualTo("saved\n");
            assertThat(plane.kubectl("get", "pod", "other", "-o", "jsonpath={.status.phase}"))
                    .isEqualTo("Running");
        }
    }
}
