package dev.gpuwarden.testkit.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;

/** NVIDIA's programs in the folder `-Dgpuwarden.tools.dir`. A test is skipped with the name of the program that is missing. */
final class Tools {

    private Tools() {}

    static Path need(String what, String... files) {
        String folder = System.getProperty("gpuwarden.tools.dir");
        Assumptions.assumeTrue(folder != null, what + ": not looked for, -Dgpuwarden.tools.dir is not given");
        for (String file : files) {
            Path path = Path.of(String.valueOf(folder), file);
            if (Files.exists(path)) {
                return path;
            }
        }
        Assumptions.abort(what + ": missing in " + folder);
        throw new IllegalStateException("an assumption that fails does not return");
    }

    /** Standard output of a program on a node. */
    static String run(SimulatedNode node, Map<String, String> environment, String... command)
            throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(node.environment());
        builder.environment().putAll(environment);
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }
}
