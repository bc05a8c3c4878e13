package dev.gpuwarden.daemon.view;

import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.checks.process.ProcessOwners;
import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.core.process.ProcessFacts;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;

/** The names of processes for operators: the number, the program, and the pod, container, unit or job. */
public final class ProcessNames {

    /** Closes a GPU when its persistence mode is turned off, as a reset does (NVIDIA/NVSentinel#1690). */
    public static final String PERSISTENCE_DAEMON = "nvidia-persistenced";

    /** The kernel keeps fewer letters than 16 of a name (TASK_COMM_LEN). */
    private static final int KERNEL_KEEPS = 15;

    private ProcessNames() {}

    /** Returns a reader of the names of running processes. A name lacks what cannot be read. The reader is thread-safe. */
    public static IntFunction<String> of(NodePaths paths) {
        ProcessOwners owners = new ProcessOwners(paths);
        return pid -> owners.lookUp(Map.of(pid, 0L)).values().stream()
                .map(facts -> facts.owner() instanceof Owner.Unknown ? program(pid, facts) : text(pid, facts))
                .findFirst()
                .orElse("process " + pid);
    }

    /** Returns the name of a process with these facts. */
    public static String text(int pid, ProcessFacts facts) {
        if (facts.owner() instanceof Owner.Unknown unknown) {
            return program(pid, facts) + ", whose owner is unknown: " + unknown.cause();
        }
        boolean pod = facts.owner() instanceof Owner.Pod named
                && named.name().asOptional().isPresent();
        return program(pid, facts) + " of " + (pod ? "pod " : "") + OwnerView.text(facts.owner());
    }

    /** Returns true if a process runs a program of this name, which the process itself may have chosen. */
    public static boolean isProgram(int pid, ProcessFacts facts, String name) {
        String command = facts.command().asOptional().or(() -> command(pid)).orElse("");
        String file = command.substring(command.lastIndexOf('/') + 1);
        return file.equals(name) || file.length() == KERNEL_KEEPS && name.startsWith(file);
    }

    private static String program(int pid, ProcessFacts facts) {
        return "process " + pid
                + facts.command()
                        .asOptional()
                        .or(() -> command(pid))
                        .map(command -> " (" + command + ")")
                        .orElse("");
    }

    private static Optional<String> command(int pid) {
        return ProcessHandle.of(pid).flatMap(handle -> handle.info().command());
    }
}
