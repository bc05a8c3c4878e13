package dev.gpuwarden.nccl.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.cli.CommandGroup;
import dev.gpuwarden.cli.Main;
import dev.gpuwarden.cli.NamedCommand;
import dev.gpuwarden.cli.SettingSources;
import dev.gpuwarden.core.port.CollectiveDriver;
import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.core.port.Opening.Reason;
import dev.gpuwarden.core.port.Opening.Unavailable;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** The command without a library: usage, and the remedy for a missing one. */
class BenchCommandTest {

    private record Run(int code, String out, String err) {}

    private static Run run(Opening<CollectiveDriver> opening, Map<String, String> environment, String... arguments) {
        CommandGroup group = () -> List.of(new NamedCommand(
                "bench", () -> new BenchCommand(() -> options -> opening, environment, Clock.systemUTC())));
        CommandLine line =
                Main.commandLine(SettingSources.none(), List.of(group).iterator());
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        line.setOut(new PrintWriter(out));
        line.setErr(new PrintWriter(err));
        int code = line.execute(
                Stream.concat(Stream.of("bench"), Stream.of(arguments)).toArray(String[]::new));
        return new Run(code, out.toString(), err.toString());
    }

    private static Run run(String... arguments) {
        return run(new Unavailable<>(Reason.LIBRARY_MISSING, 0, "no libnccl.so.2 in /x"), Map.of(), arguments);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "all_reduce -Q 1",
                "all_reduce -n many",
                "all_reduce -b 8T",
                "all_reduce -b 9 -e 8",
                "all_reduce -o xor",
                "all_reduce -d quad",
                "all_reduce -t 0",
                "all_reduce -z 4",
                "all_reduce -u -1",
                "all_reduce -x 3",
                "all_reduce -R 3",
                "all_reduce -G -1",
                "all_reduce -G 1 -z 1",
                "all_reduce -G 1 -y 1",
                "all_reduce -G 1 -I 1",
                "all_reduce -I 1 -K 20",
                "all_reduce -b 0 -e 1G -i 1",
                "all_reduce --rank 1",
                "all_scatter",
                ""
            })
    void wrongUsagePrintsTheUsageAndExitsWith6(String arguments) {
        Run run = run(arguments.split(" "));
        assertThat(run.code()).as(run.err()).isEqualTo(6);
        assertThat(run.err()).startsWith("gpuwarden: ").contains("--minbytes", "--timeout");
        assertThat(run.out()).isEmpty();
    }

    @Test
    void helpIsNoMistake() {
        Run run = run("--help");
        assertThat(run.code()).isZero();
        assertThat(run.out()).contains("-T, --timeout=SECONDS");
    }

    @Test
    void variablesOfNcclTestsAreChecked() {
        Opening<CollectiveDriver> none = new Unavailable<>(Reason.LIBRARY_MISSING, 0, "no libnccl.so.2 in /x");
        assertThat(run(none, Map.of("NCCL_TESTS_MIN_BW", "fast"), "all_reduce").code())
                .isEqualTo(6);
        assertThat(run(none, Map.of("NCCL_TESTS_DEVICE", "-1"), "all_reduce").err())
                .contains("NCCL_TESTS_DEVICE must be a number");
    }

    @Test
    void kernelsThatCommunicateByThemselvesAreRefused() {
        Run run = run("all_reduce", "-D", "1");
        assertThat(run.code()).isEqualTo(5);
        assertThat(run.err()).contains("-D 1 is not implemented", "use -D 0");
    }

    @Test
    void aMissingLibraryNamesTheRemedy() {
        Run nccl = run("all_reduce", "-g", "8");
        assertThat(nccl.code()).isEqualTo(3);
        assertThat(nccl.err()).contains("no libnccl.so.2 in /x", "--nccl.library-path", "nvidia-nccl-cu12");
        Run cuda =
                run(new Unavailable<>(Reason.LIBRARY_MISSING, 0, "no libcuda.so.1 in /x"), Map.of(), "all_reduce_perf");
        assertThat(cuda.code()).isEqualTo(2);
        assertThat(cuda.err()).contains("no libcuda.so.1 in /x", "--driver.library-path");
    }
}
