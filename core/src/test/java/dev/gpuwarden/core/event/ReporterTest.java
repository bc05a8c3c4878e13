package dev.gpuwarden.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.FaultTable.Effect;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * The right of each reporter to end a fault.
 *
 * <p>{@code -Dgpuwarden.reporter.sequences=100000} runs more random orders, {@code -Dgpuwarden.reporter.seed} others.
 */
class ReporterTest {

    private static final Entity GPU = Entity.gpu("GPU-1");
    private static final Reporter MONITOR = new Reporter("namespace monitoring", "pod monitoring/dcgm-abcde, user 0");
    private static final Reporter LATER = new Reporter("namespace monitoring", "pod monitoring/dcgm-vwxyz, user 0");
    private static final Reporter BATCH = new Reporter("namespace batch", "pod batch/train-0, user 0");
    private static final int SEQUENCES = Integer.getInteger("gpuwarden.reporter.sequences", 3_000);
    private static final long SEED = Long.getLong("gpuwarden.reporter.seed", 1);

    private final FaultTable table = new FaultTable();
    private long sequence;

    @Test
    void aLaterPodOfTheMonitorEndsWhatItRaisedAndAnotherPodDoesNot() {
        apply(by(MONITOR, xid("dcgm")));
        assertThat(apply(by(BATCH, healthy("dcgm")))).isEqualTo(Effect.REPEATED);
        assertThat(table.size()).isEqualTo(1);
        assertThat(apply(by(LATER, healthy("dcgm")))).isEqualTo(Effect.CLEARED);
        assertThat(table.size()).isZero();
    }

    @Test
    void noReporterEndsTheFaultsOfTheKernelLogWhateverNameItUses() {
        apply(xid(Reporter.KERNEL_LOG));
        assertThat(apply(by(BATCH, healthy(Reporter.KERNEL_LOG)))).isEqualTo(Effect.REPEATED);
        assertThat(apply(healthy(Reporter.KERNEL_LOG))).isEqualTo(Effect.CLEARED);
    }

    /** NVSentinel's monitor has the name of gpuwarden's. Each ends its own fault about the same GPU and code. */
    @Test
    void twoReportersOfOneFaultEndItOnlyTogether() {
        apply(by(MONITOR, xid(Reporter.KERNEL_LOG)));
        assertThat(apply(xid(Reporter.KERNEL_LOG))).isEqualTo(Effect.RAISED);
        apply(by(MONITOR, healthy(Reporter.KERNEL_LOG)));
        assertThat(table.faults()).extracting(fault -> fault.key().reporter()).containsExactly("");
        apply(healthy(Reporter.KERNEL_LOG));
        assertThat(table.size()).isZero();
    }

    @Test
    void aReportOfAnotherDoesNotMakeAFatalFaultHarmless() {
        apply(xid(Reporter.KERNEL_LOG));
        HealthEvent harmless = xid(Reporter.KERNEL_LOG).toBuilder()
                .fatal(false)
                .action(RecommendedAction.NONE)
                .build();
        apply(by(BATCH, harmless));
        assertThat(table.faults()).anyMatch(Fault::decides);
    }

    @Test
    void anAdministratorEndsEachFault() {
        apply(xid(Reporter.KERNEL_LOG));
        apply(by(MONITOR, xid(Reporter.KERNEL_LOG)));
        HealthEvent order = healthy(Reporter.KERNEL_LOG).toBuilder()
                .metadata(Map.of(Reporter.REQUESTED_BY, "uid 0, pid 7"))
                .build();
        assertThat(apply(order)).isEqualTo(Effect.CLEARED);
        assertThat(table.size()).isZero();
    }

    @Test
    void aFaultOfAnOlderVersionEndsAsBeforeButNotUnderAnOwnName() {
        apply(xid("dcgm"));
        apply(xid(Reporter.CHECKS));
        apply(by(MONITOR, healthy("dcgm")));
        apply(by(MONITOR, healthy(Reporter.CHECKS)));
        assertThat(table.faults()).extracting(fault -> fault.key().agent()).containsExactly(Reporter.CHECKS);
    }

    @Test
    void aHealthyReportAboutFaultsOfOthersAloneIsNamedAsSuch() {
        apply(xid(Reporter.KERNEL_LOG));
        HealthEvent acquittal = by(MONITOR, healthy(Reporter.KERNEL_LOG));
        assertThat(FaultTable.withheld(table.faults(), acquittal)).hasSize(1);
        apply(by(MONITOR, xid(Reporter.KERNEL_LOG)));
        assertThat(FaultTable.withheld(table.faults(), acquittal)).isEmpty();
        assertThat(FaultTable.withheld(table.faults(), by(MONITOR, healthy("other"))))
                .isEmpty();
    }

