package dev.gpuwarden.daemon.grpc;

import com.google.protobuf.Empty;
import dev.gpuwarden.api.EventRules;
import dev.gpuwarden.api.datamodels.HealthEvents;
import dev.gpuwarden.api.datamodels.PlatformConnectorGrpc;
import dev.gpuwarden.core.event.EventWriter;
import dev.gpuwarden.core.event.EventWriter.Receipt;
import dev.gpuwarden.core.event.HealthEvent;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.time.Clock;
import java.util.List;
import java.util.Optional;

/**
 * The service that receives events of other programs. It answers OK only after all events of a call are on disk.
 * Thread-safe.
 */
final class EventService extends PlatformConnectorGrpc.PlatformConnectorImplBase {

    private final String nodeName;
    private final EventWriter intake;
    private final AccessPolicy access;
    private final WorkerPool work;
    private final Clock clock;
    private final Runnable refused;

    /** @param refused run when the store did not take a call */
    EventService(NodeSources sources, AccessPolicy access, WorkerPool work, Runnable refused) {
        this.nodeName = sources.identity().nodeName();
        this.intake = sources.intake();
        this.clock = sources.clock();
        this.access = access;
        this.work = work;
        this.refused = refused;
    }

    @Override
    public void healthEventOccurredV1(HealthEvents call, StreamObserver<Empty> client) {
        if (!access.mayReport(Peer.current())) {
            refuse(client, Status.PERMISSION_DENIED, "events are taken from a Unix socket or with a certificate");
            return;
        }
        EventRules.Judgement judgement = EventRules.judge(call, nodeName, clock.instant());
        if (judgement instanceof EventRules.Refused refused) {
            refuse(client, refused.otherNode() ? Status.PERMISSION_DENIED : Status.INVALID_ARGUMENT, refused.why());
            return;
        }
        List<HealthEvent> events = ((EventRules.Taken) judgement).events();
        if (events.isEmpty()) {
            WorkerPool.answer(client, Empty::getDefaultInstance);
        } else {
            work.answerLater(client, () -> store(events));
        }
    }

    private Empty store(List<HealthEvent> events) {
        List<Receipt> receipts = accept(intake, events);
        boolean stored = receipts.stream().allMatch(EventService::kept);
        if (!stored) {
            refused.run();
            throw NodeService.status(
                    Status.UNAVAILABLE, "the store takes nothing now; send the same events again later");
        }
        return Empty.getDefaultInstance();
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

    private static void refuse(StreamObserver<Empty> client, Status status, String why) {
        client.onError(status.withDescription(why).asRuntimeException());
    }
}
