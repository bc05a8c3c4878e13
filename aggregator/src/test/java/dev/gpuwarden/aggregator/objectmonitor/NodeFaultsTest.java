package dev.gpuwarden.aggregator.objectmonitor;

import static dev.gpuwarden.aggregator.objectmonitor.TestPolicies.policy;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.objectmonitor.MatchIndex.Match;
import dev.gpuwarden.aggregator.objectmonitor.NodeFaultReconciler.PolicyMatches;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Tests the conversion of matches to faults, and back. */
class NodeFaultsTest {

    private static final Instant SINCE = Instant.parse("2026-11-22T12:00:00Z");
    private static final Instant NOW = SINCE.plusSeconds(60);
    private static final MonitorPolicy POLICY = policy("p", "true");

    private static List<Fault> wanted(Map<Match.Key, Match> matches, boolean known, List<Fault> reported) {
        return NodeFaults.wanted(
                "n1", matches, name -> known ? Optional.of(POLICY) : Optional.empty(), any -> false, reported, NOW);
    }

    private static Map<Match.Key, Match> match(String... objects) {
        Map<Match.Key, Match> matches = new LinkedHashMap<>();
        for (String object : objects) {
            matches.put(new Match.Key("p", object), new Match("n1", SINCE, "digest", true, 0));
        }
        return matches;
    }

    @Test
    void eachObjectIsOneFault() {
        List<Fault> faults = wanted(match("ns/a", "ns/b"), true, List.of());
        assertThat(faults).hasSize(2);
        Fault fault = faults.get(0);
        assertThat(fault.key().agent()).isEqualTo("kubernetes-object-monitor");
        assertThat(fault.key().checkName()).isEqualTo("p");
        assertThat(fault.key().entity()).isEqualTo(new Entity("Pod", "ns/a"));
        assertThat(fault.key().errorCode()).isEqualTo("BROKEN");
        assertThat(fault.cause().fatal()).isTrue();
        assertThat(fault.since()).isEqualTo(SINCE);
    }

    @Test
    void matchesAreReadBackUnchanged() {
        Map<Match.Key, Match> read = NodeFaults.matches("n1", wanted(match("ns/a"), true, List.of()));
        assertThat(read.keySet()).containsExactly(new Match.Key("p", "ns/a"));
        Match match = read.values().iterator().next();
        assertThat(match.node()).isEqualTo("n1");
        assertThat(match.since()).isEqualTo(SINCE);
        assertThat(match.digest()).isEqualTo("digest");
        assertThat(match.confirmed()).isFalse();
    }

    @Test
    void faultsOfUnusablePolicyStayUnchanged() {
        List<Fault> reported = wanted(match("ns/a", "ns/b"), true, List.of());
        assertThat(wanted(match("ns/a"), false, reported)).containsExactly(reported.get(0));
    }

    @Test
    void heldPolicyRaisesNothingNewAndKeepsEarlierFaults() {
        List<Fault> reported = wanted(match("ns/a", "ns/b"), true, List.of());
        assertThat(NodeFaults.wanted(
                        "n1",
                        match("ns/a", "ns/c"),
                        name -> Optional.of(POLICY),
                        name -> name.equals("p"),
                        reported,
                        NOW))
                .containsExactly(reported.get(0));
        MonitorPolicy milder = TestPolicies.with(
                TestPolicies.resource("p", "Pod", "true", "resource.spec.nodeName"),
                "healthEvent: {componentClass: Software, isFatal: false, errorCode: [BROKEN]}");
        assertThat(NodeFaults.wanted(
                        "n1", match("ns/a", "ns/c"), name -> Optional.of(milder), any -> true, reported, NOW))
                .as("a changed policy changes its faults")
                .singleElement()
                .matches(fault -> !fault.cause().fatal());
        List<Fault> three = three(List.of(), "ns/a", "ns/b", "ns/c");
        for (List<Fault> before : List.of(three, List.<Fault>of())) {
            assertThat(NodeFaults.wanted(
                            "n1", match("ns/a", "ns/b", "ns/c"), name -> Optional.of(THREE), any -> true, before, NOW))
                    .isEqualTo(before);
        }
    }

    private static final MonitorPolicy THREE =
            TestPolicies.with(TestPolicies.resource("p", "Pod", "true", "resource.spec.nodeName"), "minMatches: 3");

    private static List<Fault> three(List<Fault> reported, String... objects) {
        Map<Match.Key, Match> matches = new LinkedHashMap<>();
        for (String object : objects) {
            matches.put(new Match.Key("p", object), new Match("n1", SINCE, THREE.digest(), true, 0));
        }
        return NodeFaults.wanted("n1", matches, name -> Optional.of(THREE), any -> false, reported, NOW);
    }

    @Test
    void countedObjectsAreOneFaultOfTheNode() {
        assertThat(three(List.of(), "ns/a", "ns/b")).isEmpty();
        List<Fault> four = three(List.of(), "ns/d", "ns/c", "ns/b", "ns/a");
        assertThat(four).hasSize(1);
        Fault fault = four.get(0);
        assertThat(fault.key().entity()).isEqualTo(Entity.WHOLE);
        assertThat(fault.cause().message())
                .isEqualTo("it is broken (4 match, 3 raise this: ns/a, ns/b, ns/c and 1 more)");
        assertThat(fault.since()).isEqualTo(NOW);
        assertThat(three(four, "ns/a", "ns/b", "ns/c", "ns/d", "ns/e"))
                .as("each further object would cause a write")
                .isEqualTo(four);
        assertThat(three(four, "ns/d")).as("it clears with the last one").isEqualTo(four);
        assertThat(three(four)).isEmpty();
    }

    @Test
    void countedFaultStaysUntilAllObjectsHaveArrived() {
        List<Fault> reported = three(List.of(), "ns/a", "ns/b", "ns/c");
        Map<Match.Key, Match> recalled = NodeFaults.matches("n1", reported);
        assertThat(recalled.keySet()).containsExactly(Match.Key.whole("p"));
        assertThat(NodeFaults.wanted("n1", recalled, name -> Optional.of(THREE), any -> false, reported, NOW))
                .isEqualTo(reported);
        assertThat(NodeFaults.wanted("n1", recalled, name -> Optional.of(POLICY), any -> false, reported, NOW))
                .as("also if each object raises its own fault now")
                .isEqualTo(reported);
        assertThat(wanted(match("ns/a"), false, reported))
                .as("the policy is unusable")
                .isEqualTo(reported);
        assertThat(NodeFaults.wanted("n1", match("ns/a"), name -> Optional.of(THREE), any -> false, reported, NOW))
                .as("another predicate begins again")
                .isEmpty();
    }

    @Test
    void annotationsAreBounded() {
        assertThat(PolicyMatches.text(List.of(Match.Key.whole("p")))).isEqualTo("p");
        assertThat(PolicyMatches.text(match("ns/b", "ns/a").keySet())).isEqualTo("p/ns/a,p/ns/b");
        String[] many =
                java.util.stream.IntStream.range(0, 70).mapToObj(i -> "ns/" + i).toArray(String[]::new);
        assertThat(PolicyMatches.text(match(many).keySet())).endsWith(",and 6 more");
    }
}
