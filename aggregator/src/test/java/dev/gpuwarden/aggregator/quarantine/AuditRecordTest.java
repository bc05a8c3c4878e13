package dev.gpuwarden.aggregator.quarantine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.breaker.BreakerPolicy;
import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.quarantine.QuarantineDecider.Decision;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AuditRecordTest extends QuarantineSetup {

    private final InMemoryNode bare = new InMemoryNode("{\"metadata\": {\"name\": \"node-1\", \"uid\": \"u-1\"}}");

    private AuditRecord decided(CachedNode node) {
        report(xid("79"));
        BreakerPolicy.Answer breaker = YES;
        return ((Decision.Act) QuarantineDecider.decide(
                        node,
                        FaultReport.trusted("node-1", table.faults()),
                        rules,
                        any -> breaker,
                        ActionMode.ARMED,
                        T0))
                .audit();
    }

    @Test
    void sameDecisionAfterAnotherWritersAnnotationIsARepetition() {
        AuditRecord first = decided(bare.read());
        bare.texts("annotations").put("example.com/note", "1");
        bare.texts("labels").put("zone", "a");
        bare.changed();
        AuditRecord again = decided(bare.read());
        assertThat(again.resourceVersion()).isNotEqualTo(first.resourceVersion());
        assertThat(again.patch())
                .as("the map of annotations exists already")
                .hasSizeLessThan(first.patch().size());
        assertThat(again.repeats(first)).isTrue();
    }

    @Test
    void sameDecisionAfterAnotherWritersCordonIsNoRepetition() {
        AuditRecord first = decided(bare.read());
        bare.spec().putAll(Map.of("unschedulable", true));
        bare.changed();
        assertThat(decided(bare.read()).repeats(first)).isFalse();
    }
}