    /** A reporter chooses the name of its agent. */
    @Test
    void aReporterUnderTheKernelLogsNameTakesNoRoomOfTheKernelLog() {
        for (int i = 0; i < FaultTable.MOST_FAULTS; i++) {
            apply(by(
                    BATCH,
                    xid(Reporter.KERNEL_LOG).toBuilder()
                            .entities(List.of(Entity.gpu("GPU-" + i)))
                            .build()));
        }
        assertThat(table.size()).isEqualTo(FaultTable.MOST_FAULTS / 2);
        assertThat(apply(xid(Reporter.KERNEL_LOG))).isEqualTo(Effect.RAISED);
    }

    /** The oracle has the reporters that accuse each fault, and no rule of the table. */
    @Test
    void inNoOrderDoesAFaultEndByAnotherReporter() {
        for (int i = 0; i < SEQUENCES; i++) {
            walk(new Random(SEED + i));
        }
    }

    private static void walk(Random random) {
        List<Reporter> reporters = List.of(MONITOR, LATER, BATCH, new Reporter("user 0", "user 0"));
        List<String> agents = List.of(Reporter.KERNEL_LOG, "dcgm");
        List<Entity> parts = List.of(GPU, Entity.gpu("GPU-2"));
        List<String> codes = List.of("79", "48");
        FaultTable table = new FaultTable();
        Map<List<Object>, Set<String>> accusers = new HashMap<>();
        List<String> trail = new ArrayList<>();
        for (int step = 0; step < 12; step++) {
            String agent = agents.get(random.nextInt(2));
            Entity part = parts.get(random.nextInt(2));
            String code = codes.get(random.nextInt(2));
            boolean healthy = random.nextInt(3) == 0;
            boolean order = healthy && random.nextInt(6) == 0;
            // The daemon itself reports from its kernel log alone.
            boolean own = order || agent.equals(Reporter.KERNEL_LOG) && random.nextBoolean();
            boolean anyCode = healthy && random.nextInt(4) == 0;
            boolean anyPart = healthy && random.nextInt(4) == 0;
            Reporter by = reporters.get(random.nextInt(reporters.size()));
            HealthEvent event = HealthEvent.of(agent, "GPU", "Check")
                    .healthy(healthy)
                    .fatal(!healthy && random.nextBoolean())
                    .errorCodes(anyCode ? List.of() : List.of(code))
                    .entities(anyPart ? List.of() : List.of(part))
                    .metadata(order ? Map.of(Reporter.REQUESTED_BY, "uid 0") : own ? Map.of() : by.in(Map.of()))
                    .build();
            trail.add((own ? order ? "administrator" : "own" : by.name()) + ": " + event);
            table.apply(event, step, Instant.EPOCH.plusSeconds(step));
            for (Entity eachPart : anyPart ? parts : List.of(part)) {
                for (String eachCode : anyCode ? codes : List.of(code)) {
                    Set<String> ofFault =
                            accusers.computeIfAbsent(List.of(agent, eachPart, eachCode), key -> new HashSet<>());
                    String who = own ? "gpuwarden" : by.kind();
                    if (!healthy) {
                        ofFault.add(who);
                    } else if (order) {
                        ofFault.clear();
                    } else {
                        ofFault.remove(who);
                    }
                }
            }
            accusers.forEach((fault, who) -> assertThat(table.faults().stream()
                            .filter(each -> List.of(
                                            each.key().agent(),
                                            each.key().entity(),
                                            each.key().errorCode())
                                    .equals(fault))
                            .count())
                    .as("accusers %s of %s after %s", who, fault, trail)
                    .isEqualTo(who.size()));
        }
    }

    private Effect apply(HealthEvent event) {
        sequence++;
        return table.apply(event, sequence, Instant.EPOCH.plusSeconds(sequence)).effect();
    }

    private static HealthEvent by(Reporter reporter, HealthEvent event) {
        return event.toBuilder().metadata(reporter.in(event.metadata())).build();
    }

    private static HealthEvent xid(String agent) {
        return HealthEvent.of(agent, "GPU", "SysLogsXIDError")
                .fatal(true)
                .action(RecommendedAction.RESTART_BM)
                .errorCodes(List.of("79"))
                .entities(List.of(GPU))
                .build();
    }

    private static HealthEvent healthy(String agent) {
        return HealthEvent.of(agent, "GPU", "SysLogsXIDError").healthy(true).build();
    }
}
