package dev.gpuwarden.checks.node;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The node's name, without a query to a name service. */
public final class NodeName {

    @Option(
            names = "--node.name",
            defaultValue = "",
            paramLabel = "NAME",
            description = "This node's name in events, metrics and Kubernetes"
                    + " (default: NODE_NAME of the environment, otherwise the host's name).")
    String name = "";

    /** For tests and for commands without options. */
    public static NodeName of(String name) {
        NodeName node = new NodeName();
        node.name = name;
        return node;
    }

    /** Returns the name, which is never empty. */
    public String get() {
        return choose(name, Optional.ofNullable(System.getenv("NODE_NAME")), Path.of("/proc/sys/kernel/hostname"));
    }

    static String choose(String option, Optional<String> environment, Path hostName) {
        if (!option.isBlank()) {
            return option.trim();
        }
        String fromPod = environment.map(String::trim).orElse("");
        if (!fromPod.isEmpty()) {
            return fromPod;
        }
        try {
            String host = Files.readString(hostName).trim();
            return host.isEmpty() ? "localhost" : host;
        } catch (IOException e) {
            return "localhost";
        }
    }
}
