package dev.gpuwarden.testkit.sim;

import java.nio.file.Path;

/** The paths in a simulated node's folder. */
record NodeFolder(Path root) {

    Path lib() {
        return root.resolve("lib");
    }

    Path library() {
        return lib().resolve("libnvidia-ml.so.1");
    }

    /** The table, beside the library that reads it. */
    Path table() {
        return lib().resolve("gpuwarden-sim.table");
    }

    /** A copy of the table's layout, so that any process can change the node. */
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

    /** The state of the kernel log's writers; locked while one writes. */
    Path kernelLogState() {
        return root.resolve("kernel-log.state");
    }

    /** The list of the node's network devices. */
    Path nics() {
        return root.resolve("nics.tsv");
    }

    /** Counters of devices that have counted nothing yet. */
    Path idleCounters() {
        return root.resolve("idle-counters");
    }

    /** Devices that are off the bus. */
    Path offBus() {
        return root.resolve("off-bus");
    }

    Path pods() {
        return root.resolve("pods");
    }

    /** The event store of a daemon on this node. */
    Path store() {
        return root.resolve("var/lib/gpuwarden/events.db");
    }

    /** Sockets of a daemon on this node. */
    Path run() {
        return root.resolve("run");
    }

    /** The entries of the fault table, by name of the fault. */
    Path faults() {
        return root.resolve("faults.tsv");
    }

    /** Scenario and owner, one `key=value` a line. */
    Path about() {
        return root.resolve("node.properties");
    }
}
