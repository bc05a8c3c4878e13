package dev.gpuwarden.checks.child;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.child.ChildRun.End;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ChildRunTest {

    private static final Map<String, String> ENVIRONMENT =
            Map.of("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", "NODE_NAME", "n1");
    private static final Duration LONG = Duration.ofSeconds(30);

    @TempDir
    Path folder;

    private ChildRun run(Duration timeout, String... lines) throws InterruptedException {
        Path script = Programs.script(folder.resolve("check.sh"), lines);
        return ChildRun.of(List.of(script.toString(), "one", "two words"), folder, ENVIRONMENT, timeout);
    }

    /** Runs a script that is cut off once it has written these files and their output is read, however slow the machine is. */
    private ChildRun cutOff(ChildRun.Stop stop, List<String> files, String... lines) throws InterruptedException {
        AtomicBoolean written = new AtomicBoolean();
        ChildRun.Stop once = stop.with(
                ChildRun.MOST_OUTPUT,
                () -> files.stream()
                                .allMatch(file -> folder.resolve(file).toFile().length() > 0)
                        && written.getAndSet(true));
        Path script = Programs.script(folder.resolve("check.sh"), lines);
        ChildRun run = ChildRun.of(List.of(script.toString()), folder, ENVIRONMENT, LONG, once);
        assertThat(run.end()).isEqualTo(new End.CutOff("was stopped"));
        return run;
    }

    /** The process whose number the script wrote is gone, or is as good as gone. */
    private void assertGone(String file) throws Exception {
        String number = Files.readString(folder.resolve(file)).strip();
        for (int i = 0; i < 200 && lives(number); i++) {
            new ProcessBuilder("sleep", "0.01").start().waitFor();
        }
        assertThat(lives(number)).as("process " + number).isFalse();
    }

    private static boolean lives(String number) {
        Optional<ProcessHandle> process = ProcessHandle.of(Long.parseLong(number));
        return process.isPresent() && process.get().isAlive() && !zombie(number);
    }

    private static boolean zombie(String number) {
        try {
            return Files.readString(Path.of("/proc", number, "stat")).contains(") Z ");
        } catch (java.io.IOException e) {
            return true;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 77, 255})
    void returnsExitCodeAndBothOutputs(int code) throws Exception {
        ChildRun run = run(LONG, "echo out of $NODE_NAME: $2", "echo err >&2", "exit " + code);
        assertThat(run).isEqualTo(new ChildRun(new End.Exited(code), "out of n1: two words\n", "err\n"));
    }

    @Test
    void environmentIsAsGivenAndInputIsEmpty() throws Exception {
        ChildRun run = run(LONG, "cat", "env | cut -d= -f1 | sort | tr '\\n' ' '", "pwd", "nice");
        assertThat(run.out().lines().toList())
                .containsExactly("GPUWARDEN_RUN NODE_NAME PATH PWD " + folder.toRealPath(), "10");
    }

    @Test
    void hangingProgramIsEndedWithItsChildren() throws Exception {
        ChildRun run = cutOff(
                ChildRun.Stop.KILL,
                List.of("child", "grandchild"),
                "trap '' TERM HUP INT",
                "echo so far",
                "sh -c 'trap \"\" TERM; echo $$ >grandchild; while :; do sleep 1; done' &",
                "echo $$ >child",
                "wait");
        assertThat(run.out()).isEqualTo("so far\n");
        assertGone("child");
        assertGone("grandchild");
    }

    @Test
    void programThatTakesTooLongIsCutOff() throws Exception {
        assertThat(run(Duration.ofMillis(300), "sleep 1000").end())
                .isEqualTo(new End.CutOff("did not end within 300ms"));
    }

    @Test
    void floodingOutputIsCutOff() throws Exception {
        ChildRun run = run(LONG, "yes 'nothing wrong here, everything passed'");
        assertThat(run.end()).isEqualTo(new End.CutOff("wrote more than 64 KiB"));
        assertThat(run.out()).hasSize(ChildRun.MOST_OUTPUT + 1);
        assertThat(run(LONG, "yes >&2").end()).isEqualTo(new End.CutOff("wrote more than 64 KiB"));
    }

    @Test
    void outputAtTheBoundIsAccepted() throws Exception {
        ChildRun run = run(LONG, "head -c " + ChildRun.MOST_OUTPUT + " /dev/zero | tr '\\0' x; exit 3");
        assertThat(run.end()).isEqualTo(new End.CutOff("wrote more than 64 KiB"));
        run = run(LONG, "head -c " + (ChildRun.MOST_OUTPUT - 1) + " /dev/zero | tr '\\0' x; exit 3");
        assertThat(run.end()).isEqualTo(new End.Exited(3));
    }

    @Test
    void leftoverProcessesEnd() throws Exception {
        ChildRun run = run(LONG, "sleep 1000 &", "echo $! >left", "echo done", "exit 0");
        assertThat(run).isEqualTo(new ChildRun(new End.Exited(0), "done\n", ""));
        assertGone("left");
    }

    /** A session of its own, and a parent that has gone: neither group nor descent leads to it. */
    @Test
    void processInAnotherSessionEnds() throws Exception {
        ChildRun run = run(
                LONG,
                "setsid sh -c 'echo $$ >escaped; exec sleep 1000' </dev/null >/dev/null 2>&1 &",
                "(setsid sh -c 'sleep 1000 & echo $! >orphan' </dev/null >/dev/null 2>&1 &)",
                "while [ ! -s escaped ] || [ ! -s orphan ]; do sleep 0.01; done",
                "exit 0");
        assertThat(run).isEqualTo(new ChildRun(new End.Exited(0), "", ""));
        assertGone("escaped");
        assertGone("orphan");
    }

    @Test
    void processInAnotherSessionEndsWhenTheRunIsCutOff() throws Exception {
        cutOff(
                ChildRun.Stop.KILL,
                List.of("escaped"),
                "setsid sh -c 'echo $$ >escaped; exec sleep 1000' </dev/null >/dev/null 2>&1 &",
                "sleep 1000");
        assertGone("escaped");
    }

    /** Another run's are not its own. */
    @Test
    void runDoesNotEndProcessesOfAnother() throws Exception {
        ProcessBuilder other = new ProcessBuilder("sleep", "1000");
        other.environment().put(OrphanProcesses.VARIABLE, new OrphanProcesses().mark());
        Process process = other.start();
        try {
            var unused = run(LONG, "exit 0");
            assertThat(process.isAlive()).isTrue();
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void escapedFloodCostsNoMemory() throws Exception {
        long before = Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
        ChildRun run = run(LONG, "setsid sh -c 'echo $$ >escaped; exec yes' &", "while [ ! -s escaped ]; do :; done");
        assertThat(run.out().length()).isLessThanOrEqualTo(ChildRun.MOST_OUTPUT + 1);
        // Its pipe is closed: the next write ends it.
        assertGone("escaped");
        assertThat(Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory() - before)
                .isLessThan(64L * 1024 * 1024);
    }

    @Test
    void endMarkCannotBeForged() throws Exception {
        ChildRun run = run(LONG, "printf '\\0' >&2", "sleep 1000");
        assertThat(run.end()).isEqualTo(new End.CutOff("wrote binary data to its error output"));
    }

    @Test
    void killedProgramHasNoExitCode() throws Exception {
        assertThat(run(LONG, "kill -9 $$").end())
                .isEqualTo(new End.CutOff("was killed, for example by the kernel for lack of memory"));
        assertThat(run(LONG, "kill -11 $$").end()).isEqualTo(new End.Exited(139));
    }

    @Test
    void interruptEndsTheProgram() throws Exception {
        Thread.currentThread().interrupt();
        Path script = Programs.script(folder.resolve("check.sh"), "echo $$ >child", "sleep 1000");
        org.assertj.core.api.Assertions.assertThatThrownBy(
                        () -> ChildRun.of(List.of(script.toString()), folder, ENVIRONMENT, LONG))
                .isInstanceOf(InterruptedException.class);
        if (folder.resolve("child").toFile().length() > 0) {
            assertGone("child");
        }
    }

    @Test
    void programWithGraceUndoesItsChangesWhenItIsCutOff() throws Exception {
        ChildRun.Stop stop = ChildRun.Stop.after(Duration.ofSeconds(20));
        cutOff(
                stop,
                List.of("ready"),
                "trap 'echo undone >undone; exit 0' TERM",
                "echo >ready",
                "sleep 1000 &",
                "wait");
        assertThat(folder.resolve("undone")).hasContent("undone");
        ChildRun whole = ChildRun.of(List.of("/bin/sh", "-c", "echo out; exit 3"), folder, ENVIRONMENT, LONG, stop);
        assertThat(whole).isEqualTo(new ChildRun(new End.Exited(3), "out\n", ""));
    }

    @Test
    void graceIsBounded() throws Exception {
        cutOff(
                ChildRun.Stop.after(Duration.ofSeconds(1)),
                List.of("child"),
                "trap '' TERM",
                "echo $$ >child",
                "while :; do sleep 0.1; done");
        assertGone("child");
    }

    @Test
    void badUtf8IsReplaced() throws Exception {
        assertThat(run(LONG, "printf 'a\\377b'").out()).isEqualTo("a\uFFFDb");
    }

    @Test
    void missingProgramIsReported() throws Exception {
        Path file = Programs.file(folder.resolve("broken"), "rwxr-xr-x", "#!/no/such/interpreter\n");
        ChildRun run = ChildRun.of(List.of(file.toString()), folder, ENVIRONMENT, LONG);
        assertThat(run.end()).isEqualTo(new End.Exited(127));
        assertThat(ChildRun.of(List.of("/bin/true"), folder.resolve("nowhere"), ENVIRONMENT, LONG)
                        .end())
                .isInstanceOf(End.NotStarted.class);
    }
}
