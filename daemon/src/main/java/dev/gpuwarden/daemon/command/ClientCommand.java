package dev.gpuwarden.daemon.command;

import dev.gpuwarden.api.v1.NodeServiceGrpc;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.run.Logging;
import dev.gpuwarden.daemon.grpc.NodeClient;
import io.grpc.StatusRuntimeException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.logging.Level;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** A command that queries the node's daemon. */
@Command(mixinStandardHelpOptions = true, exitCodeListHeading = "%nExit codes:%n")
abstract class ClientCommand implements Callable<Integer> {

    /** The daemon answers from memory or with one read of its store. */
    private static final long PATIENCE_SECONDS = 10;

    @Mixin
    Output output = new Output();

    @Mixin
    ClientOptions client = new ClientOptions();

    @Spec
    CommandSpec spec = CommandSpec.create();

    /** Queries the daemon, prints the result, and returns the exit code. */
    abstract int ask(NodeClient node);

    @Override
    public Integer call() {
        // The command prints errors in its own words; gRPC and Netty would log them too.
        Logging.install(Level.OFF);
        Path socket = client.required();
        try (NodeClient node = NodeClient.of(socket)) {
            return ask(node);
        } catch (StatusRuntimeException e) {
            ClientFailure failure = ClientFailure.of(e.getStatus(), socket);
            complain(failure.message());
            return failure.exitCode();
        } catch (DateTimeException e) {
            complain("the daemon on " + socket + " sent an impossible time: " + e.getMessage());
            return dev.gpuwarden.cli.ExitCode.UNDECIDED;
        }
    }

    static NodeServiceGrpc.NodeServiceBlockingStub queries(NodeClient node) {
        return NodeServiceGrpc.newBlockingStub(node.channel()).withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    void complain(String message) {
        PrintWriter err = spec.commandLine().getErr();
        err.println("gpuwarden: " + Table.escape(message));
        err.flush();
    }

    PrintWriter out() {
        return spec.commandLine().getOut();
    }

    void show(Object tree, Consumer<PrintWriter> table) {
        output.write(out(), tree, table);
    }
}
