package dev.gpuwarden.aggregator.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.gpuwarden.aggregator.ingest.NodeSession.Draft;
import dev.gpuwarden.aggregator.ingest.UplinkStep.AllFaults;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Happened;
import dev.gpuwarden.aggregator.nodehealth.StoredHealth;
import dev.gpuwarden.aggregator.nodehealth.StoredHealth.StreamEpoch;
import dev.gpuwarden.api.v1.Hello;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.node.ReportedGpus;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The content and the time of a node's writes; without a stream there are no acknowledgements. */
class NodeSessionTest {

    private static final Instant NOW = TestFaults.SEEN;

    private final NodeSession record = new NodeSession(
            Hello.newBuilder().setNodeName("n1").build(),
            new StreamEpoch(NOW, "a"),
            new StoredHealth("u", "7", Optional.empty(), 12));

    private boolean reported(long generation) {
        return record.reported(new AllFaults(generation, List.of(TestFaults.fault("n1", "79"))), NOW);
    }

    private boolean happened(long sequence, boolean history) {
        return record.happened(new Happened(sequence, TestFaults.mended("n1"), NOW, history), NOW);
    }

    @Test
    void manyReportsBecomeOneWrite() {
        assertThat(reported(1)).isTrue();
        assertThat(happened(1, true)).isFalse();
        Draft draft = record.begin();
        assertThat(draft.state().sequence()).isEqualTo(1);
        assertThat(draft.state().faults()).hasSize(1);
        assertThat(happened(2, false)).as("the present writer writes it too").isFalse();
        record.kept(draft, new StoredHealth("u", "8", Optional.empty(), 1));
        assertThat(record.end()).isTrue();
        Draft next = record.begin();
        assertThat(next.state().faults()).isEmpty();
        assertThat(next.held().version()).isEqualTo("8");
        assertThat(record.end()).isFalse();
        assertThat(record.isOver()).isTrue();
    }

    @Test
    void failedWriteIsRepeatedAndCountsFromItsFirstReport() {
        reported(1);
        Draft first = record.begin();
        record.notKept(first);
        assertThat(record.end()).isTrue();
        Draft second = record.begin();
        assertThat(second.state()).isEqualTo(first.state());
        assertThat(second.sinceNanos()).isEqualTo(first.sinceNanos());
    }

    private boolean warned(long sequence) {
        return record.happened(
                new Happened(sequence, TestFaults.hugeFault("n1", 1).cause(), NOW, false), NOW);
    }

    private void writtenOnce() {
        reported(1);
        record.kept(record.begin(), new StoredHealth("u", "8", Optional.empty(), 1));
    }

    @Test
    void afterAWriteOnlyUrgentNewsStartsAnotherOneImmediately() {
        writtenOnce();
        assertThat(record.rest()).isFalse();
        assertThat(warned(2)).as("waits for the end of the rest").isFalse();
        assertThat(happened(3, false)).as("a fault that is over").isTrue();
        assertThat(happened(4, false)).as("the same write").isFalse();
        assertThat(record.rested()).isEqualTo(NodeSession.Rested.BEFORE);
        record.begin();
        assertThat(record.rest()).as("the draft has it all").isFalse();
        assertThat(record.rested()).isEqualTo(NodeSession.Rested.NOTHING);
        assertThat(record.isOver()).isTrue();
    }

    @Test
    void otherNewsIsWrittenAfterTheRest() {
        writtenOnce();
        warned(2);
        assertThat(record.rest()).isFalse();
        assertThat(record.rested()).isEqualTo(NodeSession.Rested.NEWS);
        assertThat(record.isOver()).as("its write is about to begin").isFalse();
        assertThat(warned(3)).isFalse();
    }

    @Test
    void urgentNewsDuringAWriteAndManyEventsDoNotWait() {
        writtenOnce();
        record.ahead(TestFaults.fault("n1", "48"), NOW);
        assertThat(record.rest()).isTrue();
        record.begin();
        assertThat(record.rest()).isFalse();
        boolean started = false;
        for (int i = 0; i < 40; i++) {
            started |= warned(2 + i);
        }
        assertThat(started).isTrue();
    }

    @Test
    void eventThatIsInThePagesChangesNothing() {
        reported(1);
        happened(1, true);
        assertThat(record.begin().state().faults()).hasSize(1);
    }

    @Test
    void faultAheadOfItsEventStaysUntilTheEventArrives() {
        reported(1);
        Fault cause = TestFaults.fault("n1", "48");
        Fault ahead = new Fault(cause.key(), cause.cause(), 9, NOW, NOW, 1);
        record.ahead(ahead, NOW);
        assertThat(record.begin().state().faults()).hasSize(2).contains(ahead);
        happened(8, false);
        assertThat(record.begin().state().faults())
                .as("an older event clears the check, and no later fault")
                .containsExactly(ahead);
        record.happened(new Happened(9, TestFaults.xid("n1", "48"), NOW, false), NOW);
        assertThat(record.begin().state().faults())
                .extracting(Fault::key, Fault::sequence)
                .containsExactly(tuple(ahead.key(), 9L));
        happened(10, false);
        assertThat(record.begin().state().faults()).isEmpty();
    }

    @Test
    void newGenerationReplacesFaultsThatCameAhead() {
        reported(1);
        record.ahead(TestFaults.fault("n1", "48"), NOW);
        reported(2);
        assertThat(record.begin().state().faults()).hasSize(1);
    }

    @Test
    void changedNamesOfGpusAreWrittenAfterTheFirstGeneration() {
        ReportedGpus third = new ReportedGpus(
                List.of(new ReportedGpus.Gpu(3, Optional.empty(), Optional.of("GPU-c"), Optional.empty())));
        assertThat(record.named(third, NOW)).as("nothing is reported yet").isFalse();
        reported(1);
        Draft draft = record.begin();
        assertThat(draft.state().gpus()).isEqualTo(third);
        record.kept(draft, draft.held());
        record.end();
        assertThat(record.named(third, NOW)).as("the same").isFalse();
        assertThat(record.named(ReportedGpus.NONE, NOW)).isTrue();
    }

    @Test
    void nodeWithoutACompleteReportIsNeverWritten() {
        assertThat(record.alive(NOW.plus(NodeSession.CONFIRM).plusSeconds(1))).isFalse();
    }

    @Test
    void nodeWithoutNewsIsConfirmedPeriodically() {
        reported(1);
        Draft draft = record.begin();
        record.kept(draft, draft.held());
        record.end();
        assertThat(record.alive(NOW.plusSeconds(30))).isFalse();
        assertThat(record.alive(NOW.plus(NodeSession.CONFIRM).plusSeconds(1))).isTrue();
    }

    @Test
    void nodeWaitsUntilFaultsAndWindowOfEventsAreStored() {
        reported(1);
        assertThat(record.full(2)).isTrue();
    }

    @Test
    void nodeWithAFullWindowMaySendAFaultAhead() {
        happened(1, false);
        happened(2, false);
        assertThat(record.full(2)).isFalse();
        happened(3, false);
        assertThat(record.full(2)).isTrue();
    }

    @Test
    void forgottenSessionIsNotWrittenAgain() {
        reported(1);
        Draft draft = record.begin();
        record.forget();
        record.notKept(draft);
        assertThat(happened(2, false)).isFalse();
        assertThat(record.end()).isFalse();
        assertThat(record.isOver()).isTrue();
    }
}
