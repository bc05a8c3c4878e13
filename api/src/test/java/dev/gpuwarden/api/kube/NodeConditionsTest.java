package dev.gpuwarden.api.kube;

import static dev.gpuwarden.core.event.Told.NOON;
import static dev.gpuwarden.core.event.Told.faults;
import static dev.gpuwarden.core.event.Told.xid79;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.ProcessingStrategy;
import dev.gpuwarden.core.event.Told;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class NodeConditionsTest {

    private static final String XID = "SysLogsXIDError";
    private static final Instant LATER = NOON.plus(Duration.ofMinutes(1));
    private static final List<Fault> FAULT = faults(xid79("0000:3b:00").build());
    private static final NodeView EMPTY = view(Set.of());

    private static NodeView view(Set<String> own, Condition... conditions) {
        Map<String, Condition> byType = new LinkedHashMap<>();
        Arrays.stream(conditions).forEach(condition -> byType.put(condition.type(), condition));
        return new NodeView(byType, own, Map.of());
    }

    private static List<Condition> change(List<Fault> faults, NodeView there, Instant now) {
        return NodeConditions.change(faults, true, there, now).orElse(List.of());
    }

    /** The Node after this was written. */
    private static NodeView after(NodeView before, List<Condition> written) {
        Map<String, Condition> conditions = new LinkedHashMap<>(before.conditions());
        before.own().forEach(conditions::remove);
        written.forEach(condition -> conditions.put(condition.type(), condition));
        Set<String> own = new LinkedHashSet<>();
        written.forEach(condition -> own.add(condition.type()));
        return new NodeView(conditions, own, Map.of());
    }

    @Test
    void fatalFaultIsWrittenOnce() {
        List<Condition> written = change(FAULT, EMPTY, LATER);
        assertThat(written)
                .containsExactly(new Condition(
                        XID,
                        "True",
                        "SysLogsXIDErrorIsNotHealthy",
                        "ErrorCode:79 PCI:0000:3b:00 GPU_UUID:GPU-0000:3b:00 fell off the bus"
                                + " Recommended Action=RESTART_BM;",
                        NOON,
                        LATER));
        assertThat(NodeConditions.change(FAULT, true, after(EMPTY, written), LATER.plusSeconds(60)))
                .isEmpty();
    }

    @Test
    void orderOfFaultsDoesNotMatter() {
        List<Fault> faults = faults(
                xid79("0000:3b:00").build(),
                Told.fatal("Other").build(),
                xid79("0000:4c:00").build());
        NodeView there = after(EMPTY, change(faults, EMPTY, NOON));
        List<Fault> reversed = new ArrayList<>(faults);
        java.util.Collections.reverse(reversed);
        assertThat(NodeConditions.change(reversed, true, there, LATER)).isEmpty();
    }

    @Test
    void healthyNodeGetsNoNewCondition() {
        assertThat(NodeConditions.change(List.of(), true, EMPTY, NOON)).isEmpty();
        List<Fault> mild = faults(xid79("0000:3b:00").fatal(false).build());
        assertThat(NodeConditions.change(mild, true, EMPTY, NOON)).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(names = {"STORE_ONLY", "STORE_AND_ANALYSE"})
    void storedOnlyFaultIsNoCondition(ProcessingStrategy strategy) {
        List<Fault> faults = faults(xid79("0000:3b:00").strategy(strategy).build());
        assertThat(NodeConditions.change(faults, true, EMPTY, NOON)).isEmpty();
    }

    @Test
    void clearedFaultTurnsFalseAtItsTime() {
        NodeView bad = after(EMPTY, change(FAULT, EMPTY, NOON));
        List<Condition> well = change(List.of(), bad, LATER);
        assertThat(well)
                .containsExactly(
                        new Condition(XID, "False", "SysLogsXIDErrorIsHealthy", "No Health Failures", LATER, LATER));
        assertThat(NodeConditions.change(List.of(), true, after(bad, well), LATER.plus(Duration.ofDays(1))))
                .isEmpty();
    }

    @Test
    void noConditionIsHealthyBeforeAllChecksHaveRun() {
        NodeView bad = after(EMPTY, change(FAULT, EMPTY, NOON));
        assertThat(NodeConditions.change(List.of(), false, bad, LATER)).isEmpty();
        List<Fault> other = faults(Told.fatal("GpuState").build());
        assertThat(NodeConditions.change(other, false, bad, LATER).orElseThrow())
                .extracting(Condition::type, Condition::status)
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple("GpuState", "True"),
                        org.assertj.core.groups.Tuple.tuple(XID, "True"));
    }

    @Test
    void theTransitionIsThatOfTheStatusNotOfTheText() {
        NodeView bad = after(EMPTY, change(FAULT, EMPTY, NOON));
        List<Fault> two =
                faults(xid79("0000:3b:00").build(), xid79("0000:4c:00").build());
        List<Condition> more = change(two, bad, LATER);
        assertThat(more).extracting(Condition::transition).containsExactly(NOON);
        assertThat(more.get(0).message()).contains("0000:3b:00", "0000:4c:00");
        NodeView well = after(bad, change(List.of(), bad, LATER));
        assertThat(change(FAULT, well, LATER.plusSeconds(5)))
                .as("the fault is older than the word that there is none")
                .extracting(Condition::transition)
                .containsExactly(LATER);
    }

    @Test
    void heartbeatIsRenewedRarelyAndOnlyForFaults() {
        NodeView bad = after(EMPTY, change(FAULT, EMPTY, NOON));
        Instant due = NOON.plus(NodeConditions.HEARTBEAT);
        assertThat(NodeConditions.change(FAULT, true, bad, due)).isEmpty();
        assertThat(change(FAULT, bad, due.plusSeconds(1)))
                .extracting(Condition::transition, Condition::heartbeat)
                .containsExactly(org.assertj.core.groups.Tuple.tuple(NOON, due.plusSeconds(1)));
    }

    @Test
    void removedConditionIsRestored() {
        List<Condition> written = change(FAULT, EMPTY, NOON);
        assertThat(change(FAULT, EMPTY, LATER))
                .extracting(Condition::transition)
                .containsExactly(written.get(0).transition());
    }

    @Test
    void foreignConditionsAreLeftAlone() {
        Condition theirs = new Condition(XID, "False", "XidMonitorIsContent", "", NOON, NOON);
        NodeView there = view(Set.of(), theirs);
        assertThat(NodeConditions.change(List.of(), true, there, NOON)).isEmpty();
        assertThat(change(FAULT, there, NOON)).extracting(Condition::type).containsExactly("gpuwarden.dev/" + XID);
        Condition alike = Condition.healthy(XID, XID, NOON, NOON);
        assertThat(NodeConditions.change(List.of(), true, view(Set.of(), alike), NOON))
                .as("of another program with the same contract: it alone may say that all is well")
                .isEmpty();
        assertThat(change(FAULT, view(Set.of(), alike), NOON))
                .extracting(Condition::type)
                .containsExactly(XID);
    }

    @Test
    void manyChecksAreBoundedAndNoFaultIsLost() {
        Fault[] many = IntStream.range(0, 100)
                .mapToObj(i -> faults(Told.fatal("Check" + i).build()).get(0))
                .toArray(Fault[]::new);
        List<Condition> written = change(List.of(many), EMPTY, NOON);
        assertThat(written).hasSize(NodeConditions.MOST);
        assertThat(written.get(NodeConditions.MOST - 1).type()).isEqualTo(ConditionType.OTHERS);
        assertThat(written.get(NodeConditions.MOST - 1).message()).contains("Check:Check31 ", "more, see");
        assertThat(written).allMatch(condition -> condition.message().length() <= FaultText.LONGEST);
        NodeView full = after(EMPTY, written);
        List<Condition> well = change(List.of(), full, LATER);
        assertThat(well).hasSize(NodeConditions.MOST).noneMatch(Condition::bad);
        List<Fault> fresh = new ArrayList<>(faults(Told.fatal("Fresh").build()));
        assertThat(change(fresh, after(full, well), LATER))
                .as("of those that are well one goes")
                .hasSize(NodeConditions.MOST)
                .anyMatch(condition -> condition.type().equals("Fresh") && condition.bad());
    }

    @Test
    void bodyIsAnApplyOfTheNode() {
        assertThat(NodeConditions.body("node-a", change(FAULT, EMPTY, NOON)))
                .containsEntry("kind", "Node")
                .containsEntry("metadata", Map.of("name", "node-a"));
    }
}
