package dev.gpuwarden.benchmarks;

import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.core.port.Provider;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The node of a benchmark: a simulated one, or this machine. */
record Node(Optional<SimulatedNode> simulated) implements AutoCloseable {

    /** The value that selects this machine's driver in place of a scenario. */
    static final String THIS_MACHINE = "real";

    /** The name that a driver package installs, which the loader searches. */
    private static final String SONAME = "libnvidia-ml.so.1";

    /** @param scenario scenario of testkit, the path of one, or {@link #THIS_MACHINE} */
    static Node open(String scenario) {
        return new Node(scenario.equals(THIS_MACHINE) ? Optional.empty() : Optional.of(SimulatedNode.start(scenario)));
    }

    /** Returns the argument for `dlopen`. */
    String library() {
        return simulated.map(SimulatedNode::libraryPath).map(Path::toString).orElse(SONAME);
    }

    NodePaths paths() {
        return simulated
                .map(node -> NodePaths.of(node.procfs(), node.sysfs(), node.podLogs()))
                .orElseGet(() -> NodePaths.of(Path.of("/proc"), Path.of("/sys"), Path.of("/var/log/pods")));
    }

    /** Opens this node's driver like the daemon, without regard to the library in the request. */
    DriverProvider provider(SamplerPath path) {
        DriverProvider provider = Provider.of(DriverProvider.class);
        List<String> libraries =
                simulated.map(node -> List.of(node.libraryPath().toString())).orElse(List.of());
        return options -> provider.open(new DriverOptions(libraries, path));
    }

    /** Opens the driver and reads it on this path alone. */
    Driver driver(SamplerPath path) {
        Opening<Driver> opening = provider(path).open(DriverOptions.defaults());
        if (!(opening instanceof Opening.Opened<Driver> opened)) {
            throw new IllegalStateException("driver not opened: " + opening);
        }
        String taken = opened.driver().info().samplerPath();
        if (path != SamplerPath.AUTO && !taken.startsWith(path.name().toLowerCase(Locale.ROOT))) {
            throw new IllegalStateException("asked for the path " + path + ", got: " + taken);
        }
        return opened.driver();
    }

    /** Stops values that grow with time on a simulated node. */
    void freezeTime() {
        simulated.ifPresent(node -> node.freezeTime(Instant.EPOCH.plus(Duration.ofDays(20_000))));
    }

    @Override
    public void close() {
        simulated.ifPresent(SimulatedNode::close);
    }
}
