package dev.gpuwarden.daemon.command;

import com.google.protobuf.Duration;
import dev.gpuwarden.api.v1.Reservation;
import dev.gpuwarden.api.v1.ReserveRequest;
import dev.gpuwarden.api.v1.VramServiceGrpc;
import dev.gpuwarden.cli.ByteSizes;
import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.daemon.grpc.NodeClient;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Waits for GPU memory, and holds it for a program. The reservation lives as long as this process at most. */
@Command(
        name = "reserve",
        description = {
            "Wait until a GPU has room for this much memory, and keep it from other reservations while COMMAND runs, or until"
                    + " interrupted. It holds no memory itself: programs that do not ask can still take it.",
            "The memory is for the pod, container, unit or job that this command runs in. Its allocations use it up.",
            "COMMAND gets CUDA_VISIBLE_DEVICES with the UUID of the GPU, unless the variable is set.",
            "  gpuwarden vram reserve 4GiB --wait 30m -- python batch.py"
        },
        exitCodeList = {
            "N:that of COMMAND; 128 + signal if one killed it",
            "0:held until the end of --hold, without COMMAND",
            "1:not granted in time or refused, without COMMAND",
            "2:wrong usage or configuration",
            "3:the daemon does not answer, or the reservation was lost, without COMMAND",
            "124:not granted in time, so COMMAND was not run",
            "125:refused, or the daemon does not answer, so COMMAND was not run",
            "126:COMMAND cannot be run",
            "130:interrupted"
        })
final class VramReserveCommand extends ClientCommand {

    private static final int NOT_GRANTED = 124;
    private static final int NO_ANSWER = 125;
    private static final int NOT_RUN = 126;
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

    @Parameters(index = "0", paramLabel = "SIZE", converter = ByteSizes.class, description = "Amount, such as 4GiB.")
    long bytes;

    @Parameters(
            index = "1..*",
            arity = "0..*",
            paramLabel = "COMMAND",
            description = "A program and its arguments, after --.")
    List<String> command = List.of();

    @Option(
            names = "--gpu",
            paramLabel = "GPU",
            description = "Its index, UUID or PCI address (default: any GPU with room).")
    String gpu = "";

    @Option(
            names = "--wait",
            defaultValue = "10m",
            paramLabel = "DURATION",
            description = "Longest wait, 0s to 24h (default: ${DEFAULT-VALUE}).")
    java.time.Duration wait = java.time.Duration.ofMinutes(10);

    @Option(
            names = "--hold",
            defaultValue = "5m",
            paramLabel = "DURATION",
            description =
                    "End the reservation after this time, at most 24h; COMMAND goes on (default: ${DEFAULT-VALUE}).")
    java.time.Duration hold = java.time.Duration.ofMinutes(5);

    @Option(
            names = "--borrow",
            description =
                    "Also take memory that budgets promise to others and that is free now: for work that may fail.")
    boolean borrow;

    @Option(
            names = "--tenant",
            paramLabel = "TENANT",
            description = "Reserve for this tenant: an ID, or a name that one tenant alone has. For administrators.")
    @Nullable String tenant;

    /** The states of the last call. */
    private Iterator<Reservation> states = Collections.emptyIterator();

    @Override
    public Integer call() {
        if (bytes == 0) {
            throw new UserError("SIZE: expected more than 0, seen 0B");
        }
        return super.call();
    }

    @Override
    int ask(NodeClient node) {
        boolean holds = false;
        long end = System.nanoTime() + wait.toNanos();
        try {
            Reservation decided = new ProgressLine(err()).during(line -> decided(node, end, line));
            holds = decided.getState() == Reservation.State.GRANTED;
            if (!holds) {
                showTree(decided);
                complain("not granted within " + Durations.text(wait) + ": " + decided.getReason());
                return command.isEmpty() ? ExitCode.NOT_FIT : NOT_GRANTED;
            }
            show(decided);
            return command.isEmpty() ? hold() : run(decided.getGpu().getUuid());
        } catch (StatusRuntimeException e) {
            return failed(e.getStatus(), holds);
        }
    }

    private ReserveRequest request(java.time.Duration wait) {
        return ReserveRequest.newBuilder()
                .setBytes(bytes)
                .setGpu(gpu)
                .setTenant(tenant == null ? "" : tenant)
                .setBorrow(borrow)
                .setWait(wire(wait))
                .setHold(wire(hold))
                .build();
    }

