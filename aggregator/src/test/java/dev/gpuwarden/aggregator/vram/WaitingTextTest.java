package dev.gpuwarden.aggregator.vram;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.vram.BudgetedNodes.Amount;
import dev.gpuwarden.aggregator.vram.NodeRoom.Holder;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Pods that wait, and the text of their Events. */
class WaitingTextTest {

    private static final String RESOURCE = "gpuwarden.dev/vram-mib";
    private static final Instant SINCE = Instant.parse("2026-01-02T03:04:05Z");

    private static String unknown(int nodes) {
        return " Pods above their budgets are unknown on " + nodes + " of these nodes: see `gpuwarden vram top` there.";
    }

    private static String text(
            WaitingPod pod, List<Amount> nodes, Map<String, NodeRoom> rooms, Map<String, Map<String, Long>> over) {
        return WaitingText.of(pod, RESOURCE, nodes, new WaitingText.Known(rooms, over), Duration.ofSeconds(40));
    }

    private static Optional<WaitingPod> read(String metadata, String spec, String condition) throws Exception {
        return WaitingPod.of(Json.readObject("""
                        {"metadata": {"namespace": "ocr", "name": "llama", "uid": "u1"%s},
                         "spec": {"nodeSelector": {"zone": "a"}%s, "containers": [{"resources": {"limits": {"%s": "5k"}}}]},
                         "status": {"conditions": [{"type": "PodScheduled", %s}]}}""".formatted(metadata, spec, RESOURCE, condition)), RESOURCE);
    }

    private static final String LACKS = """
            "status": "False", "reason": "Unschedulable", "lastTransitionTime": "2026-01-02T03:04:05Z",
            "message": "0/1 nodes are available: 1 Insufficient gpuwarden.dev/vram-mib.\"""";

    @Test
    void aPodThatLacksTheResourceWaits() throws Exception {
        assertThat(read("", "", LACKS))
                .contains(new WaitingPod("ocr", "llama", "u1", 5000, Map.of("zone", "a"), SINCE));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''                                                      | , \"nodeName\": \"n1\" | ''",
                ", \"deletionTimestamp\": \"2026-01-02T03:04:05Z\"       | ''                     | ''",
                "''                                                      | ''                     | 1 Insufficient cpu",
            })
    void otherPodsDoNot(String metadata, String spec, String message) throws Exception {
        String condition = message.isEmpty() ? LACKS : LACKS.replace("1 Insufficient " + RESOURCE, message);
        assertThat(read(metadata, spec, condition)).isEmpty();
        assertThat(read("", "", "\"status\": \"True\"")).isEmpty();
    }

    private static WaitingPod pod(Map<String, String> labels) {
        return new WaitingPod("ocr", "llama", "u1", 9000, labels, SINCE);
    }

    private static Amount node(String name, long mib, boolean cordoned, String zone) {
        return new Amount(name, mib, mib, cordoned, Map.of("zone", zone));
    }

    @Test
    void nodesAreNamedWithTheirHoldersAndTheLargestFirst() {
        List<Amount> nodes = List.of(
                node("small", 3000, true, "a"), node("large", 13374, false, "a"), node("away", 80000, false, "b"));
        Map<String, NodeRoom> rooms = Map.of(
                "large",
                        new NodeRoom("large", List.of(new Holder("ocr/x", "ux", 8000), new Holder("web/y", "uy", 374))),
                "small", new NodeRoom("small", List.of()));
        assertThat(text(pod(Map.of("zone", "a")), nodes, rooms, Map.of("small", Map.of())))
                .isEqualTo("waits for 9000 MiB of gpuwarden.dev/vram-mib for 40 s."
                        + " large has 13374 MiB, 5000 free; held by ocr/x 8000, web/y 374."
                        + " small (cordoned) has 3000 MiB, all free."
                        + " Nodes that its nodeSelector excludes: 1." + unknown(1));
        assertThat(text(
                        pod(Map.of("zone", "a")),
                        nodes,
                        rooms,
                        Map.of("small", Map.of(), "large", Map.of("uy", 1024L))))
                .contains("; held by web/y 374 (uses 1024 more), ocr/x 8000. ")
                .doesNotContain("unknown");
        assertThat(text(pod(Map.of()), List.of(nodes.get(1)), Map.of(), Map.of()))
                .contains(" large has 13374 MiB; its pods could not be read.");
        assertThat(text(pod(Map.of()), List.of(), Map.of(), Map.of())).contains(" No node has the resource.");
    }

    @Test
    void theTextFitsAnEvent() {
        List<Amount> nodes = new ArrayList<>();
        Map<String, NodeRoom> rooms = new HashMap<>();
        for (int i = 0; i < 500; i++) {
            String name = "n" + i + "x".repeat(40);
            nodes.add(node(name, 81920, false, "a"));
            rooms.put(
                    name,
                    new NodeRoom(
                            name,
                            IntStream.range(0, 300)
                                    .mapToObj(each ->
                                            new Holder("p".repeat(20) + "/" + "q".repeat(20) + each, "u" + each, 100))
                                    .toList()));
        }
        String text = WaitingText.of(
                pod(Map.of()), RESOURCE, nodes, new WaitingText.Known(rooms, Map.of()), Duration.ofDays(900));
        assertThat(text)
                .hasSizeLessThanOrEqualTo(1024)
                .contains("Nodes not listed: 499.")
                .contains("unknown on 1 of");
        assertThat(WaitingText.shown(pod(Map.of()), nodes)).hasSize(WaitingText.MOST_NODES);
    }
}
