package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.testkit.Unchecked;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** The paths in a simulated node's folder. */
final class NodeFolder {

    final Path root;
    final Path lib;
    final Path library;
    final Path cudaLibrary;
    final Path ncclLibrary;
    /** The table, beside the libraries that read it. */
    final Path table;
    /** Programs of the node; in no PATH. */
    final Path bin;
    /** The program that resets GPUs. */
    final Path smi;
    /** A program that uses all GPUs. */
    final Path service;
    /** A copy of the table's layout, so that any process can change the node. */
    final Path layout;

    final Path proc;
    final Path sys;
    /** The files of GPUs, and the kernel log. */
    final Path dev;

    final Path kernelLog;
    /** A FIFO: the writable side of the kernel log. */
    final Path kernelLogInput;
    /** The state of the kernel log's writers; locked while one writes. */
    final Path kernelLogState;
    /** The list of the node's network devices. */
    final Path nics;
    /** Counters of devices that have counted nothing yet. */
    final Path idleCounters;
    /** Devices that are off the bus. */
    final Path offBus;

    final Path pods;
    /** The event store of a daemon on this node. */
    final Path store;
    /** Sockets of a daemon on this node. */
    final Path run;
    /** The entries of the fault table, by name of the fault. */
    final Path faults;
    /** Scenario and owner, one `key=value` a line. */
    final Path about;

    /** The place of libnccl.so.2 on a node without it. */
    private final Path hiddenNccl;

    NodeFolder(Path root) {
        this.root = root;
        lib = root.resolve("lib");
        library = lib.resolve("libnvidia-ml.so.1");
        cudaLibrary = lib.resolve("libcuda.so.1");
        ncclLibrary = lib.resolve("libnccl.so.2");
        table = lib.resolve("gpuwarden-sim.table");
        bin = root.resolve("bin");
        smi = bin.resolve("nvidia-smi");
        service = bin.resolve("gpu-service");
        layout = lib.resolve("sim-layout.tsv");
        hiddenNccl = root.resolve("hidden-libnccl.so.2");
        proc = root.resolve("proc");
        sys = root.resolve("sys");
        dev = root.resolve("dev");
        kernelLog = dev.resolve("kmsg");
        kernelLogInput = dev.resolve("kmsg-in");
        kernelLogState = root.resolve("kernel-log.state");
        nics = root.resolve("nics.tsv");
        idleCounters = root.resolve("idle-counters");
        offBus = root.resolve("off-bus");
        pods = root.resolve("pods");
        store = root.resolve("var/lib/gpuwarden/events.db");
        run = root.resolve("run");
        faults = root.resolve("faults.tsv");
        about = root.resolve("node.properties");
    }

    /** Returns the environment variables with which a child process, gpuwarden's or any other, uses this node. */
    Map<String, String> environment() {
        Map<String, String> environment = new LinkedHashMap<>();
        String inherited = System.getenv("LD_LIBRARY_PATH");
        String own = lib.toString();
        environment.put("LD_LIBRARY_PATH", inherited == null || inherited.isEmpty() ? own : own + ":" + inherited);
        environment.put("GPUWARDEN_PATH_PROCFS", proc.toString());
        environment.put("GPUWARDEN_PATH_SYSFS", sys.toString());
        environment.put("GPUWARDEN_PATH_PODLOGS", pods.toString());
        environment.put("GPUWARDEN_PATH_DEVICES", dev.toString());
        environment.put("GPUWARDEN_SIM_NODE", root.toString());
        environment.put("GPUWARDEN_STORE_PATH", store.toString());
        environment.put("GPUWARDEN_GRPC_SOCKET", run.resolve("gpuwarden.sock").toString());
        environment.put(
                "GPUWARDEN_EVENTS_SOCKET", run.resolve("nvsentinel.sock").toString());
        environment.put("GPUWARDEN_KERNEL_LOG_SOURCE", "kmsg");
        environment.put("GPUWARDEN_KERNEL_LOG_PATH", kernelLog.toString());
        environment.put("GPUWARDEN_RESET_KERNEL_LOG", kernelLogInput.toString());
        environment.put("GPUWARDEN_RESET_NVIDIA_SMI", smi.toString());
        environment.put(
                "GPUWARDEN_RESET_STATE", root.resolve("var/lib/gpuwarden").toString());
        return environment;
    }

    /** Installs or removes libnccl.so.2. Programs that have it open keep it. */
    void showNccl(boolean present) {
        Path from = present ? hiddenNccl : ncclLibrary;
        if (Files.exists(from)) {
            Unchecked.run(() -> Files.move(from, present ? ncclLibrary : hiddenNccl));
        }
    }
}
