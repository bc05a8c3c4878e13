package dev.gpuwarden.daemon.repair;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.ProcessingStrategy;
import dev.gpuwarden.core.event.Proof;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Snapshots;
import dev.gpuwarden.core.node.KnownGpus;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.ResetUnits;
import dev.gpuwarden.core.telemetry.GpuState;
import dev.gpuwarden.daemon.repair.RepairAttempt.End;
import dev.gpuwarden.daemon.repair.RepairAttempt.Kind;
import dev.gpuwarden.daemon.repair.RepairAttempt.Outcome;
import dev.gpuwarden.daemon.repair.ServerDecision.Planned;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ServerDecisionTest {

    private static final String GPU = "GPU-5a196066-fd1b-446e-b920-f64089942995";
    private static final String OTHER = "GPU-e30be85e-9655-4a20-8382-d44ce5685f74";
    private static final Instant START = Instant.parse("2026-06-01T00:00:00Z");
    private static final Duration SETTLE = Duration.ofMinutes(1);
    private static final Instant RIPE = START.plus(SETTLE);
    private static final RepairRules RULES = new RepairRules(SETTLE, 2, 4, true, Set.of());
    private static final RepairRules NO_REBOOT = new RepairRules(SETTLE, 2, 4, false, Set.of());

    private final FaultTable faults = new FaultTable();
    private final List<RepairAttempt> attempts = new ArrayList<>();
    private ResetUnits units = ResetUnits.UNKNOWN;
    private Set<String> listed = Set.of(GPU, OTHER);

    private static HealthEvent.Builder event(String check, String code, RecommendedAction action, String... gpus) {
        return HealthEvent.of("agent", "GPU", check)
                .errorCodes(List.of(code))
                .fatal(true)
                .action(action)
                .entities(List.of(gpus).stream()
                        .map(gpu -> new Entity(Entity.GPU_UUID, gpu))
                        .toList());
    }

    private void raise(RecommendedAction action, String... gpus) {
        faults.apply(event("xid", "48", action, gpus).build(), 1, START);
    }

    private void ended(Kind kind, Outcome outcome, Instant at) {
        attempts.add(new RepairAttempt(
                at.toString(),
                kind,
                Set.of(GPU),
                "xid 48",
                at,
                "boot",
                List.of(),
                Optional.of(new End(at, outcome, "detail"))));
    }

    private ServerDecision decide(RepairRules rules, Instant now) {
        return ServerDecision.decide(
                faults.faults(), attempts, rules, new ServerGpus(listed, Set.of(GPU, OTHER), Set.of(), units), now);
    }

    @Test
    void aFaultThatLastsAsLongAsTheSettleTimeIsReset() {
        raise(RecommendedAction.COMPONENT_RESET, GPU);
        assertThat(decide(RULES, RIPE.minusMillis(1)))
                .isEqualTo(new ServerDecision(Optional.empty(), List.of(), Optional.of(RIPE)));
        assertThat(decide(RULES, RIPE).action()).contains(new Planned(Kind.RESET, Set.of(GPU), "xid 48"));
    }

    @Test
    void aLineThatAnyUserMayHaveWrittenIsAnOperators() {
        HealthEvent.Builder unproven = event("xid", "79", RecommendedAction.RESTART_BM, GPU)
                .strategy(ProcessingStrategy.STORE_ONLY)
                .metadata(Proof.missing());
        faults.apply(unproven.build(), 1, START);
        ServerDecision decision = decide(RULES, RIPE);
        assertThat(decision.action()).isEmpty();
        assertThat(decision.tasks()).singleElement().asString().startsWith("examine xid 79 of " + GPU);
    }

    @Test
    void timesOfAClockThatWasAheadDelayNothing() {
        raise(RecommendedAction.COMPONENT_RESET, GPU);
        Instant corrected = START.minus(Duration.ofDays(3650));
        assertThat(decide(RULES, corrected).action())
                .as("a fault of the future")
                .isPresent();
        assertThat(decide(RULES, START.minusSeconds(1)).action())
                .as("a clock that was set back a little")
                .isEmpty();
        ended(Kind.RESET, Outcome.HELD, START);
        assertThat(decide(RULES, corrected).action())
                .as("a repair of the future")
                .isPresent();
    }

    @ParameterizedTest
    @ValueSource(strings = {GPU, OTHER, GPU + " " + OTHER})
    void gpusThatCanOnlyBeResetTogetherAreOneReset(String atFault) {
        units = new ResetUnits(Map.of(GPU, Set.of(GPU, OTHER), OTHER, Set.of(GPU, OTHER)));
        raise(RecommendedAction.COMPONENT_RESET, atFault.split(" "));
        assertThat(decide(RULES, RIPE).action()).contains(new Planned(Kind.RESET, Set.of(GPU, OTHER), "xid 48"));
    }

    @Test
    void gpusOfTwoUnitsAreLeftToAnOperator() {
        units = new ResetUnits(Map.of(GPU, Set.of(GPU), OTHER, Set.of(OTHER)));
        raise(RecommendedAction.COMPONENT_RESET, GPU, OTHER);
        assertThat(decide(RULES, RIPE).action()).isEmpty();
        assertThat(decide(RULES, RIPE).tasks()).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({
        "COMPONENT_RESET, GPU-deadbeef-0000-0000-0000-000000000000",
        "RESTART_BM, GPU-deadbeef-0000-0000-0000-000000000000",
        "CONTACT_SUPPORT, GPU-deadbeef-0000-0000-0000-000000000000",
        "COMPONENT_RESET, GPU-5a196066",
        "RESTART_VM, gpu 3"
    })
    void aGpuThatThisServerDoesNotHaveIsATaskAndNoRepair(RecommendedAction action, String uuid) {
        raise(action, uuid);
        ServerDecision decision = decide(new RepairRules(SETTLE, 2, 4, true, Set.of("CONTACT_SUPPORT")), RIPE);
        assertThat(decision.action()).isEmpty();
        assertThat(decision.tasks())
                .singleElement()
                .asString()
                .endsWith(": expected a GPU of this server, one of [" + GPU + ", " + OTHER + "], seen " + uuid);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aGpuThatWasLostBeforeTheFirstStartIsOneOfThisServer(int slot) {
        NodeSnapshot node = Snapshots.running(
                2, Snapshots.healthy(0), Snapshots.gpu(Snapshots.anonymous(1), GpuState.LOST, frame -> {}));
        faults.apply(
                event("xid", "79", RecommendedAction.RESTART_BM)
                        .entities(List.of(Entity.pci(Snapshots.pci(slot)), Entity.gpu(GPU)))
                        .build(),
                1,
                START);
        ServerGpus gpus = ServerGpus.of(node, KnownGpus.NONE);
        assertThat(ServerDecision.decide(faults.faults(), attempts, RULES, gpus, RIPE)
                        .action()
                        .isPresent())
                .as("the board in slot 0 has another name")
                .isEqualTo(slot == 1);
    }

    @Test
    void aGpuThatTheDriverNoLongerListsIsRebootedForAndNeverReset() {
        listed = Set.of(OTHER);
        raise(RecommendedAction.COMPONENT_RESET, GPU);
        assertThat(decide(RULES, RIPE).action()).isEmpty();
        assertThat(decide(RULES, RIPE).tasks()).singleElement().asString().endsWith("so it cannot be reset");
        faults.apply(event("xid", "79", RecommendedAction.RESTART_BM, GPU).build(), 2, START);
        assertThat(decide(RULES, RIPE).action()).contains(new Planned(Kind.REBOOT, Set.of(GPU), "xid 79"));
    }

    @Test
    void twoFaultsOfOneGpuAreOneRepair() {
        raise(RecommendedAction.COMPONENT_RESET, GPU);
        faults.apply(
                event("state", "reset-required", RecommendedAction.COMPONENT_RESET, GPU)
                        .build(),
                2,
                RIPE);
        assertThat(decide(RULES, RIPE).action()).as("the younger one settles").isEmpty();
        assertThat(decide(RULES, RIPE.plus(SETTLE)).action())
                .contains(new Planned(Kind.RESET, Set.of(GPU), "state reset-required, xid 48"));
    }

    @Test
    void twoGpusAreResetOneAfterTheOther() {
        raise(RecommendedAction.COMPONENT_RESET, GPU);
        faults.apply(
                event("xid", "48", RecommendedAction.COMPONENT_RESET, OTHER).build(), 2, RIPE);
        Instant later = RIPE.plus(SETTLE);
        assertThat(decide(RULES, later).action().orElseThrow().subjects()).containsExactly(GPU);
        ended(Kind.RESET, Outcome.SUCCEEDED, later);
        assertThat(decide(RULES, later).action().orElseThrow().subjects()).containsExactly(OTHER);
    }

    @Test
    void aResetThatNamesNoGpuOrTwoIsAnOperators() {
        raise(RecommendedAction.COMPONENT_RESET);
        faults.apply(
                event("link", "x", RecommendedAction.COMPONENT_RESET, GPU, OTHER)
                        .build(),
                2,
                START);
        ServerDecision decision = decide(RULES, RIPE);
        assertThat(decision.action()).isEmpty();
        assertThat(decision.tasks()).hasSize(2);
    }

    @ParameterizedTest
    @EnumSource(RecommendedAction.class)
    void everyOtherActionIsAnOperatorsAndNoneRequestsNothing(RecommendedAction action) {
        raise(action, GPU);
        ServerDecision decision = decide(RULES, RIPE);
        boolean carriedOut = Set.of(
                        RecommendedAction.COMPONENT_RESET, RecommendedAction.RESTART_VM, RecommendedAction.RESTART_BM)
                .contains(action);
        assertThat(decision.action().isPresent()).isEqualTo(carriedOut);
        assertThat(decision.tasks()).hasSize(carriedOut || action == RecommendedAction.NONE ? 0 : 1);
    }

    @Test
    void aFaultThatIsNotFatalRequestsNothing() {
        faults.apply(
                event("xid", "48", RecommendedAction.COMPONENT_RESET, GPU)
                        .fatal(false)
                        .build(),
                1,
                START);
        assertThat(decide(RULES, RIPE)).isEqualTo(new ServerDecision(Optional.empty(), List.of(), Optional.empty()));
    }

    @Test
    void aFailedResetLeadsToARebootAndAFailedRebootToAnOperator() {
        raise(RecommendedAction.COMPONENT_RESET, GPU);
        ended(Kind.RESET, Outcome.FAILED, RIPE);
        Instant later = RIPE.plus(SETTLE);
        assertThat(decide(RULES, later.minusMillis(1)).again()).contains(later);
        assertThat(decide(RULES, later).action().orElseThrow().kind()).isEqualTo(Kind.REBOOT);
        assertThat(decide(NO_REBOOT, later).action()).isEmpty();
        assertThat(decide(NO_REBOOT, later).tasks()).singleElement().asString().contains("--repair.reboot=never");
        ended(Kind.REBOOT, Outcome.FAILED, later);
        ServerDecision last = decide(RULES, later.plus(SETTLE));
        assertThat(last.action()).isEmpty();
        assertThat(last.tasks()).singleElement().asString().contains("repair or replace " + GPU, "reboot failed");
    }

    @Test
    void repairsWithoutAnEffectEscalateUntilTheyAreForgotten() {
        raise(RecommendedAction.COMPONENT_RESET, GPU);
        ended(Kind.RESET, Outcome.SUCCEEDED, START);
        ended(Kind.RESET, Outcome.SUCCEEDED, START.plusSeconds(60));
        Instant later = START.plusSeconds(120);
        assertThat(decide(RULES, later).action().orElseThrow().kind()).isEqualTo(Kind.REBOOT);
        ended(Kind.REBOOT, Outcome.SUCCEEDED, later);
        ended(Kind.REBOOT, Outcome.SUCCEEDED, later.plusSeconds(60));
        assertThat(decide(RULES, later.plusSeconds(120)).tasks())
                .singleElement()
                .asString()
                .contains("2 reboots within 7 days");
        assertThat(decide(RULES, later.plus(Duration.ofDays(8)))
                        .action()
                        .orElseThrow()
                        .kind())
                .isEqualTo(Kind.RESET);
    }

    @Test
    void aGpuInUseIsTriedAgainAnHourLaterAndCountsAsNoFailure() {
        raise(RecommendedAction.COMPONENT_RESET, GPU);
        ended(Kind.RESET, Outcome.HELD, RIPE);
        Instant next = RIPE.plus(RepairRules.RETRY);
        ServerDecision waits = decide(RULES, next.minusSeconds(1));
        assertThat(waits.action()).isEmpty();
        assertThat(waits.tasks()).singleElement().asString().contains("was not begun: detail", "2026-06-01T01:01:00Z");
        assertThat(waits.again()).contains(next);
        assertThat(decide(RULES, next).action().orElseThrow().kind()).isEqualTo(Kind.RESET);
    }

    @Test
    void aHookRunsInsteadAndAFailureOrRunsWithoutAnEffectAreAnOperators() {
        RepairRules rules = new RepairRules(SETTLE, 2, 4, true, Set.of("COMPONENT_RESET", "CUSTOM:fix"));
        raise(RecommendedAction.COMPONENT_RESET, GPU);
        faults.apply(
                event("fabric", "1", RecommendedAction.CUSTOM, OTHER)
                        .customAction("fix")
                        .build(),
                2,
                START);
        assertThat(decide(rules, RIPE).action()).contains(new Planned(Kind.HOOK, Set.of(GPU), "xid 48"));
        ended(Kind.HOOK, Outcome.SUCCEEDED, RIPE);
        assertThat(decide(rules, RIPE).action()).contains(new Planned(Kind.HOOK, Set.of(OTHER), "fabric 1"));
        Instant later = RIPE.plus(SETTLE);
        assertThat(decide(rules, later).action().orElseThrow().subjects()).containsExactly(GPU);
        ended(Kind.HOOK, Outcome.SUCCEEDED, later);
        assertThat(decide(rules, later.plus(SETTLE)).tasks())
                .containsExactly("component-reset for xid 48 of " + GPU
                        + ": 2 runs of the hook within 7 days did not repair it");
        ended(Kind.HOOK, Outcome.FAILED, later.plusSeconds(1));
        assertThat(decide(rules, later.plus(SETTLE.multipliedBy(2))).tasks())
                .containsExactly(
                        "component-reset for xid 48 of " + GPU + ": the hook failed within 7 days (gpuwarden repairs)");
    }

    /** Faults that return whatever is done, on a server of its own clock: bounds hold for every mix of outcomes. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void noMixOfOutcomesExceedsTheBounds(long seed) {
        Random random = new Random(seed * 0x9E3779B97F4A7C15L);
        raise(RecommendedAction.COMPONENT_RESET, GPU);
        Instant now = RIPE;
        for (int turn = 0; turn < 400; turn++) {
            Optional<Planned> action = decide(RULES, now).action();
            if (action.isPresent()) {
                Instant day = now.minus(Duration.ofDays(1));
                assertThat(attempts.stream().filter(each -> each.began().isAfter(day)))
                        .hasSizeLessThan(RULES.mostPerDay());
                Instant week = now.minus(Duration.ofDays(7));
                assertThat(attempts.stream()
                                .filter(each -> each.kind() == Kind.REBOOT && each.ended(Outcome.FAILED))
                                .filter(each -> each.began().isAfter(week)))
                        .as("after a failed reboot only an operator continues")
                        .isEmpty();
                Outcome[] outcomes = Outcome.values();
                ended(action.get().kind(), outcomes[random.nextInt(outcomes.length)], now);
            }
            now = now.plus(Duration.ofMinutes(random.nextInt(300)));
        }
        assertThat(attempts).hasSizeGreaterThan(5);
    }
}
