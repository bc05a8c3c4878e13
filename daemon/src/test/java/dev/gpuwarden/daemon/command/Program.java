package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.Main;
import dev.gpuwarden.cli.SettingSources;
import dev.gpuwarden.daemon.app.ChildJvm;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;

/** The whole program, run in this process with the commands that are on the path. */
record Program(int exitCode, String out, String err) {

    static Program run(String... args) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line = Main.commandLine(SettingSources.none());
        line.setOut(new PrintWriter(out));
        line.setErr(new PrintWriter(err));
        int code = line.execute(args);
        return new Program(code, out.toString(), err.toString());
    }

    /** In a process of its own, where no other test has loaded a driver library. */
    static Program spawn(String... args) throws IOException, InterruptedException {
        Path err = Files.createTempFile("gpuwarden", ".err");
        Process process =
                ChildJvm.gpuwarden(List.of(args)).redirectError(err.toFile()).start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        Program ended = new Program(process.waitFor(), out, Files.readString(err));
        Files.delete(err);
        return ended;
    }

    /** On a simulated node. */
    static Program run(SimulatedNode node, String... args) {
        List<String> all = new ArrayList<>(List.of(args));
        all.add("--driver.library-path=" + node.libraryPath());
        all.add("--path.sysfs=" + node.sysfs());
        all.add("--path.procfs=" + node.procfs());
        all.add("--path.podlogs=" + node.podLogs());
        if (List.of("scan", "check").contains(args[0])) {
            all.add("--kernel-log.source=kmsg");
            all.add("--kernel-log.path=" + node.kernelLog());
        }
        return run(all.toArray(String[]::new));
    }
}
