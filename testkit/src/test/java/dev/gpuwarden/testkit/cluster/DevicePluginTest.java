package dev.gpuwarden.testkit.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.testkit.Await;
import dev.gpuwarden.testkit.Unchecked;
import dev.gpuwarden.testkit.cluster.DevicePlugin.GpuService;
import dev.gpuwarden.testkit.deviceplugin.Mount;
import dev.gpuwarden.testkit.sim.NodeControl;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("nodes")
@Timeout(600)
class DevicePluginTest {

    private static final String COUNTS = """
            import ctypes
            nvml, count = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.c_uint()
            print(nvml.nvmlInit_v2(), nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)), count.value)
            """;

    /** Prints the inodes of the GPUs' files that it has open. */
    private static final String HOLDS = """
            import ctypes, glob, os
            assert ctypes.CDLL("libnvidia-ml.so.1").nvmlInit_v2() == 0 and ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
            files = [os.readlink(fd) for fd in glob.glob("/proc/self/fd/*") if os.path.exists(fd)]
            print(*[os.stat(file).st_ino for file in files if "/nvidia" in file and "table" not in file])
            """;

    @BeforeEach
    void nodesCanRunHere() {
        Optional<String> missing = Cluster.missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
    }

    @AfterEach
    void removePods() {
        if (Cluster.missing().isEmpty()) {
            kubectl("delete", "pod", "asks-for-one", "asks-for-nine", "again", "--ignore-not-found");
        }
    }

    @Test
    void podGetsRequestedGpuAndDriver() {
        awaitAllocatable("node-1", "8");
        awaitAllocatable("node-2", "8");
        Cluster.shared().controlPlane().apply(withPython(asking("asks-for-one", 1)));
        kubectl("wait", "--for=condition=Ready", "pod/asks-for-one", "--timeout=2m");
        String uuid = kubectl("exec", "asks-for-one", "--", "sh", "-c", "echo $NVIDIA_VISIBLE_DEVICES")
                .strip();
        assertThat(uuid).isIn(uuids(1));
        assertThat(kubectl("exec", "asks-for-one", "--", "python3", "-c", COUNTS))
                .isEqualTo("0 0 8\n");
        SimulatedNode node = Cluster.shared().nodes().get(1).gpus();
        long inode = inode(node.devices().resolve("nvidia" + uuids(1).indexOf(uuid)));
        assertThat(kubectl("exec", "asks-for-one", "--", "python3", "-c", HOLDS))
                .isEqualTo(inode + " " + inode + "\n");
    }

    private static long inode(Path file) {
        return Unchecked.get(() -> (Long) Files.getAttribute(file, "unix:ino"));
    }

    @Test
    void podThatRequestsTooManyGpusIsPending() {
        awaitAllocatable("node-2", "8");
        Cluster.shared().controlPlane().apply(asking("asks-for-nine", 9));
        Await.until(
                () -> kubectl("get", "pod", "asks-for-nine", "-o", "jsonpath={.status.conditions[0].message}")
                        .contains("Insufficient nvidia.com/gpu"),
                () -> "expected no room: " + kubectl("describe", "pod", "asks-for-nine"));
    }

    @Test
    void lostGpuIsNotAllocatable() {
        awaitAllocatable("node-2", "8");
        Cluster.shared().nodes().get(1).gpus().set("gpu.3.state", "lost");
        awaitAllocatable("node-2", "7");
        assertThat(gpus("node-2", "capacity")).isEqualTo("8");
        Cluster.shared().nodes().get(1).gpus().set("gpu.3.state", "ok");
        awaitAllocatable("node-2", "8");
    }

    @Test
    void restartedKubeletGetsGpusAgain() {
        awaitAllocatable("node-1", "8");
        ProcessHandle kubelet = ProcessHandle.current()
                .descendants()
                .filter(process -> process.info().command().orElse("").endsWith("/kubelet")
                        && Arrays.asList(process.info().arguments().orElse(new String[0]))
                                .contains("--hostname-override=node-1"))
                .findFirst()
                .orElseThrow();
        kubelet.destroyForcibly();
        kubelet.onExit().join();
        // The API server keeps the report of the old kubelet; a pod of the node gets a GPU from the new one only.
        String pod = TestPod.running("again", "node-1", "limits: {nvidia.com/gpu: 1}", "exec sleep infinity");
        Await.until(
                () -> runs(pod), () -> "expected a pod with a GPU on node-1: " + kubectl("describe", "pod", "again"));
    }

    /** One that comes before the GPUs is refused for good: it is made again. */
    private static boolean runs(String pod) {
        String phase = kubectl("get", "pod", "again", "--ignore-not-found", "-o", "jsonpath={.status.phase}");
        if (phase.equals("Failed")) {
            kubectl("delete", "pod", "again");
        }
        if (phase.isEmpty() || phase.equals("Failed")) {
            Cluster.shared().controlPlane().apply(pod);
        }
        return phase.equals("Running");
    }

    @Test
    void driverIsReadOnlyExceptItsTable() {
        assertThat(GpuService.allocation(List.of("GPU-a", "GPU-b")).getEnvsMap())
                .containsEntry("NVIDIA_VISIBLE_DEVICES", "GPU-a,GPU-b");
        assertThat(GpuService.allocation(List.of("GPU-a")).getMountsList().stream()
                        .filter(mount -> !mount.getReadOnly())
                        .map(Mount::getHostPath))
                .containsExactly("/run/simulated-gpus/lib/gpuwarden-sim.table");
    }

    private static String asking(String name, int gpus) {
        return TestPod.running(name, "", "limits: {nvidia.com/gpu: " + gpus + "}", "exec sleep infinity")
                .replace("spec:\n", "spec:\n  nodeSelector: {kubernetes.io/hostname: node-2}\n");
    }

    /** With this machine's programs. */
    private static String withPython(String pod) {
        return pod.replace(
                        "    resources:",
                        "    volumeMounts: [{name: usr, mountPath: /usr}, {name: lib, mountPath: /lib}, "
                                + "{name: lib64, mountPath: /lib64}]\n    env: [{name: PATH, value: \"/bin:/usr/bin\"}]\n    resources:")
                + "  volumes: [{name: usr, hostPath: {path: /usr}}, {name: lib, hostPath: {path: /lib}}, "
                + "{name: lib64, hostPath: {path: /lib64}}]\n";
    }

    private static List<String> uuids(int node) {
        return Cluster.shared().nodes().get(node).gpus().control().gpus().stream()
                .map(NodeControl.Gpu::uuid)
                .toList();
    }

    private static void awaitAllocatable(String node, String expected) {
        Await.until(
                () -> gpus(node, "allocatable").equals(expected),
                () -> node + ": expected " + expected + " GPUs, seen " + gpus(node, "allocatable"));
    }

    private static String gpus(String node, String what) {
        return kubectl("get", "node", node, "-o", "jsonpath={.status." + what + ".nvidia\\.com/gpu}");
    }

    private static String kubectl(String... arguments) {
        return Cluster.shared().controlPlane().kubectl(arguments);
    }
}
