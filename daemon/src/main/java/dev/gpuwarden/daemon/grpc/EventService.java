package dev.gpuwarden.daemon.grpc;

import com.google.protobuf.Empty;
import dev.gpuwarden.api.EventRules;
import dev.gpuwarden.api.datamodels.HealthEvents;
import dev.gpuwarden.api.datamodels.PlatformConnectorGrpc;
import dev.gpuwarden.core.event.EventWriter;
import dev.gpuwarden.core.event.EventWriter.Receipt;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Reporter;
import dev.gpuwarden.core.limit.RateLimit;
import dev.gpuwarden.daemon.grpc.CallStats.RefusedReport;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The service that receives events of other programs. It answers OK only after all events of a call are on disk. A
 * reporter may accuse where its socket permits it, and ends only faults of its own kind. Thread-safe.
 */
final class EventService extends PlatformConnectorGrpc.PlatformConnectorImplBase {

    private static final System.Logger LOG = System.getLogger(EventService.class.getName());

    private final NodeSources sources;
    private final AccessPolicy access;
    private final boolean forEvents;
    private final WorkerPool work;
    private final CallStats stats;
    private final Runnable refused;
    /** One line a minute for each kind of reporter, and 20 for all: a caller chooses neither its kind nor its user. */
    private final RateLimit linesOfOne = new RateLimit(1, TimeUnit.MINUTES.toNanos(1), 64, System::nanoTime);

    private final RateLimit lines = new RateLimit(20, TimeUnit.SECONDS.toNanos(3), 1, System::nanoTime);

    /**
     * @param forEvents whether this is the socket for events alone
     * @param refused run when the store did not take a call
     */
    EventService(
            NodeSources sources,
            AccessPolicy access,
            boolean forEvents,
            WorkerPool work,
            CallStats stats,
            Runnable refused) {
        this.sources = sources;
        this.access = access;
        this.forEvents = forEvents;
        this.work = work;
        this.stats = stats;
        this.refused = refused;
    }

    @Override
    public void healthEventOccurredV1(HealthEvents call, StreamObserver<Empty> client) {
        Peer peer = Peer.current();
        work.answerLater(client, () -> receive(call, peer));
    }

    private Empty receive(HealthEvents call, Peer peer) {
        AccessPolicy.Permission permission = access.report(peer, forEvents);
        if (permission.reporter().isEmpty()) {
            throw denied(RefusedReport.REPORTER, user(peer), permission.why());
        }
        Reporter reporter = permission.reporter().get();
        EventRules.Judgement judgement = EventRules.judge(
                call, sources.identity().nodeName(), reporter, sources.clock().instant());
        if (judgement instanceof EventRules.Refused no) {
            throw no.forbidden()
                    ? denied(RefusedReport.NAME, reporter.kind(), no.why())
                    : NodeService.status(Status.INVALID_ARGUMENT, no.why());
        }
        List<HealthEvent> events = ((EventRules.Taken) judgement).events();
        List<Fault> current = events.stream().anyMatch(HealthEvent::healthy)
                ? sources.events().faults()
                : List.of();
        List<HealthEvent> kept = new ArrayList<>();
        Optional<String> withheld = Optional.empty();
        for (int i = 0; i < events.size(); i++) {
            HealthEvent event = events.get(i);
            List<Fault> ofOthers = event.healthy() ? FaultTable.withheld(current, event) : List.of();
            if (ofOthers.isEmpty() || raises(events.subList(0, i), event)) {
                kept.add(event);
            } else if (withheld.isEmpty()) {
                withheld = Optional.of("events[" + i + "]: " + why(ofOthers.get(0), reporter));
            }
        }
        if (!kept.isEmpty()) {
            store(kept);
        }
        if (withheld.isPresent()) {
            // Accusations of the same call are stored: none may be lost for an acquittal beside it.
            throw denied(RefusedReport.ACQUITTAL, reporter.kind(), withheld.get());
        }
        return Empty.getDefaultInstance();
    }

    /** Returns whether an earlier event of the call may raise a fault that the healthy one ends. */
    private static boolean raises(List<HealthEvent> earlier, HealthEvent healthy) {
        return earlier.stream()
                .anyMatch(event -> !event.healthy()
                        && event.agent().equals(healthy.agent())
                        && event.checkName().equals(healthy.checkName()));
    }

    private static String why(Fault fault, Reporter reporter) {
        String raisedBy = fault.key().reporter();
        return "it ends no fault: expected a report by "
                + (raisedBy.isEmpty() ? "this node's own " + fault.key().agent() : raisedBy)
                + ", which raised it, or 'gpuwarden set-healthy' by an administrator, seen " + reporter.name()
                + "; the other events of the call are stored";
    }

    /** A number of a process would be another one for each line. */
    private static String user(Peer peer) {
        return peer instanceof Peer.Process process ? "user " + process.uid() : "a client over TCP";
    }

    private StatusRuntimeException denied(RefusedReport kind, String who, String why) {
        stats.refused(kind);
        if (linesOfOne.take(who) && lines.take(LOG)) {
            LOG.log(
                    Level.WARNING,
                    "refused a report of " + who + ": " + why + "; further cases of this minute are not logged");
        }
        return NodeService.status(Status.PERMISSION_DENIED, why);
    }

    private void store(List<HealthEvent> events) {
        List<Receipt> receipts = accept(sources.intake(), events);
        boolean stored = receipts.stream().allMatch(EventService::kept);
        if (!stored) {
            refused.run();
            throw NodeService.status(
                    Status.UNAVAILABLE, "the store takes nothing now; send the same events again later");
        }
    }

    /** @throws StatusRuntimeException if the store refuses one of the events */
    static List<Receipt> accept(EventWriter intake, List<HealthEvent> events) {
        try {
            return intake.accept(events, Optional.empty());
        } catch (IllegalArgumentException e) {
            throw NodeService.status(Status.INVALID_ARGUMENT, String.valueOf(e.getMessage()));
        }
    }

    /** Returns true if the event is on disk and may be acknowledged. */
    static boolean kept(Receipt receipt) {
        return switch (receipt) {
            case STORED, COUNTED, DUPLICATE -> true;
            case HELD, REFUSED -> false;
        };
    }
}
