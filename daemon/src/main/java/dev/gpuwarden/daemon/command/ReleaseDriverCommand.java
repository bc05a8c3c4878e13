package dev.gpuwarden.daemon.command;

import dev.gpuwarden.api.v1.ReleaseGpusRequest;
import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.model.Reading;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Keeps the daemon off the driver, for work that needs the driver unloaded. */
@Command(
        name = "release-driver",
        mixinStandardHelpOptions = true,
        exitCodeListHeading = "%nExit codes:%n",
        description = {
            "Make the daemon let go of every GPU and of the driver while COMMAND runs, or until --hold is over or this command"
                    + " is interrupted. Then it reads the GPUs again.",
            "Use it to upgrade the driver without a stop of the daemon, which reports the GPUs as released.",
            "  gpuwarden release-driver -- rmmod nvidia_uvm nvidia"
        },
        exitCodeList = {
            "N:that of COMMAND; 128 + signal if one killed it",
            "0:held until the end of --hold, without COMMAND",
            "2:wrong usage or configuration",
            "3:the daemon does not answer, could not let go, or took the GPUs again",
            "126:COMMAND cannot be run",
            "130:interrupted"
        })
public final class ReleaseDriverCommand implements Callable<Integer> {

    private static final int NOT_RUN = 126;
    private static final Duration LONGEST = Duration.ofHours(24);

    @Parameters(arity = "0..*", paramLabel = "COMMAND", description = "A program and its arguments, after --.")
    List<String> command = List.of();

    @Option(
            names = "--hold",
            defaultValue = "30m",
            paramLabel = "DURATION",
            description = "Longest time, 1s to 24h; COMMAND goes on after it (default: ${DEFAULT-VALUE}).")
    Duration hold = Duration.ofMinutes(30);

    @Option(
            names = "--reason",
            defaultValue = "work on the driver",
            paramLabel = "TEXT",
            description = "Shown as 'released for TEXT' (default: ${DEFAULT-VALUE}).")
    String reason = "work on the driver";

    @Mixin
    ClientOptions client = new ClientOptions();

    @Spec
    CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws InterruptedException {
        if (hold.compareTo(Duration.ofSeconds(1)) < 0 || hold.compareTo(LONGEST) > 0) {
            throw new UserError("--hold: expected 1s to 24h, seen " + Durations.text(hold));
        }
        Path socket = client.required();
        Reading<ReleaseCall> opened = ReleaseCall.open(
                socket,
                ReleaseGpusRequest.newBuilder()
                        .setAll(true)
                        .setReason(reason)
                        .setHold(com.google.protobuf.Duration.newBuilder().setSeconds(hold.toSeconds()))
                        .build());
        if (!(opened instanceof Reading.Present<ReleaseCall> present)) {
            complain("the driver is not released: " + ((Reading.Absent<?>) opened).detail());
            return ExitCode.UNDECIDED;
        }
        try (ReleaseCall call = present.value()) {
            complain("the daemon holds no GPU and no file of the driver");
            return command.isEmpty() ? wait(call) : run(call);
        }
    }

    private int wait(ReleaseCall call) throws InterruptedException {
        long start = System.nanoTime();
        // The daemon ends the call itself; the margin is for its way here.
        Optional<String> lost = call.awaitLost(hold.plusSeconds(10));
        lost.ifPresent(this::complain);
        return System.nanoTime() - start >= hold.toNanos() ? ExitCode.OK : ExitCode.UNDECIDED;
    }

    private int run(ReleaseCall call) {
        try {
            int code = ReservedProgram.start(command, Optional.empty()).await();
            call.lost().ifPresent(this::complain);
            return code;
        } catch (IOException e) {
            complain(command.get(0) + ": expected a program: " + e.getMessage());
            return NOT_RUN;
        }
    }

    private void complain(String message) {
        PrintWriter err = spec.commandLine().getErr();
        err.println("gpuwarden: " + Table.escape(message));
        err.flush();
    }
}
