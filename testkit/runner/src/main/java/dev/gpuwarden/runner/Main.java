package dev.gpuwarden.runner;

import dev.gpuwarden.runner.Arguments.UsageError;
import dev.gpuwarden.runner.compile.Edits.CompileError;
import dev.gpuwarden.runner.compile.Workspace;
import dev.gpuwarden.runner.jvm.SuppressForbidden;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;

/**
 * Runs tests of the source tree. Arguments: the folder of the root pom, the folder of the tools, then what the user typed behind
 * `./gpuwarden test`.
 */
public final class Main {

    private Main() {}

    /** Runs the tests; exit code 0 passed, 1 failed, 2 usage. */
    @SuppressForbidden("the launcher reads the exit code, and users the output")
    public static void main(String[] arguments) throws IOException, InterruptedException {
        List<String> words = List.of(arguments);
        Runtime.getRuntime()
                .addShutdownHook(new Thread(
                        () -> ProcessHandle.current().descendants().forEach(ProcessHandle::destroy), "end-of-tests"));
        Workspace workspace = new Workspace(Path.of(words.get(0)), Path.of(words.get(1)));
        System.exit(run(workspace, words.subList(2, words.size()), System.out, System.err));
    }

    static int run(Workspace workspace, List<String> words, PrintStream out, PrintStream err)
            throws IOException, InterruptedException {
        Console console = new Console(out);
        try {
            Arguments arguments = Arguments.parse(words);
            boolean passed = arguments.module().isPresent()
                    ? new InnerLoop(workspace, console).run(arguments)
                    : new Suite(workspace, console).run(arguments.tiers());
            return passed ? 0 : 1;
        } catch (UsageError e) {
            err.println("gpuwarden test: " + e.getMessage());
            return 2;
        } catch (CompileError e) {
            err.println(e.getMessage());
            return 1;
        }
    }
}
