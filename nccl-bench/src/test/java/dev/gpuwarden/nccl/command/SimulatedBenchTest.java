package dev.gpuwarden.nccl.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.cli.CommandGroup;
import dev.gpuwarden.cli.JsonReader;
import dev.gpuwarden.cli.Main;
import dev.gpuwarden.cli.NamedCommand;
import dev.gpuwarden.cli.SettingSources;
import dev.gpuwarden.core.port.CollectiveProvider;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** The command on a simulated node: data really moves, and is checked. */
class SimulatedBenchTest {

    @TempDir
    Path folder;

    /** One for all tests, which undo their changes: the start of a node takes longer than most runs. */
    private static SimulatedNode node;

    private static ExecutorService processes;

    @BeforeAll
    static void start() {
        node = SimulatedNode.start("h100x8");
        processes = Executors.newCachedThreadPool();
    }

    @AfterEach
    void heal() {
        node.set("gpu.1.nccl.wrong", "0");
        node.set("gpu.1.nccl.dead", "no");
        node.set("gpu.7.cuda.error", "none");
        node.set("node.nccl-version", "2.21.5");
    }

    @AfterAll
    static void end() {
        processes.shutdownNow();
        node.close();
    }

    private record Run(int code, String out, String err) {

        /** Returns the columns of the rows. */
        List<String[]> rows() {
            return out.lines()
                    .filter(line -> !line.isEmpty() && !line.startsWith("#"))
                    .map(line -> line.strip().split(" +"))
                    .toList();
        }
    }

    private static CollectiveProvider provider() {
        return ServiceLoader.load(CollectiveProvider.class).findFirst().orElseThrow();
    }

    private Run run(String arguments) {
        return run(Map.of(), arguments);
    }

    private Run run(Map<String, String> environment, String arguments) {
        CommandGroup group = () -> List.of(new NamedCommand(
                "bench", () -> new BenchCommand(SimulatedBenchTest::provider, environment, Clock.systemUTC())));
        CommandLine line =
                Main.commandLine(SettingSources.none(), List.of(group).iterator());
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        line.setOut(new PrintWriter(out));
        line.setErr(new PrintWriter(err));
        List<String> words = new ArrayList<>(List.of(("bench " + arguments).split(" ")));
        words.add("--nccl.library-path=" + node.libraryPath().getParent());
        words.add("--driver.library-path=" + node.libraryPath());
        int code = line.execute(words.toArray(String[]::new));
        return new Run(code, out.toString(), err.toString());
    }

    @ParameterizedTest
    @CsvSource({
        "all_reduce_perf, -1, 0",
        "all_gather, -1, 0",
        "reduce_scatter, -1, 0",
        "broadcast, 1, 0",
        "reduce, 2, 0",
        "alltoall, -1, N/A",
        "sendrecv, -1, N/A",
        "gather, 3, 0",
        "scatter, 0, 0",
        "hypercube, -1, 0"
    })
    void everyCollectiveHasTheRightData(String collective, String root, String inPlace) {
        Run run = run(collective + " -g 4 -b 64K -e 300K -f 4 -n 2 -r " + Math.max(0, Integer.parseInt(root)));
        assertThat(run.code()).as(run.out() + run.err()).isZero();
        assertThat(run.rows()).hasSize(2).allSatisfy(row -> {
            assertThat(row).hasSize(13);
            assertThat(row[4]).isEqualTo(root);
            assertThat(row[8]).isEqualTo("0");
            assertThat(row[12]).isEqualTo(inPlace);
        });
        assertThat(run.out())
                .contains("# Out of bounds values : 0 OK\n", "device  3 [0000:5b:00] NVIDIA H100 80GB HBM3\n");
    }

    @Test
    void bufferThatIsNotAlignedHasTheRightData() {
        Run run = run("reduce_scatter -g 2 -b 64K -e 64K -n 2 -d int8 -u 3 -R 1 -I 1");
        assertThat(run.code()).as(run.out() + run.err()).isZero();
        assertThat(run.out()).contains(" unalign: 3\n");
        assertThat(run.rows())
                .singleElement()
                .satisfies(row -> assertThat(row[8]).isEqualTo("0"));
    }

    @ParameterizedTest
    @CsvSource({
        "all_reduce -o mulsum, 0",
        "reduce_scatter -m 3 -p 1, 0",
        "alltoall, N/A",
        "hypercube, 0",
        "broadcast -r 1 -u 1, 0"
    })
    void graphsHaveTheRightData(String collective, String inPlace) {
        Run run = run(collective + " -g 4 -b 64K -e 300K -f 4 -n 3 -G 5 -C 1");
        assertThat(run.code()).as(run.out() + run.err()).isZero();
        assertThat(run.out()).contains(" graph: 5 ");
        assertThat(run.rows()).hasSize(2).allSatisfy(row -> {
            assertThat(row[8]).isEqualTo("0");
            assertThat(row[12]).isEqualTo(inPlace);
        });
    }

