package dev.gpuwarden.testkit.command;

import dev.gpuwarden.testkit.cluster.ControlPlane;
import dev.gpuwarden.testkit.cluster.UserCluster;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * Runs lines of shell with kubectl and gpuwarden on the PATH, as the administrator of the cluster.
 *
 * @param image the runtime image of this program
 */
record ClusterShell(Path image, ControlPlane plane) {

    /**
     * Returns the output; blocks until the command ends.
     *
     * @throws IllegalStateException when it fails, with its output
     */
    String run(String line) {
        Said said = said(line);
        if (said.code != 0) {
            throw new IllegalStateException(
                    line + ": ended with exit code " + said.code + ": " + said.out + said.errors);
        }
        return said.out;
    }

    /** Returns the output and ignores the exit code. */
    String output(String line) {
        return said(line).out;
    }

    private record Said(int code, String out, String errors) {}

    private Said said(String line) {
        try {
            Path home = Files.createDirectories(plane.adminKubeconfig().resolveSibling("shell"));
            Path out = Files.createTempFile(home, "shell", ".out");
            Path errors = Files.createTempFile(home, "shell", ".err");
            try {
                ProcessBuilder builder = new ProcessBuilder("sh", "-c", line)
                        .redirectInput(new File("/dev/null"))
                        .redirectOutput(out.toFile())
                        .redirectError(errors.toFile());
                Map<String, String> environment = builder.environment();
                environment.put(
                        "PATH",
                        String.join(
                                File.pathSeparator,
                                image.resolve("bin").toString(),
                                UserCluster.ofUser().tools().toString(),
                                environment.getOrDefault("PATH", "/usr/bin:/bin")));
                environment.put("KUBECONFIG", plane.adminKubeconfig().toString());
                // kubectl's cache is in HOME, one per cluster; the files of the container image are cached for the
                // user.
                environment.putIfAbsent(
                        "XDG_CACHE_HOME",
                        Path.of(System.getProperty("user.home"), ".cache").toString());
                environment.put("HOME", home.toString());
                int code = builder.start().waitFor();
                return new Said(code, Files.readString(out), Files.readString(errors));
            } finally {
                Files.delete(out);
                Files.delete(errors);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while a shell runs: " + line, e);
        }
    }
}
