package dev.gpuwarden.nccl.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command under Open MPI's launcher: two processes on one machine find each other by the variables that it sets. */
class MpirunTest {

    @TempDir
    Path folder;

    private record Run(int code, String out, String err) {}

    private static boolean isInstalled(String program) {
        return Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .anyMatch(path -> Files.isExecutable(Path.of(path, program)));
    }

    private Run mpirun(SimulatedNode node, String arguments) throws IOException, InterruptedException {
        assumeTrue(isInstalled("mpirun"), "no mpirun on the PATH; install the Debian package openmpi-bin");
        List<String> command = new ArrayList<>(List.of(
                "mpirun",
                "--allow-run-as-root",
                "--oversubscribe",
                "-np",
                "2",
                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                "dev.gpuwarden.cli.Main",
                "bench"));
        command.addAll(List.of(arguments.split(" ")));
        command.add("--nccl.library-path=" + node.libraryPath().getParent());
        command.add("--driver.library-path=" + node.libraryPath());
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
        // Not those of a launcher that runs the tests.
        builder.environment().keySet().removeIf(name -> name.matches("(OMPI|PMIX|SLURM)_.*"));
        int code = builder.start().waitFor();
        return new Run(code, Files.readString(out), Files.readString(err));
    }

    @Test
    void eachProcessIsARankAndTheFirstOnePrints() throws IOException, InterruptedException {
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            Run run = mpirun(node, "all_reduce_perf -g 2 -b 8K -e 8K -n 2");
            assertThat(run.code()).as(run.out() + run.err()).isZero();
            assertThat(run.out().lines().filter(line -> line.startsWith("#  Rank ")))
                    .hasSize(4)
                    .element(3)
                    .asString()
                    .contains("Rank  3", "device  3");
            assertThat(run.out().lines().filter(line -> !line.isEmpty() && !line.startsWith("#")))
                    .singleElement()
                    .asString()
                    .containsPattern("^ +8192 +2048 +float +sum +-1 .* 0 .* 0$");
        }
    }

    @Test
    void failureOfOneProcessIsThatOfTheRun() throws IOException, InterruptedException {
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            node.set("gpu.1.nccl.wrong", "5");
            assertThat(mpirun(node, "all_reduce_perf -b 1K -e 1K -n 1").code()).isEqualTo(7);
        }
    }
}
