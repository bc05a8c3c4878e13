package dev.gpuwarden.aggregator.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.AccessReviewer.Right;
import dev.gpuwarden.aggregator.rehearsal.Timeline;
import dev.gpuwarden.aggregator.rehearsal.Timeline.Entry;
import dev.gpuwarden.aggregator.rehearsal.Timeline.MissingRights;
import dev.gpuwarden.aggregator.rehearsal.Timeline.Stage;
import dev.gpuwarden.aggregator.rehearsal.Timeline.Verdict;
import dev.gpuwarden.cli.Output;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RehearsalReportTest {

    private static final Entry EVICT =
            new Entry(Stage.DRAIN, Verdict.DOES, "evict a/b", "accepted", Optional.of(Duration.ofSeconds(30)));
    private static final Entry AWAIT = new Entry(Stage.DRAIN, Verdict.WAITS, "await c", "", Optional.empty());
    private static final Entry STOP =
            new Entry(Stage.REPAIR, Verdict.STOPS, "make no resource", "its\nend", Optional.empty());
    private static final Entry DOUBT = new Entry(Stage.REPAIR, Verdict.UNKNOWN, "act", "no answer", Optional.empty());

    private static RehearsalReport report(List<MissingRights> missing, Entry... entries) {
        return new RehearsalReport(new Timeline(
                Instant.EPOCH,
                "n",
                "agent",
                "GPU-1",
                List.of("xid=48"),
                List.of(),
                List.of(entries),
                "agent",
                missing,
                List.of("a note")));
    }

    @Test
    void tableHasEachStepAndTheVerdict() {
        StringWriter out = new StringWriter();
        List<MissingRights> missing =
                List.of(new MissingRights("--a=b", List.of(new Right("patch", "", "nodes")), "component c"));
        report(missing, EVICT, AWAIT, STOP).print(new PrintWriter(out, true));
        assertThat(out.toString()).isEqualTo("""
                n: xid=48 of GPU-1
                STAGE   VERDICT  AT MOST  STEP              WHY
                drain   does     30s      evict a/b         accepted
                drain   waits             await c
                repair  stops             make no resource  its\\u000aend
                missing rights: agent may not patch nodes, which --a=b needs; component c grants them
                note: a note
                n would not be repaired: repair: make no resource (its\\u000aend)
                the steps with a limit take at most 30s
                dry run: nothing was changed
                """);
    }

    @Test
    void podsLeaveTogetherAndOtherStepsFollow() {
        Entry reset = new Entry(Stage.MAINTENANCE, Verdict.DOES, "r", "", Optional.of(Duration.ofMinutes(10)));
        assertThat(report(List.of(), EVICT, EVICT, reset, reset).tree()).containsEntry("mostSeconds", 1230L);
    }

    @Test
    void firstStopOrMissingRightDecides() {
        List<MissingRights> missing = List.of(new MissingRights("s", List.of(), "c"));
        assertThat(report(List.of(), EVICT, AWAIT).exitCode()).isZero();
        assertThat(report(List.of(), EVICT, DOUBT).exitCode()).isEqualTo(3);
        assertThat(report(List.of(), DOUBT, STOP).exitCode()).isEqualTo(1);
        assertThat(report(missing, EVICT).exitCode()).isEqualTo(1);
        assertThat(report(missing, EVICT).tree())
                .containsEntry("outcome", "stops")
                .containsEntry("why", "would not be repaired: agent lacks rights");
        assertThat(report(List.of(), EVICT, DOUBT).tree()).containsEntry("outcome", "undecided");
        assertThat(Output.json(report(List.of(), EVICT, AWAIT).tree()))
                .contains("\"outcome\": \"returns\"", "\"mostSeconds\": 30", "\"mostSeconds\": null");
    }
}