    private static Duration wire(java.time.Duration time) {
        return Duration.newBuilder()
                .setSeconds(time.getSeconds())
                .setNanos(time.getNano())
                .build();
    }

    /** Returns the first state in which it does not wait. It asks again after a restart of the daemon. */
    private Reservation decided(NodeClient node, long end, Consumer<String> line) {
        boolean asked = false;
        while (true) {
            long left = Math.max(0, end - System.nanoTime());
            states = VramServiceGrpc.newBlockingStub(node.channel())
                    .reserve(request(asked ? java.time.Duration.ofNanos(left) : wait));
            try {
                Reservation state = states.next();
                while (state.getState() == Reservation.State.WAITING) {
                    asked = true;
                    line.accept(view(state).text());
                    showTree(state);
                    state = states.next();
                }
                return state;
            } catch (StatusRuntimeException e) {
                if (!asked || !hasGone(e.getStatus()) || left == 0) {
                    throw e;
                }
                line.accept("the daemon has gone; waiting for it");
                LockSupport.parkNanos(RETRY_NANOS);
                node.channel().resetConnectBackoff();
            }
        }
    }

    /** Returns whether the daemon ended the call, or there is none. A daemon that stops cancels its calls. */
    private static boolean hasGone(Status status) {
        return switch (status.getCode()) {
            case UNAVAILABLE, UNKNOWN, CANCELLED, INTERNAL -> true;
            default -> false;
        };
    }

    /** Waits for the end of a granted reservation. */
    private int hold() {
        while (states.hasNext()) {
            Reservation state = states.next();
            if (state.getState() == Reservation.State.EXPIRED) {
                show(state);
            } else {
                showTree(state);
            }
        }
        return ExitCode.OK;
    }

    private int run(String uuid) {
        ReservedProgram program;
        try {
            program = ReservedProgram.start(command, Optional.of(uuid));
        } catch (IOException e) {
            complain(command.get(0) + ": expected a program: " + e.getMessage());
            return NOT_RUN;
        }
        Threads.daemon("gpuwarden-reservation", () -> watch(program)).start();
        return program.await();
    }

    /** States the early end of the reservation, which does not end the program. */
    private void watch(ReservedProgram program) {
        try {
            var unused = hold();
        } catch (StatusRuntimeException e) {
            if (program.runs()) {
                complain("the reservation is lost, and the command goes on: "
                        + failure(e.getStatus()).message());
            }
        }
    }

    private int failed(Status status, boolean holds) {
        boolean refused = switch (status.getCode()) {
            case FAILED_PRECONDITION, OUT_OF_RANGE, RESOURCE_EXHAUSTED, NOT_FOUND -> true;
            default -> false;
        };
        if (refused) {
            complain("refused: " + status.getDescription());
            return command.isEmpty() ? ExitCode.NOT_FIT : NO_ANSWER;
        }
        ClientFailure failure = failure(status);
        complain((holds ? "the reservation is lost: " : "") + failure.message());
        return command.isEmpty() || failure.exitCode() == ExitCode.USAGE ? failure.exitCode() : NO_ANSWER;
    }

    private ClientFailure failure(Status status) {
        Status known = status.getCode() == Status.Code.CANCELLED
                ? Status.UNAVAILABLE.withDescription("it was cancelled, as when a daemon stops")
                : status;
        return ClientFailure.of(known, client.required());
    }

    private ReservationView view(Reservation state) {
        return new ReservationView(state, bytes);
    }

    /** Shows a state to users and programs. */
    private void show(Reservation state) {
        showTree(state);
        if (output.format() == Output.Format.table) {
            err().println("gpuwarden: " + Table.escape(view(state).text()));
            err().flush();
        }
    }

    /** Writes a state for programs: to standard output, which belongs to COMMAND if there is one. */
    private void showTree(Reservation state) {
        PrintWriter to = command.isEmpty() ? out() : err();
        switch (output.format()) {
            case json -> to.println(Output.jsonLine(view(state).tree()));
            case yaml -> to.print("---\n" + Output.yaml(view(state).tree()));
            case table -> {}
        }
        to.flush();
    }

    private PrintWriter err() {
        return spec.commandLine().getErr();
    }
}
