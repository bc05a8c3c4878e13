package dev.gpuwarden.daemon.command;

import dev.gpuwarden.api.CheckCodec;
import dev.gpuwarden.api.FaultCodec;
import dev.gpuwarden.api.v1.Check;
import dev.gpuwarden.api.v1.ListChecksRequest;
import dev.gpuwarden.api.v1.ListFaultsRequest;
import dev.gpuwarden.api.v1.NodeServiceGrpc;
import dev.gpuwarden.api.v1.RunChecksRequest;
import dev.gpuwarden.cli.run.Logging;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.RunListener;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.daemon.grpc.NodeClient;
import io.grpc.StatusRuntimeException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.logging.Level;
import java.util.stream.Collectors;

/** Checks that a daemon runs, requested over its socket. */
final class DaemonChecks {

    /** Checks that users add may take minutes. */
    private static final long PATIENCE_MINUTES = 15;

    private static final Comparator<CheckResult> BY_ID =
            Comparator.comparing(result -> result.check().id());

    /** Stands among the results where the daemon ran all checks, and then did not report its faults. */
    private static final CheckInfo FAULTS = CheckInfo.of("daemon-faults", "NODE", "The daemon reports its faults.");

    private DaemonChecks() {}

    /** @param faults the current faults after the run; checks do not have those of the kernel log and of other reporters */
    record Ran(List<CheckResult> results, List<Fault> faults) {}

    /**
     * Returns the results of these checks, sorted by ID. Empty if no daemon answers, or it does not run all of them; if a daemon
     * answers, a note gives the reason. If it reports no faults after the checks, all checks have a result UNKNOWN more: without the faults
     * the node is not known to be fit. Named checks do without, and a note gives the reason.
     *
     * @param names empty for all
     * @param listener for the number of checks
     */
    static Optional<Ran> run(
            Path socket, List<String> names, IntFunction<RunListener> listener, Consumer<String> note) {
        if (!Files.exists(socket)) {
            return Optional.empty();
        }
        Logging.install(Level.OFF);
        try (NodeClient node = NodeClient.of(socket)) {
            Map<String, CheckInfo> known =
                    ClientCommand.queries(node)
                            .listChecks(ListChecksRequest.getDefaultInstance())
                            .getChecksList()
                            .stream()
                            .collect(Collectors.toMap(Check::getId, CheckCodec::fromWire, (one, other) -> one));
            if (!known.keySet().containsAll(names)) {
                return Optional.empty();
            }
            List<CheckResult> results = run(
                    node,
                    names,
                    known,
                    listener.apply(
                            names.isEmpty()
                                    ? known.size()
                                    : (int) names.stream().distinct().count()));
            return Optional.of(withFaults(node, socket, results, names.isEmpty(), note));
        } catch (StatusRuntimeException e) {
            note.accept(ClientFailure.of(e.getStatus(), socket).message() + "; this process runs the checks itself");
            return Optional.empty();
        }
    }

    private static Ran withFaults(
            NodeClient node, Path socket, List<CheckResult> results, boolean all, Consumer<String> note) {
        try {
            return new Ran(
                    results,
                    ClientCommand.queries(node)
                            .listFaults(ListFaultsRequest.getDefaultInstance())
                            .getFaultsList()
                            .stream()
                            .map(FaultCodec::fromWire)
                            .toList());
        } catch (StatusRuntimeException e) {
            String why = "the checks ran, and the faults of the daemon are not known: "
                    + ClientFailure.of(e.getStatus(), socket).message();
            if (!all) {
                note.accept(why);
                return new Ran(results, List.of());
            }
            List<CheckResult> more = new ArrayList<>(results);
            Finding unknown = Finding.unknown("faults-unknown", Subject.NODE, why, "run gpuwarden status");
            more.add(CheckResult.of(FAULTS, Instant.now(), Duration.ZERO, List.of(unknown)));
            more.sort(BY_ID);
            return new Ran(more, List.of());
        }
    }

    private static List<CheckResult> run(
            NodeClient node, List<String> names, Map<String, CheckInfo> known, RunListener listener) {
        List<CheckResult> results = new ArrayList<>();
        NodeServiceGrpc.newBlockingStub(node.channel())
                .withDeadlineAfter(PATIENCE_MINUTES, TimeUnit.MINUTES)
                .runChecks(RunChecksRequest.newBuilder()
                        .addAllIds(names)
                        .setProgress(true)
                        .build())
                .forEachRemaining(message -> {
                    CheckInfo check = known.get(message.getCheckId());
                    if (check == null) {
                        return;
                    }
                    if (message.hasRunning()) {
                        listener.running(List.of(CheckCodec.fromWire(message.getRunning(), check)));
                    } else {
                        CheckResult result = CheckCodec.fromWire(message, check);
                        results.add(result);
                        listener.ended(result);
                    }
                });
        results.sort(BY_ID);
        return results;
    }
}