    @Test
    void wrongDataOfAGraphIsCounted() {
        node.set("gpu.1.nccl.wrong", "5");
        assertThat(run("all_reduce -g 2 -b 1K -e 1K -n 1 -G 2").code()).isEqualTo(7);
    }

    @Test
    void laterLibraryHasWindowsAndPolicies() {
        node.set("node.nccl-version", "2.28.3");
        Run run = run("all_reduce -g 2 -b 64K -e 64K -n 2 -R 2 -x 2 -u 1 -G 2");
        assertThat(run.code()).as(run.out() + run.err()).isZero();
        assertThat(run.rows())
                .singleElement()
                .satisfies(row -> assertThat(row[8]).isEqualTo("0"));
    }

    @ParameterizedTest
    @CsvSource({"-R 2, 2.27.0, 2.21.5", "-x 1, 2.27.0, 2.26.2", "-x 2, 2.28.0, 2.27.3"})
    void olderLibraryIsNamedWithTheOneThatIsNeeded(String option, String needed, String version) {
        node.set("node.nccl-version", version);
        Run run = run("all_reduce -g 2 -b 1K -e 1K " + option);
        assertThat(run.code()).isEqualTo(6);
        assertThat(run.err())
                .startsWith("gpuwarden: " + option + " needs NCCL " + needed + " or newer, and this is " + version);
    }

    @Test
    void ranksOfAProcessAreSplitIntoGroups() {
        Run run = run(Map.of("NCCL_TESTS_SPLIT", "MOD 2"), "all_gather -t 2 -g 3 -b 6K -e 6K -n 2");
        assertThat(run.code()).as(run.out() + run.err()).isZero();
        assertThat(run.out()).contains("#  Rank  2 Group  0", "#  Rank  5 Group  1");
        // With three ranks in a group a part has 512 elements; with six it would have 256.
        assertThat(run.rows()).singleElement().satisfies(row -> {
            assertThat(row[1]).isEqualTo("512");
            assertThat(row[8]).isEqualTo("0");
        });
    }

    @Test
    void groupsOfDifferentSizesRunTheSameRows() {
        Map<String, String> split = Map.of("NCCL_TESTS_SPLIT", "DIV 3");
        assertThat(run(split, "all_reduce -g 5 -b 1K -e 4K -f 2 -n 1").rows()).hasSize(3);
        Run hypercube = run(split, "hypercube -g 5 -b 1K -e 1K -n 1");
        assertThat(hypercube.out()).contains("nRanks 3 is not a power of 2, skipping");
        Run roots = run(split, "broadcast -g 5 -b 1K -e 1K -n 1 -r -1");
        assertThat(roots.code()).isEqualTo(6);
        assertThat(roots.err()).contains("-r -1 needs groups of one size", "[3, 2]");
        assertThat(run(split, "broadcast -g 5 -b 1K -e 1K -n 1 -r 2").err())
                .contains("-r must be below the number of ranks of the smallest group, 2");
    }

    @Test
    void wrongDataOfAnotherGroupIsCounted() {
        node.set("gpu.1.nccl.wrong", "5");
        Run run = run(Map.of("NCCL_TESTS_SPLIT_MASK", "0x1"), "all_reduce -g 4 -b 1K -e 1K -n 1");
        assertThat(run.code()).as(run.out() + run.err()).isEqualTo(7);
        assertThat(run.rows().get(0)[8]).isEqualTo("5");
    }

    @Test
    void everyTypeAndOperatorHasTheRightData() {
        Run run = run("all_reduce -g 3 -b 12K -e 12K -n 1 -w 0 -d all -o all");
        assertThat(run.code()).as(run.out() + run.err()).isZero();
        assertThat(run.rows())
                .hasSize(10 * 6)
                .allSatisfy(row -> assertThat(row[8]).isEqualTo("0"));
    }

    @Test
    void wrongDataIsCountedAndFails() {
        node.set("gpu.1.nccl.wrong", "5");
        Run run = run("all_reduce -g 2 -b 1K -e 1K -n 1");
        assertThat(run.code()).as(run.out() + run.err()).isEqualTo(7);
        assertThat(run.rows().get(0)[8]).isEqualTo("5");
        assertThat(run.out()).contains("# Out of bounds values : 2 FAILED\n");
    }

