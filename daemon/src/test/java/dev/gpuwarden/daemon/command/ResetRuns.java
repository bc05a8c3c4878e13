package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.JsonReader;
import dev.gpuwarden.daemon.app.ChildJvm;
import dev.gpuwarden.daemon.app.RunningDaemon;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Runs of {@code gpuwarden gpu-reset} as a process, on a simulated node.
 *
 * @param folder for the error output
 */
record ResetRuns(SimulatedNode node, Path folder) {

    /** The end of a run. */
    record Ended(int code, Map<String, Object> report, String err) {
        String step(String name) {
            return steps().stream()
                    .filter(step -> name.equals(step.get("name")))
                    .map(step -> (Boolean.TRUE.equals(step.get("done")) ? "done: " : "failed: ") + step.get("detail"))
                    .findFirst()
                    .orElse("missing");
        }

        @SuppressWarnings("unchecked")
        List<Map<String, Object>> steps() {
            return (List<Map<String, Object>>) report.getOrDefault("steps", List.of());
        }
    }

    /** Starts the daemon of the node, which has read its GPUs. */
    RunningDaemon daemon() throws IOException, InterruptedException {
        RunningDaemon daemon = RunningDaemon.start(node, "--path.devices=" + node.devices(), "--check.only=gpu-state");
        daemon.awaitReady();
        return daemon;
    }

    /** Returns the arguments of the command that `gpuwarden status` prints for a reset of the GPU. */
    List<String> instruction(String gpu) throws IOException, InterruptedException {
        Process status = ChildJvm.gpuwarden(
                        List.of("status", "--grpc.socket=" + node.root().resolve("gpuwarden.sock")))
                .redirectError(folder.resolve("err").toFile())
                .start();
        String out = new String(status.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        status.waitFor();
        Matcher command = Pattern.compile("reset " + gpu + ": sudo gpuwarden gpu-reset ([^(]+) \\(")
                .matcher(out);
        if (!command.find()) {
            throw new AssertionError("no instruction in: " + out);
        }
        return List.of(command.group(1).split(" "));
    }

    Ended reset(String... arguments) throws IOException, InterruptedException {
        return ended(start(arguments));
    }

    Process start(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("gpu-reset", "--output=json"));
        command.addAll(List.of(arguments));
        if (command.stream().noneMatch(argument -> argument.startsWith("--check.only"))) {
            command.add("--check.only=gpu-state");
        }
        command.add("--grpc.socket=" + node.root().resolve("gpuwarden.sock"));
        ProcessBuilder builder = ChildJvm.gpuwarden(command);
        builder.environment().putAll(node.environment());
        builder.environment().put("GPUWARDEN_SIM_ROOT", "1");
        return builder.redirectError(folder.resolve("err").toFile()).start();
    }

    Ended ended(Process process) throws IOException, InterruptedException {
        Path err = folder.resolve("err");
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int code = process.waitFor();
        return new Ended(
                code, out.isEmpty() ? Map.of() : JsonReader.ofDepth(16).readObject(out), Files.readString(err));
    }

    String uuid(int gpu) {
        return node.control().table().text("gpu[" + gpu + "].uuid");
    }

    long persistence(int gpu) {
        return node.control().table().number("gpu[" + gpu + "].persistence");
    }

    /** Returns true while nvidia-smi resets this GPU. */
    boolean isResetting(int gpu) {
        return ProcessHandle.allProcesses()
                .anyMatch(process -> process.info()
                        .commandLine()
                        .filter(line -> line.contains(uuid(gpu) + " --gpu-reset"))
                        .isPresent());
    }

    static void script(Path file, String text) throws IOException {
        Files.writeString(file, "#!/bin/sh\n" + text + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
}
