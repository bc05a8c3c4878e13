package dev.gpuwarden.testkit.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
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
        try {
            Path in = Files.createTempFile(home, "kubectl", ".in");
            Path errors = Files.createTempFile(home, "kubectl", ".err");
            try {
                Files.writeString(in, input);
                return run(command, in, errors);
            } finally {
                Files.delete(in);
                Files.delete(errors);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String run(List<String> command, Path in, Path errors) throws IOException {
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectInput(in.toFile()).redirectError(errors.toFile());
        builder.environment()
                .putAll(Map.of(
                        "HOME",
                        home.toString(),
                        "KUBECACHEDIR",
                        home.resolve("cache").toString()));
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            int code = process.waitFor();
            if (code == 0) {
                return output;
            }
            throw new IllegalStateException("kubectl " + String.join(" ", command.subList(3, command.size()))
                    + ": ended with exit code " + code + ": " + output + Files.readString(errors));
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while kubectl runs", e);
        }
    }
}
