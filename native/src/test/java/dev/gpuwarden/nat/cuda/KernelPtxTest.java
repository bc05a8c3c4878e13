package dev.gpuwarden.nat.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The kernels' PTX that ships, against what NVIDIA's own compilers make of the sources and of the PTX. No GPU is needed. */
@Tag("programs")
class KernelPtxTest {

    private static final Path BUILD = Path.of(System.getProperty("gpuwarden.repository"), "native/src/build");
    private static final Path SHIPPED = BUILD.resolveSibling("main/resources/dev/gpuwarden/nat/cuda");
    private static final List<String> ARCHITECTURES =
            List.of("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120");

    @TempDir
    Path folder;

    @Test
    void ptxIsThatOfTheSources() throws IOException, InterruptedException {
        Path nvrtc = tool("nvidia-cuda-nvrtc-cu11");
        String script = BUILD.resolve("ptx.py").toString();
        assertThat(run("python3", script, nvrtc.toString(), folder.toString())).isEmpty();
        Map<String, String> shipped = files(SHIPPED);
        Map<String, String> made = files(folder);
        assertThat(shipped.keySet()).isEqualTo(made.keySet());
        assertThat(shipped.keySet())
                .as("PTX files that differ from their sources; %s %s makes them again", script, nvrtc)
                .allMatch(name -> made.get(name).equals(shipped.get(name)));
    }

    @Test
    void everyArchitectureAcceptsIt() throws IOException, InterruptedException {
        String ptxas = tool("nvidia-cuda-nvcc-cu12").toString();
        for (String name : files(SHIPPED).keySet()) {
            for (String architecture : ARCHITECTURES) {
                String input = SHIPPED.resolve(name).toString();
                String output = folder.resolve(architecture + name).toString();
                assertThat(run(ptxas, "-arch=" + architecture, input, "-o", output))
                        .as("ptxas -arch=%s %s", architecture, input)
                        .isEmpty();
                assertThat(Path.of(output)).isNotEmptyFile();
            }
        }
    }

    /** The first file of a package of cuda-wheels.txt; without it the test is skipped. */
    private static Path tool(String packageName) throws IOException {
        String[] wheel = Files.readAllLines(BUILD.resolve("cuda-wheels.txt")).stream()
                .filter(line -> line.startsWith(packageName + "=="))
                .findFirst()
                .orElseThrow()
                .split(" ");
        Path tool =
                Path.of(System.getProperty("gpuwarden.tools.dir", ""), "cuda", wheel[0].replace("==", "/"), wheel[2]);
        Assumptions.assumeTrue(
                Files.exists(tool),
                () -> "no " + tool
                        + ": ./gpuwarden test gets it, and names the folder of tools in -Dgpuwarden.tools.dir");
        return tool;
    }

    private static Map<String, String> files(Path folder) throws IOException {
        Map<String, String> files = new TreeMap<>();
        try (Stream<Path> paths = Files.list(folder)) {
            for (Path path : paths.toList()) {
                files.put(path.getFileName().toString(), Files.readString(path));
            }
        }
        assertThat(files).as("%s", folder).isNotEmpty();
        return files;
    }

    /** Returns the output, with the exit status if that is not 0. */
    private static String run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int status = process.waitFor();
        return status == 0 ? output : output + "exit status " + status;
    }
}
