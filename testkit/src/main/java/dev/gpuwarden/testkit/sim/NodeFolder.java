package dev.gpuwarden.testkit.sim;

import java.nio.file.Path;

/** Where things are in a simulated node's folder. */
record NodeFolder(Path root) {

    Path lib() {
        return root.resolve("lib");
    }

    Path library() {
        return lib().resolve("libnvidia-ml.so.1");
    }

    /** Beside the library, where the library looks for it. */
    Path table() {
        return lib().resolve("gpuwarden-sim.table");
    }

    /** A copy of the layout, so that any process can change the node. */
    Path layout() {
        return lib().resolve("sim-layout.tsv");
    }

    Path proc() {
        return root.resolve("proc");
    }

    Path sys() {
        return root.resolve("sys");
    }

    Path kernelLog() {
        return root.resolve("dev/kmsg");
    }

    /** What whoever writes to the kernel log must know; locked while one does. */
    Path kernelLogState() {
        return root.resolve("kernel-log.state");
    }

    /** Which network devices the node has. */
    Path nics() {
        return root.resolve("nics.tsv");
    }

    /** Files of counters of devices that counted nothing yet. */
    Path idleCounters() {
        return root.resolve("idle-counters");
    }

    /** Devices that are away from the bus. */
    Path offBus() {
        return root.resolve("off-bus");
    }

    Path pods() {
        return root.resolve("pods");
    }

    /** Where a daemon on this node keeps its events. */
    Path store() {
        return root.resolve("var/lib/gpuwarden/events.db");
    }

    /** Sockets of a daemon on this node. */
    Path run() {
        return root.resolve("run");
    }

    /** Which entries of the fault table belong to which fault. */
    Path faults() {
        return root.resolve("faults.tsv");
    }

    /** Scenario and owner, one `key=value` a line. */
    Path about() {
        return root.resolve("node.properties");
    }
}
