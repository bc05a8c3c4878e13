package dev.gpuwarden.daemon.vram;

import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.daemon.vram.budgets.EngineNames;
import dev.gpuwarden.daemon.vram.budgets.NodeBudgets;
import dev.gpuwarden.daemon.vram.engine.ContainerEngine;
import dev.gpuwarden.watchdog.budget.TermsSource;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The file of budgets. */
public final class BudgetOptions {

    @Option(
            names = "--vram.budgets",
            paramLabel = "FILE",
            description = "YAML file with VRAM budgets of units, containers, Slurm jobs and processes by name."
                    + " With it, the daemon watches the memory of its GPUs.")
    @Nullable Path file;

    @Option(
            names = "--vram.docker-socket",
            defaultValue = "/run/docker.sock",
            paramLabel = "SOCKET",
            description =
                    "Unix socket of Docker, for names of containers and their restart (default: ${DEFAULT-VALUE}).")
    Path docker = Path.of("/run/docker.sock");

    @Option(
            names = "--vram.podman-socket",
            defaultValue = "/run/podman/podman.sock",
            paramLabel = "SOCKET",
            description = "Unix socket of Podman's service, for the same (default: ${DEFAULT-VALUE}).")
    Path podman = Path.of("/run/podman/podman.sock");

    boolean given() {
        return file != null;
    }

    /**
     * Returns the budgets of the file; none without a file.
     *
     * @throws UserError with file and line of the first error
     */
    public Optional<NodeBudgets> read(NodePaths paths) {
        return Optional.ofNullable(file)
                .map(named -> NodeBudgets.read(
                        named, new EngineNames(engines()), paths.procfs(), paths.sysfs(), System::nanoTime));
    }

    /** Returns the same as a list. */
    public List<TermsSource> sources(NodePaths paths) {
        return List.copyOf(read(paths).stream().toList());
    }

    /** Returns the engines whose containers can have budgets. */
    List<ContainerEngine> engines() {
        return List.of(new ContainerEngine("docker", docker), new ContainerEngine("podman", podman));
    }
}
