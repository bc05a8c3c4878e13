package dev.gpuwarden.benchmarks;

import dev.gpuwarden.testkit.Execution;
import dev.gpuwarden.testkit.sim.SimTable;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * A simulated server without a cluster, with a daemon that is armed for repairs and for VRAM budgets. Programs in place of `systemctl`,
 * `systemd-run` and `nvidia-smi` record each call and do nothing. While it is attacked nothing real asks for an act, so each is wrong.
 */
final class ArmedServer implements AutoCloseable {

    /** A card that is nearly full of honest tenants, and one that is full of a container that poses as a unit of the host. */
    private static final String SCENARIO = """
            description: a server with two L4 and several tenants
            driver: 550
            gpus: [{profile: l4, count: 2}]
            processes:
              - {pid: 5001, gpu: 0, bytes: 2000MiB, command: innocent, unit: innocent.service}
              - {pid: 5002, gpu: 0, bytes: 19300MiB, command: filler, unit: filler.service}
              - {pid: 5003, gpu: 1, bytes: 2000MiB, command: innocent, unit: innocent.service}
              - {pid: 5004, gpu: 1, bytes: 10GiB, command: innocent, cgroup: "/lxc/101/ns/system.slice/innocent.service"}
              - {pid: 5005, gpu: 1, bytes: 9000MiB, command: innocent, cgroup: "/user.slice/user-1000.slice/user@1000.service/app.slice/innocent.service"}
            """;

    private static final String BUDGETS =
            "tenants:\n  - {unit: innocent.service, budget: 3000Mi}\n  - {unit: filler.service, budget: 20000Mi}\n";
    private static final String RECORD = """
            #!/bin/sh
            case "$*" in
            is-active*) echo inactive && exit 3 ;;
            -q* | -L*) exit 0 ;;
            esac
            echo "${0##*/} $*" >>"$(dirname "$0")/acts"
            """;
    private static final List<String> PROGRAMS = List.of("systemctl", "systemd-run", "nvidia-smi", "scancel");
    private static final long[] IMPOSSIBLE_MIB = {4L << 20, 23_000, 1L << 15, 21_500, 20_000};
    private static final long MIB = 1L << 20;

    private final SimulatedNode node;
    private final Path folder;
    private final ShippedDaemon daemon;
    private final Random chance = new Random(3);

    private ArmedServer(SimulatedNode node, Path folder, ShippedDaemon daemon) {
        this.node = node;
        this.folder = folder;
        this.daemon = daemon;
    }

    /**
     * Starts the server; blocks until its daemon serves.
     *
     * @param folder an empty folder
     * @param more options of its daemon, which override the others
     * @throws IOException if the daemon does not start, with its log
     */
    static ArmedServer start(Path folder, List<String> more) throws IOException {
        Path bin = Files.createDirectories(folder.resolve("bin"));
        for (String name : PROGRAMS) {
            Path program = Files.writeString(bin.resolve(name), RECORD);
            Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
        Path scenario = Files.writeString(folder.resolve("server.yaml"), SCENARIO);
        Path budgets = Files.writeString(folder.resolve("budgets.yaml"), BUDGETS);
        SimulatedNode node = SimulatedNode.start(scenario.toString(), folder.resolve("node"));
        // Other users reach its socket, which has the mode that a shared server may give it.
        Files.setPosixFilePermissions(node.root(), PosixFilePermissions.fromString("rwx--x--x"));
        List<String> options = new ArrayList<>(List.of(
                "--grpc.socket-mode=0666",
                "--events.socket=" + folder.resolve("events.sock"),
                "--store.path=" + folder.resolve("events.db"),
                "--check.interval=gpu-state=1s",
                "--repair.mode=armed",
                "--repair.settle=1s",
                "--repair.patience=1s",
                "--repair.attempts=10",
                "--repair.most-per-day=100",
                "--repair.reboot=always",
                "--reset.state=" + folder.resolve("state"),
                "--vram.mode=armed",
                "--vram.grace=1s",
                "--vram.rules=cooldown=5s,most-per-hour=100,most-quick-returns=100,release-within=1s",
                "--vram.budgets=" + budgets));
        options.addAll(more);
        try {
            ShippedDaemon daemon = ShippedDaemon.start(
                    node,
                    options,
                    Map.of(
                            "PATH",
                            bin + ":" + System.getenv("PATH"),
                            "GPUWARDEN_RESET_NVIDIA_SMI",
                            bin.resolve("nvidia-smi").toString()));
            return new ArmedServer(node, folder, daemon);
        } catch (IOException | RuntimeException | Error e) {
            node.close();
            throw e;
        }
    }

    SimulatedNode node() {
        return node;
    }

    ShippedDaemon daemon() {
        return daemon;
    }

    /** Returns the socket for events of programs that may accuse. */
    Path events() {
        return folder.resolve("events.sock");
    }

    /** Returns the calls that its programs got, in order, as `systemctl reboot`. */
    List<String> acts() throws IOException {
        Path acts = folder.resolve("bin/acts");
        return Files.exists(acts) ? Files.readAllLines(acts) : List.of();
    }

    /** Returns the JSON of its present faults; empty while it does not answer. */
    synchronized Optional<String> faults() {
        return daemon.get("/api/v1/faults");
    }

    /** Pauses the daemon for two to four seconds, as a paused virtual machine does. */
    synchronized void pause() throws InterruptedException {
        daemon.pause();
        try {
            TimeUnit.MILLISECONDS.sleep(2000 + chance.nextInt(2000));
        } finally {
            daemon.resume();
        }
    }

    /** Has the driver report more memory for a process than its card has, or than all have in use, for some seconds. */
    void impossible() throws InterruptedException {
        int row = chance.nextInt((int) node.control().table().number("header.process_count"));
        long mib = IMPOSSIBLE_MIB[chance.nextInt(IMPOSSIBLE_MIB.length)];
        long before = set(row, mib * MIB);
        TimeUnit.MILLISECONDS.sleep(1000 + chance.nextInt(3000));
        var unused = set(row, before);
    }

    /** Sets the memory of a process alone, and returns the value before: the card's memory in use stays. */
    private long set(int row, long bytes) {
        SimTable table = node.control().table();
        String path = String.format(Locale.ROOT, "process[%d].bytes", row);
        long before = table.number(path);
        table.change(all -> all.set(path, bytes));
        return before;
    }

    /** Appends lines to a log that any user can write by `logger`, as the daemon follows it with `--kernel-log.source=file`. */
    static void append(Path log, List<String> lines) throws IOException {
        Files.write(log, lines, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    /** Starts a process as the user `nobody`, through which root's clients open the query socket as that user. */
    Process asNobody(Path script, Path listen) throws IOException {
        return new ProcessBuilder(
                        "python3",
                        script.toString(),
                        "65534",
                        listen.toString(),
                        daemon.socket().toString())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("as-user.log").toFile())
                .start();
    }

    @Override
    public void close() {
        daemon.close();
        node.close();
    }

    /** Ends a process that runs until its standard input ends. */
    static void end(Process process) throws IOException {
        process.getOutputStream().close();
        Execution.end(process, 5);
    }
}
