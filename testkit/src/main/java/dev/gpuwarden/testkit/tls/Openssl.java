package dev.gpuwarden.testkit.tls;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs the openssl program of this machine. */
public final class Openssl {

    /** Arguments for a new, unencrypted key on the curve P-256. */
    public static final List<String> NEW_KEY =
            List.of("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes");

    private Openssl() {}

    /**
     * Blocks until openssl ends.
     *
     * @param folder its working directory
     * @throws IllegalStateException when openssl is missing or fails, with its output; when the thread is interrupted
     */
    public static void run(Path folder, List<String> arguments) {
        List<String> command = new ArrayList<>(List.of("openssl"));
        command.addAll(arguments);
        try {
            Process process = new ProcessBuilder(command)
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            int code = process.waitFor();
            if (code != 0) {
                throw new IllegalStateException(String.join(" ", command)
                        + ": expected exit code 0 from openssl 3, was " + code + ": " + output);
            }
        } catch (IOException e) {
            throw new IllegalStateException("openssl: expected it on the PATH (Debian: apt-get install openssl)", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while openssl ran", e);
        }
    }
}
