package dev.gpuwarden.checks.process;

import dev.gpuwarden.checks.node.NodePaths;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Files of a node for tests, and a clock that stands still. */
public final class NodeTree {

    private final Path root;
    private long nanos = TimeUnit.DAYS.toNanos(1);

    public NodeTree(Path root) {
        this.root = root;
        uptime(100_000);
    }

    public NodePaths paths() {
        return NodePaths.of(root.resolve("proc"), root.resolve("sys"), root.resolve("log/pods"));
    }

    public LongSupplier clock() {
        return () -> nanos;
    }

    void advance(long seconds) {
        nanos += TimeUnit.SECONDS.toNanos(seconds);
    }

    final void uptime(double seconds) {
        write("proc/uptime", seconds + " 1.0\n");
    }

    /** @param startTicks in hundredths of a second since boot */
    public NodeTree process(int pid, long startTicks, String command, String cgroup) {
        write("proc/" + pid + "/stat", stat(pid, startTicks, command));
        write("proc/" + pid + "/comm", command + "\n");
        write("proc/" + pid + "/cgroup", cgroup + "\n");
        return this;
    }

    /** Gives a process a number in each of these PID namespaces, the outermost first. */
    void namespaces(int pid, int... numbers) {
        StringBuilder line = new StringBuilder("NSpid:");
        for (int number : numbers) {
            line.append('\t').append(number);
        }
        write("proc/" + pid + "/status", "Name:\tpython\n" + line + "\nNSpgid:\t" + pid + "\n");
    }

    static String stat(int pid, long startTicks, String command) {
        return pid + " (" + command + ") S 1 " + pid + " 1 0 -1 4194560 1 0 0 0 10 20 0 0 20 0 3 0 " + startTicks
                + " 1000 50 18446744073709551615\n";
    }

    void end(int pid) throws IOException {
        for (String file : new String[] {"stat", "comm", "cgroup"}) {
            Files.deleteIfExists(root.resolve("proc/" + pid + "/" + file));
        }
        Files.delete(root.resolve("proc/" + pid));
    }

    public NodeTree pod(String namespace, String name, String uid, String... containers) {
        for (String container : containers) {
            folder("log/pods/" + namespace + "_" + name + "_" + uid + "/" + container);
        }
        return this;
    }

    void containerLog(String name) {
        write("log/containers/" + name, "");
    }

    void folder(String path) {
        try {
            Files.createDirectories(root.resolve(path));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void write(String path, String text) {
        try {
            Files.createDirectories(root.resolve(path).getParent());
            Files.writeString(root.resolve(path), text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Path resolve(String path) {
        return root.resolve(path);
    }
}
