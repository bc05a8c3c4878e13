package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeHealthCache;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.drain.GpuHolderSource;
import dev.gpuwarden.aggregator.drain.GpuHolderSource.Answer;
import dev.gpuwarden.aggregator.drain.KubeletGpuHolders;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests;
import dev.gpuwarden.aggregator.nodehealth.GpuHoldersJson;
import dev.gpuwarden.aggregator.pods.PodView;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.holder.ProcessHolder;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.testkit.TestClock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that no GPU counts as free while its node's answer has no room for all pods by processes. */
@Tag("api")
class DrainCutAnswerTest {

    private static final String GPU = "GPU-455d8f70-2051-db6c-0430-ffc457bff834";
    private static final Duration PATIENCE = Duration.ofSeconds(15);

    /** The NodeHealths as the API server answered last. */
    private final class Memory implements NodeHealthCache {
        private final Map<String, Map<String, Object>> healths = new ConcurrentHashMap<>();

        @Override
        public Optional<String> nodeUid(String node) {
            return Optional.empty();
        }

        @Override
        public Optional<Map<String, Object>> health(String node) {
            return Optional.ofNullable(healths.get(node));
        }

        @Override
        public Optional<String> healthVersion(String node) {
            return Optional.empty();
        }

        @Override
        public void answered(Map<String, Object> health) {
            healths.put(JsonTrees.text(JsonTrees.object(health, "metadata"), "name"), health);
        }
    }

    private final TestClock clock = new TestClock();
    private final Memory memory = new Memory();
    private TestFleet fleet;
    private KubeClient api;
    private KubeletGpuHolders source;
    private String bad;
    private String asked = "";

    @BeforeEach
    void start() {
        fleet = TestFleet.start();
        bad = fleet.named("bad");
        fleet.node(bad);
        api = fleet.asAggregator();
        source = new KubeletGpuHolders(
                new GpuHolderSource.FromPodStatus(clock), api, memory, clock, PATIENCE, true, node -> {});
    }

    @AfterEach
    void end() {
        if (api != null) {
            source.close();
            api.close();
        }
        if (fleet != null) {
            fleet.close();
        }
    }

    private Answer holders(PodView... pods) throws Exception {
        CachedNode node = CachedNode.of(Json.readObject("{\"metadata\": {\"name\": \"" + bad + "\", \"uid\": \"u\"}}"));
        return source.holders(node, Set.of(GPU), List.of(pods), Instant.EPOCH);
    }

    private static PodView pod(String name) throws Exception {
        return PodView.of(Json.readObject("""
            {"metadata": {"name": "%s", "namespace": "team", "uid": "u"}, "spec": {"containers": [{"name": "main"}]},
            "status": {"phase": "Running"}}\
            """.formatted(name)));
    }

    private void awaitRequest() {
        String before = asked;
        until(() -> !fleet.lookup(bad).isEmpty() && !fleet.lookup(bad).equals(before), "the node is asked");
        asked = fleet.lookup(bad);
        until(() -> memory.health(bad).toString().contains(asked), "the request is stored");
    }

    /** Writes the daemon's answer like the replica that the node reports to. */
    private void answer(OptionalLong more, int services, String... pods) throws Exception {
        List<ProcessHolder> processes = new ArrayList<>(IntStream.range(0, services)
                .mapToObj(i -> new ProcessHolder("system", "service-" + i, "main", GPU))
                .toList());
        for (String pod : pods) {
            processes.add(0, new ProcessHolder("team", pod, "main", GPU));
        }
        GpuHolders holders = new GpuHolders(clock.instant(), List.of(), List.of(), 0).with(processes, more);
        assertThat(new GpuHolderRequests(api, memory, clock)
                        .answer(bad, asked, GpuHoldersJson.of(asked, Reading.of(holders), clock.instant())))
                .isTrue();
    }

    private static Answer.Known known(Answer answer) {
        return (Answer.Known) answer;
    }

    @Test
    void gpuIsNotFreeUntilTheAnswerHasRoomForAll() throws Exception {
        assertThat(holders()).isInstanceOf(Answer.Asked.class);
        awaitRequest();
        answer(OptionalLong.of(0), 300, "squats");
        Answer.Known first = known(holders(pod("squats")));
        assertThat(first.processes().and(first.holders(), List.of(pod("squats"))))
                .containsExactly(Map.entry("team/squats", Set.of(GPU)));
        assertThat(first.processes().missing().orElseThrow()).contains("lists 256, and 45 more are counted");

        for (int request = 0; request < 5; request++) {
            assertThat(holders()).as("after its end").isInstanceOf(Answer.Asked.class);
            clock.advance(Duration.ofSeconds(2L << request));
            assertThat(holders()).isInstanceOf(Answer.Asked.class);
            awaitRequest();
            answer(OptionalLong.of(1), 256);
        }
        clock.advance(Duration.ofHours(1));
        assertThat(known(holders()).processes().missing())
                .as("an operator has to see it")
                .isPresent();
        awaitRequest();
        assertThat(known(holders()).processes().missing()).isPresent();
        clock.advance(PATIENCE);
        assertThat(known(holders()).processes().missing())
                .as("a daemon that is silent now")
                .isPresent();

        clock.advance(Duration.ofHours(1));
        var unused = holders();
        awaitRequest();
        answer(OptionalLong.of(0), 256);
        assertThat(known(holders()).processes().unknown()).isEmpty();
    }

    @Test
    void fullListOfAnOlderDaemonMayBeCut() throws Exception {
        var unused = holders();
        awaitRequest();
        answer(OptionalLong.empty(), 255, "squats");
        assertThat(known(holders(pod("squats"))).processes().missing().orElseThrow())
                .contains("others were not counted");
    }
}
