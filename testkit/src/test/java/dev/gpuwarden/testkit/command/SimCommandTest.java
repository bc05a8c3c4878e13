package dev.gpuwarden.testkit.command;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.cli.Main;
import dev.gpuwarden.testkit.scenario.Scenarios;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class SimCommandTest {

    @TempDir
    Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... arguments) {
        CommandLine line = Main.commandLine();
        line.setOut(new PrintWriter(out));
        line.setErr(new PrintWriter(err));
        return line.execute(arguments);
    }

    @Test
    void listNamesEveryScenarioInEveryFormat() {
        assertThat(run("sim", "list", "-o", "json")).isZero();
        for (String name : Scenarios.names()) {
            assertThat(out.toString()).contains("\"name\": \"" + name + "\"");
        }
        out.getBuffer().setLength(0);
        assertThat(run("sim", "list")).isZero();
        assertThat(out.toString().lines()).hasSize(Scenarios.names().size() + 1);
    }

    @Test
    void showWritesValuesInScenarioForm() {
        assertThat(run("sim", "show", "gpu-lost", "-o", "json")).isZero();
        assertThat(out.toString())
                .contains("\"state\": \"lost\"", "\"power.limit\": \"700000mW\"", "\"memory.total\": \"85520809984B\"")
                .contains("\"compute-capability\": \"9.0\"", "\"pci.address\": \"0000:5b:00.0\"", "\"cuda\": \"12.4\"");
    }

    @Test
    void programUsesNodeAndExitCodeIsForwarded() throws IOException {
        Path seen = folder.resolve("seen");
        int code = run(
                "sim",
                "exec",
                "t4",
                "--",
                "sh",
                "-c",
                "ls ${LD_LIBRARY_PATH%%:*} $GPUWARDEN_PATH_PROCFS $GPUWARDEN_PATH_SYSFS > '" + seen + "'; exit 7");
        assertThat(code).isEqualTo(7);
        assertThat(Files.readString(seen))
                .contains("libnvidia-ml.so.1", "libcuda.so.1", "gpuwarden-sim.table", "uptime", "bus");
    }

    @Test
    void setIsAppliedBeforeProgramStarts() throws IOException {
        Path seen = folder.resolve("seen");
        String copy = "cp $GPUWARDEN_KERNEL_LOG_PATH '" + seen + "'";
        assertThat(run(
                        "sim",
                        "exec",
                        "--set",
                        "gpu.0.xid=43",
                        "--set",
                        "gpu.0.temperature=80C",
                        "t4",
                        "--",
                        "sh",
                        "-c",
                        copy))
                .isZero();
        assertThat(Files.readString(seen)).contains("Xid (PCI:0000:00:08): 43, ");
    }

    @Test
    @Tag("programs")
    void programChangesItsOwnNode() throws Exception {
        Path seen = folder.resolve("seen");
        try (SimulatedNode other = SimulatedNode.start("t4")) {
            String java = Path.of(System.getProperty("java.home"), "bin", "java")
                    + " -XX:TieredStopAtLevel=1 -XX:+UseSerialGC '-Dgpuwarden.native.dir="
                    + System.getProperty("gpuwarden.native.dir")
                    + "' -cp '" + System.getProperty("java.class.path")
                    + "' dev.gpuwarden.cli.Main";
            String script = java + " sim log hello; cp $GPUWARDEN_KERNEL_LOG_PATH '" + seen + "'";
            assertThat(exec("t4", "sh", "-c", script).waitFor()).isZero();
            assertThat(Files.readString(seen)).endsWith(";hello\n");
            assertThat(Files.readString(other.kernelLog())).doesNotContain("hello");
        }
    }

    @Test
    @Tag("programs")
    void programFindsCuda() {
        String count = "import ctypes; cuda, n = ctypes.CDLL('libcuda.so.1'), ctypes.c_int(); "
                + "assert cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(n)) == 0; exit(n.value)";
        assertThat(run("sim", "exec", "h100x8", "--", "python3", "-c", count)).isEqualTo(8);
    }

    @Test
    void programEndsAfterDuration() {
        assertThat(run("sim", "exec", "--for", "100ms", "t4", "--", "sleep", "60"))
                .isZero();
    }

    @Test
    void missingProgramIsReportedAndNothingStarts() {
        assertThat(run("sim", "exec", "gpu-lots", "--", "true")).isEqualTo(2);
        assertThat(err.toString()).contains("scenario \"gpu-lots\"", "did you mean \"gpu-lost\"?");
        assertThat(run("sim", "exec", "t4", "--", "/no/such/program")).isEqualTo(2);
        assertThat(err.toString()).contains("\"/no/such/program\": expected a program");
        assertThat(run("sim", "exec", "t4")).isEqualTo(2);
    }

    @Test
    void setChangesNodeOfAnotherProcess() {
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            assertThat(run("sim", "set", "--node", node.root().toString(), "gpu.3.temperature=91", "gpu.5.state=lost"))
                    .isZero();
            assertThat(node.control().table().number("gpu[3].temp_gpu")).isEqualTo(91);
            assertThat(node.control().table().number("gpu[5].state")).isEqualTo(1);
            assertThat(run("sim", "set", "--node", node.root().toString(), "gpu.3.temperature=20", "gpu.5.sate=ok"))
                    .isEqualTo(2);
            assertThat(err.toString()).contains("saw \"sate\"; did you mean \"state\"?");
            assertThat(node.control().table().number("gpu[3].temp_gpu")).isEqualTo(91);
        }
        assertThat(run("sim", "set", "--node", folder.toString(), "gpu.0.state=ok"))
                .isEqualTo(2);
        assertThat(run("sim", "set", "--node", folder.toString(), "gpu.0.state"))
                .isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "--gpu 8 --mib 10 | --gpu 8: expected 0 to 7",
                "--gpu 0 --mib 0 | --mib 0: expected 1 or more",
                "--gpu 0 --mib 10 --grow 5 | '5' is not a rate such as 100MiB/s",
                "--gpu 0 --mib 1 --grow 0B/s | '0B/s' is no growth",
                "--gpu 0 | Missing required option: '--mib=N'"
            })
    void wrongUseOfMemoryIsNamedBeforeTheDriverIsOpened(String arguments, String message) {
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            String line = "sim use --node " + node.root() + " " + arguments.strip();
            assertThat(run(line.split(" "))).isEqualTo(2);
            assertThat(err.toString()).contains(message);
        }
    }

    @Test
    void logWritesToNodeOfAnotherProcess() throws IOException {
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            String root = node.root().toString();
            assertThat(run("sim", "log", "--node", root, "<3>NVRM: about {gpu.3}"))
                    .isZero();
            assertThat(run("sim", "log", "--node", root, "--user", "GPU reset occurred: {uuid.3}"))
                    .isZero();
            assertThat(run("sim", "log", "--node", root, "--count", "40", "--per-second", "1000", "line {n}"))
                    .isZero();
            assertThat(run("sim", "set", "--node", root, "--no-log", "gpu.3.xid=79"))
                    .isZero();
            List<String> lines = Files.readAllLines(node.kernelLog());
            assertThat(lines).anyMatch(line -> line.matches("3,\\d+,\\d+,-;NVRM: about 0000:5b:00"));
            assertThat(lines).anyMatch(line -> line.matches("12,\\d+,\\d+,-;GPU reset occurred: GPU-[0-9a-f-]{36}"));
            assertThat(lines.get(lines.size() - 1)).endsWith(";line 40");
            assertThat(lines).filteredOn(line -> line.contains(";line ")).hasSize(40);
        }
    }

    @Test
    void validateShowsAllMistakesWithPlaces() throws IOException {
        Path file = folder.resolve("mine.yaml");
        Files.writeString(file, "gpus:\n  - profile: t5\n  - {profile: t4, cuont: 2}\n");
        assertThat(run("sim", "validate", file.toString())).isEqualTo(2);
        assertThat(err.toString())
                .contains(file + ":2:14: gpus[0].profile: expected a board, saw \"t5\"; did you mean \"t4\"?")
                .contains(file + ":3:19: gpus[1]: expected a known key, saw \"cuont\"; did you mean \"count\"?");
        Files.writeString(file, "gpus: [{profile: t4}]\ntimeline: [{at: 5s, stop: 99}]\n");
        assertThat(run("sim", "validate", file.toString())).isEqualTo(2);
        assertThat(err.toString()).contains("process 99: expected a process that holds a GPU");
        Files.writeString(file, "gpus: [{profile: t4}]\n");
        assertThat(run("sim", "validate", file.toString())).isZero();
    }

    @Test
    @Tag("programs")
    void signalEndsProgramAndDeletesNode() throws Exception {
        Process exec = exec("t4", "sleep", "61");
        try {
            Path nodes = folder.resolve("gpuwarden/nodes");
            // The program itself: a descendant that makes the node's FIFO is there before the handler of signals.
            until(() -> exec.descendants().anyMatch(SimCommandTest::sleeps));
            List<ProcessHandle> programs = exec.descendants().toList();
            exec.destroy();
            assertThat(exec.waitFor()).isEqualTo(143);
            assertThat(nodes.resolve("t4-1")).doesNotExist();
            assertThat(programs).noneMatch(ProcessHandle::isAlive);
        } finally {
            exec.destroyForcibly();
        }
    }

    @Test
    @Tag("programs")
    void remainsOfKilledProcessAreDeleted() throws Exception {
        Path nodes = folder.resolve("gpuwarden/nodes");
        Process killed = exec("t4", "sleep", "3");
        until(() -> Files.exists(nodes.resolve("t4-1/node.properties")));
        killed.destroyForcibly().waitFor();
        assertThat(nodes.resolve("t4-1")).exists();
        assertThat(exec("empty", "true").waitFor()).isZero();
        assertThat(nodes).isEmptyDirectory();
    }

    private static boolean sleeps(ProcessHandle process) {
        return process.info().command().filter(path -> path.endsWith("sleep")).isPresent();
    }

    private Process exec(String scenario, String... command) throws IOException {
        List<String> line = new java.util.ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Dgpuwarden.native.dir=" + System.getProperty("gpuwarden.native.dir"),
                "-cp",
                System.getProperty("java.class.path"),
                "dev.gpuwarden.cli.Main",
                "sim",
                "exec",
                scenario,
                "--"));
        line.addAll(List.of(command));
        ProcessBuilder builder = new ProcessBuilder(line).inheritIO();
        builder.environment().put("XDG_RUNTIME_DIR", folder.toString());
        return builder.start();
    }
}
