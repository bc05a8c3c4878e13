package dev.gpuwarden.aggregator.ingest;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests.LookupAnswer;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests.LookupAnswer.Pending;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests.LookupRequest;
import dev.gpuwarden.aggregator.nodehealth.GpuHoldersJson.HoldingsReader;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import dev.gpuwarden.api.HoldingsCodec;
import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.core.holder.GpuHolder;
import dev.gpuwarden.core.holder.GpuHolder.Kind;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.Reading;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** Aggregators that follow the cluster, as leaders do, and the messages of a node's stream. */
abstract class QuestionsSetup extends IngestSetup {

    static final String GPU = "GPU-11111111-1111-1111-1111-111111111111";
    static final Instant AS_OF = Instant.parse("2026-11-22T13:00:00Z");

    /** An aggregator that follows the cluster, as a leader does. */
    final class Replica {
        final NodeCache cache = new NodeCache(new NodeCache.Listener() {}, Clock.systemUTC());

        final IngestServer server;
        final GpuHolderRequests lookups;
        final KubeClient api;

        Replica(KubeClient api, String name) {
            this.api = api;
            server = aggregator(api, name, cache);
            lookups = new GpuHolderRequests(api, cache, Clock.systemUTC());
            parts.add(api.informer(NodeHealthClient.ALL, cache.healths()));
        }

        LookupRequest ask() throws Exception {
            until(() -> cache.health(node).isPresent());
            return lookups.ask(node);
        }

        LookupAnswer answer(LookupRequest request) {
            return HoldingsReader.read(cache.health(node).orElse(Map.of()), request.id());
        }

        LookupAnswer awaitAnswer(LookupRequest request) {
            until(() -> !(answer(request) instanceof Pending));
            return answer(request);
        }
    }

    TestUplink connect(Replica replica, boolean answersLookups) throws Exception {
        TestUplink uplink =
                connect(replica.server, TestCluster.token(plane, node)).hello(node, answersLookups);
        assertThat(uplink.receive().hasWelcome()).isTrue();
        return uplink;
    }

    static GpuHolder holder(String pod) {
        return new GpuHolder("ml", pod, "main", GPU, Kind.SHARED, GPU + "::3");
    }

    static NodeReport holdings(String id, GpuHolder... holders) {
        return HoldingsCodec.report(id, AS_OF, Reading.of(new GpuHolders(AS_OF, List.of(holders), List.of(), 0)));
    }

    static String receiveLookup(TestUplink uplink) throws InterruptedException {
        Acknowledgement next = uplink.receive();
        assertThat(next.getAcknowledgementCase()).isEqualTo(Acknowledgement.AcknowledgementCase.LOOKUP);
        return next.getLookup().getId();
    }
}