    @Test
    void aGpuThatTakesNoPartEndsByTheTimeLimit() {
        node.set("gpu.1.nccl.dead", "yes");
        Run run = run("all_reduce -g 2 -b 1K -e 1K -T 1");
        assertThat(run.code()).as(run.out() + run.err()).isEqualTo(4);
        assertThat(run.err()).contains("is not done after 1000 ms");
    }

    @Test
    void anErrorOfAGpuIsTheError() {
        // A GPU of its own: the error stays in this process.
        node.set("gpu.7.cuda.error", "ecc-uncorrectable");
        Run run = run(Map.of("NCCL_TESTS_DEVICE", "7"), "all_reduce -g 1 -b 1K -e 1K");
        assertThat(run.code()).as(run.out() + run.err()).isEqualTo(2);
        assertThat(run.err()).contains("CUDA_ERROR_ECC_UNCORRECTABLE");
    }

    @Test
    void thereMustBeEnoughGpus() {
        Run run = run("all_reduce -t 3 -g 3");
        assertThat(run.code()).isEqualTo(5);
        assertThat(run.err()).contains("9 requested but only 8 were found");
    }

    @Test
    void everyOptionOfTheMeasurementIsAccepted() throws Exception {
        Path json = folder.resolve("result.json");
        Files.writeString(json, "an older result");
        Path svg = folder.resolve("picture.svg");
        Run run = run(
                "all_reduce -t 2 -g 1 -b 1K -e 2K -f 2 -n 3 -m 2 -w 2 -N 2 -c 2 -z 3 -y 1 -p 1 -a 3 -C 1 -S 1 -R 1 -M 1"
                        + " -I 1 -K 1 -T 30 -J " + json + " --svg " + svg);
        assertThat(run.code()).as(run.out() + run.err()).isZero();
        assertThat(json).hasContent("an older result");
        Map<String, Object> tree = JsonReader.ofDepth(8).readObject(Files.readString(folder.resolve("result.json.0")));
        assertThat((List<?>) tree.get("results")).hasSize(4);
        assertThat((List<?>) tree.get("devices")).hasSize(2);
        assertThat(svg).content().startsWith("<svg ").contains("all_reduce, float, sum, 2 ranks");
        assertThat(run.out()).contains("# Writing JSON output to " + json + ".0\n", "GPU memory usage");
    }

    /** Runs this command in so many processes, as threads, and returns the first one's run. */
    private Run processes(int count, Map<String, String> environment, String arguments) throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        String common = arguments + " --rendezvous 127.0.0.1:" + port + " --ranks " + count + " --rank ";
        List<Future<Run>> others = new ArrayList<>();
        for (int process = 1; process < count; process++) {
            String one = common + process;
            others.add(processes.submit(() -> run(environment, one)));
        }
        Run first = run(environment, common + 0);
        assertThat(first.code()).as(first.out() + first.err()).isZero();
        for (Future<Run> other : others) {
            assertThat(other.get().code()).isZero();
            assertThat(other.get().out()).isEmpty();
        }
        return first;
    }

    @Test
    void processesMeetAndOnlyTheFirstPrints() throws Exception {
        Run first = processes(2, Map.of(), "reduce_scatter -g 2 -b 8K -e 8K -n 2");
        assertThat(first.out()).contains("#  Rank  3 Group  0");
        assertThat(first.rows()).hasSize(1);
    }

    @Test
    void severalProcessesAreSplitAsAWhole() throws Exception {
        Run first = processes(3, Map.of("NCCL_TESTS_SPLIT", "MOD 2"), "all_gather -g 2 -b 8K -e 8K -n 2");
        assertThat(first.out())
                .contains("#  Rank  1 Group  0", "#  Rank  2 Group  1", "#  Rank  3 Group  1", "#  Rank  5 Group  0");
        assertThat(first.rows()).singleElement().satisfies(row -> {
            assertThat(row[1]).isEqualTo("512");
            assertThat(row[8]).isEqualTo("0");
        });
    }

    @ParameterizedTest
    @CsvSource({"0, only 1 of 2 processes came within 1 s; missing: rank 1", "1, no answer of rank 0 at 127.0.0.1:"})
    void aProcessWhosePeerNeverComesEndsByTheJoinTimeout(int rank, String reason) throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        Run run = run("all_reduce -b 1K -e 1K --join-timeout 1s --ranks 2 --rank " + rank + " --rendezvous 127.0.0.1:"
                + port);
        assertThat(run.code()).as(run.out() + run.err()).isEqualTo(4);
        assertThat(run.err()).startsWith("gpuwarden: " + reason);
        assertThat(run.out()).isEmpty();
    }
}
