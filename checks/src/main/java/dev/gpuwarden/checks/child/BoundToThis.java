package dev.gpuwarden.checks.child;

import java.util.ArrayList;
import java.util.List;

/**
 * A command line that ends with this process, however this process ends. The caller leaves the input of the process open: a shell reads it
 * in the background, and ends the program with SIGTERM when the end of this process closes it. SIGTERM to the shell ends the program too.
 * Its output and its exit code are those of the program.
 */
public final class BoundToThis {

    private static final String SHELL = """
            end() {
                kill $p 2>/dev/null
                kill -9 $watch 2>/dev/null
                exit 143
            }
            trap end TERM
            exec 3<&0
            { read x <&3; kill -TERM $$; } </dev/null >/dev/null 2>&1 &
            watch=$!
            "$@" </dev/null 3<&- &
            p=$!
            wait $p
            s=$?
            kill -9 $watch
            exit $s
            """;

    private BoundToThis() {}

    /** Returns the command line for this program and its arguments. */
    public static List<String> command(List<String> program) {
        List<String> command = new ArrayList<>(List.of("/bin/sh", "-c", SHELL, "gpuwarden-bound"));
        command.addAll(program);
        return command;
    }
}
