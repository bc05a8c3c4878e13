package dev.gpuwarden.aggregator.ingest;

import com.google.protobuf.Empty;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.ingest.AuthInterceptor.Caller;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Reason;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthException.NoRoom;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthException.NoSuchNode;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthException.UnreadableNodeHealth;
import dev.gpuwarden.api.EventRules;
import dev.gpuwarden.api.datamodels.HealthEvents;
import dev.gpuwarden.api.datamodels.PlatformConnectorGrpc;
import dev.gpuwarden.core.event.HealthEvent;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * The service for reports of monitors of the whole cluster, about any node. It answers OK when all events are stored. A call
 * that names a missing Node leaves nothing behind.
 */
final class MonitorEventService extends PlatformConnectorGrpc.PlatformConnectorImplBase {

    /** Each costs two requests while its caller waits. */
    static final int MOST_NODES = 100;

    /** Calls that may run at the same time on the server's threads. The other threads are for nodes. */
    private static final int AT_ONCE = 4;

    private final NodeHealthClient healths;
    private final IngestMetrics metrics;
    private final Clock clock;
    private final Semaphore room = new Semaphore(AT_ONCE);

    MonitorEventService(NodeHealthClient healths, IngestMetrics metrics, Clock clock) {
        this.healths = healths;
        this.metrics = metrics;
        this.clock = clock;
    }

    @Override
    public void healthEventOccurredV1(HealthEvents call, StreamObserver<Empty> client) {
        Caller caller = AuthInterceptor.CALLER.get();
        if (caller.monitor().isEmpty()) {
            refuse(
                    client,
                    Reason.OTHER_NODE,
                    Status.PERMISSION_DENIED,
                    "the caller (" + caller.proof()
                            + ") is no monitor that may report faults of any node (--ingest.monitor)");
            return;
        }
        Instant now = clock.instant();
        EventRules.Judgement judgement = EventRules.judgeOfAnyNode(call, now);
        if (judgement instanceof EventRules.Refused refused) {
            refuse(client, Reason.LIMIT, Status.INVALID_ARGUMENT, refused.why());
            return;
        }
        Map<String, List<HealthEvent>> byNode = byNode(((EventRules.Taken) judgement).events());
        if (byNode.size() > MOST_NODES) {
            refuse(
                    client,
                    Reason.LIMIT,
                    Status.INVALID_ARGUMENT,
                    "events: of " + byNode.size() + " nodes, at most " + MOST_NODES + " in one call");
        } else if (room.tryAcquire()) {
            try {
                keep(client, caller.monitor().get(), byNode, now);
            } finally {
                room.release();
            }
        } else {
            end(
                    client,
                    Status.RESOURCE_EXHAUSTED,
                    "monitors send too many calls at the same time; send the same events again later");
        }
    }

    private static Map<String, List<HealthEvent>> byNode(List<HealthEvent> events) {
        Map<String, List<HealthEvent>> byNode = new LinkedHashMap<>();
        for (HealthEvent event : events) {
            // The id marks the faults of one event as such.
            HealthEvent named =
                    event.id().isEmpty() ? event.withId(UUID.randomUUID().toString()) : event;
            byNode.computeIfAbsent(event.nodeName(), any -> new ArrayList<>()).add(named);
        }
        return byNode;
    }

    private void keep(
            StreamObserver<Empty> client, String monitor, Map<String, List<HealthEvent>> byNode, Instant now) {
        try {
            for (String node : byNode.keySet()) {
                var unused = healths.read(node);
            }
            for (Map.Entry<String, List<HealthEvent>> ofNode : byNode.entrySet()) {
                healths.report(ofNode.getKey(), monitor, ofNode.getValue(), now);
                metrics.events.add(ofNode.getValue().size());
            }
            client.onNext(Empty.getDefaultInstance());
            client.onCompleted();
        } catch (NoSuchNode e) {
            refuse(client, Reason.NO_NODE, Status.NOT_FOUND, e.getMessage());
        } catch (NoRoom e) {
            refuse(client, Reason.LIMIT, Status.RESOURCE_EXHAUSTED, e.getMessage());
        } catch (UnreadableNodeHealth e) {
            metrics.failures.add("unreadable");
            end(client, Status.FAILED_PRECONDITION, e.getMessage());
        } catch (ApiException e) {
            metrics.failures.add(e.kind());
            end(
                    client,
                    Status.UNAVAILABLE,
                    "the cluster does not accept the events; send them again later: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            end(client, Status.UNAVAILABLE, "the aggregator stops");
        }
    }

    private void refuse(StreamObserver<Empty> client, Reason reason, Status status, @Nullable String why) {
        metrics.refused(reason);
        end(client, status, why);
    }

    private void end(StreamObserver<Empty> client, Status status, @Nullable String why) {
        metrics.ended(status.getCode());
        client.onError(status.withDescription(String.valueOf(why)).asRuntimeException());
    }
}
