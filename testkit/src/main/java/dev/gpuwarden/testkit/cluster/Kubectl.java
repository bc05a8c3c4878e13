package dev.gpuwarden.testkit.cluster;

import dev.gpuwarden.testkit.Execution;
import dev.gpuwarden.testkit.Unchecked;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Runs kubectl; its cache is in a folder of the control plane. */
record Kubectl(Path binary, Path home) {

    /**
     * Blocks until it ends.
     *
     * @param input for its standard input
     * @return its standard output
     * @throws IllegalStateException when it fails, with its output
     */
    String run(Path kubeconfig, String input, List<String> arguments) {
        List<String> command = new ArrayList<>(List.of(binary.toString(), "--kubeconfig", kubeconfig.toString()));
        command.addAll(arguments);
        return Unchecked.get(() -> {
            Path in = Files.createTempFile(home, "kubectl", ".in");
            Path errors = Files.createTempFile(home, "kubectl", ".err");
            try {
                Files.writeString(in, input);
                ProcessBuilder builder =
                        new ProcessBuilder(command).redirectInput(in.toFile()).redirectError(errors.toFile());
                String cache = home.resolve("cache").toString();
                builder.environment().putAll(Map.of("HOME", home.toString(), "KUBECACHEDIR", cache));
                Execution kubectl = Execution.of(builder);
                if (kubectl.code() != 0) {
                    throw new IllegalStateException("kubectl " + String.join(" ", command.subList(3, command.size()))
                            + ": ended with exit code " + kubectl.code() + ": " + kubectl.output()
                            + Files.readString(errors));
                }
                return kubectl.output();
            } finally {
                Files.delete(in);
                Files.delete(errors);
            }
        });
    }
}
