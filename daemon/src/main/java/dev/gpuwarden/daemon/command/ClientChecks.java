package dev.gpuwarden.daemon.command;

import dev.gpuwarden.api.CheckCodec;
import dev.gpuwarden.api.v1.Check;
import dev.gpuwarden.api.v1.ListChecksRequest;
import dev.gpuwarden.api.v1.NodeServiceGrpc;
import dev.gpuwarden.api.v1.RunChecksRequest;
import dev.gpuwarden.cli.run.Logging;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.daemon.grpc.NodeClient;
import io.grpc.StatusRuntimeException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.logging.Level;
import java.util.stream.Collectors;

/** A client that runs checks in the daemon. */
final class ClientChecks {

    /** Checks that users add may take minutes. */
    private static final long PATIENCE_MINUTES = 15;

    private ClientChecks() {}

    /**
     * Returns the results of these checks, run by the daemon. Empty if no daemon answers, or it does not run all of
     * them.
     *
     * @param names empty for all
     * @param note receives the reason why a daemon that answers did not run them
     */
    static Optional<List<CheckResult>> run(Path socket, List<String> names, Consumer<String> note) {
        if (!Files.exists(socket)) {
            return Optional.empty();
        }
        Logging.install(Level.OFF);
        try (NodeClient node = NodeClient.of(socket)) {
            Map<String, Check> known =
                    ClientCommand.queries(node)
                            .listChecks(ListChecksRequest.getDefaultInstance())
                            .getChecksList()
                            .stream()
                            .collect(Collectors.toMap(Check::getId, Function.identity(), (one, other) -> one));
            if (!known.keySet().containsAll(names)) {
                return Optional.empty();
            }
            List<CheckResult> results = new ArrayList<>();
            NodeServiceGrpc.newBlockingStub(node.channel())
                    .withDeadlineAfter(PATIENCE_MINUTES, TimeUnit.MINUTES)
                    .runChecks(RunChecksRequest.newBuilder().addAllIds(names).build())
                    .forEachRemaining(result -> Optional.ofNullable(known.get(result.getCheckId()))
                            .map(check -> CheckCodec.fromWire(result, CheckCodec.fromWire(check)))
                            .ifPresent(results::add));
            return Optional.of(results);
        } catch (StatusRuntimeException e) {
            note.accept(ClientFailure.of(e.getStatus(), socket).message() + "; this process runs the checks itself");
            return Optional.empty();
        }
    }
}
