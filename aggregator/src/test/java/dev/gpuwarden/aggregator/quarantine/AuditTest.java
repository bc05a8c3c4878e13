package dev.gpuwarden.aggregator.quarantine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.breaker.Breaker;
import dev.gpuwarden.aggregator.fleet.NodeRead;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AuditTest extends QuarantineSetup {

    private final TestNode bare = new TestNode("{\"metadata\": {\"name\": \"node-1\", \"uid\": \"u-1\"}}");

    private Audit decided(NodeRead node) {
        tell(xid("79"));
        Breaker.Answer breaker = YES;
        return ((Decision.Act) Quarantine.decide(
                        node, Report.trusted("node-1", table.faults()), rules, any -> breaker, Mode.ARMED, T0))
                .audit();
    }

    @Test
    void theSameOfANodeThatSomebodyAnnotatedMeanwhileIsARepetition() {
        Audit first = decided(bare.read());
        bare.texts("annotations").put("example.com/note", "1");
        bare.texts("labels").put("zone", "a");
        bare.changed();
        Audit again = decided(bare.read());
        assertThat(again.resourceVersion()).isNotEqualTo(first.resourceVersion());
        assertThat(again.patch())
                .as("no room is to be made")
                .hasSizeLessThan(first.patch().size());
        assertThat(again.repeats(first)).isTrue();
    }

    @Test
    void theSameOfANodeThatSomebodyCordonedMeanwhileIsNone() {
        Audit first = decided(bare.read());
        bare.spec().putAll(Map.of("unschedulable", true));
        bare.changed();
        assertThat(decided(bare.read()).repeats(first)).isFalse();
    }
}
