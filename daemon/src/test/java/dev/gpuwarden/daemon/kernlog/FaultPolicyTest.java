package dev.gpuwarden.daemon.kernlog;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.daemon.kernlog.Occurrence.Checks;
import dev.gpuwarden.testkit.TestClock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FaultPolicyTest {

    private static final Duration QUIET = Duration.ofMinutes(10);
    private static final Instant NOW = TestClock.START;
    private static final Entity PCI = new Entity("PCI", "0000:3b:00");

    private final FaultTable table = new FaultTable();

    private static HealthEvent event(
            String agent, String code, RecommendedAction action, Map<String, String> metadata, Entity... of) {
        return HealthEvent.of(agent, "GPU", Checks.XID)
                .nodeName("n")
                .fatal(action != RecommendedAction.NONE)
                .action(action)
                .errorCodes(List.of(code))
                .entities(List.of(of))
                .metadata(metadata)
                .build();
    }

    private static HealthEvent own(String code, RecommendedAction action, Entity... of) {
        return event(Checks.AGENT, code, action, Map.of(KernelMessageClassifier.SEVERITY, "warning"), of);
    }

    private void old(HealthEvent event) {
        table.apply(event, 1, NOW.minus(QUIET));
    }

    private List<HealthEvent> cleared(HealthEvent... news) {
        return FaultPolicy.clearQuiet(table.faults(), List.of(news), QUIET, NOW);
    }

    @Test
    void onlyOwnOldFaultsWithoutActionAreCleared() {
        old(own("13", RecommendedAction.NONE, PCI));
        old(own("79", RecommendedAction.RESTART_BM, PCI));
        old(event("other", "13", RecommendedAction.NONE, Map.of(KernelMessageClassifier.SEVERITY, "warning"), PCI));
        old(event(Checks.AGENT, "31", RecommendedAction.NONE, Map.of(), PCI));
        table.apply(own("43", RecommendedAction.NONE, PCI), 2, NOW.minus(QUIET).plusMillis(1));
        assertThat(cleared()).singleElement().satisfies(clear -> {
            assertThat(clear.errorCodes()).containsExactly("13");
            assertThat(clear.agent()).isEqualTo(Checks.AGENT);
        });
        assertThat(FaultPolicy.nextClear(table.faults(), QUIET)).contains(NOW);
    }

    @Test
    void gpuWithTwoNamesIsClearedOnce() {
        old(own("13", RecommendedAction.NONE, PCI, Entity.gpu(ClassifierFixture.GPU)));
        assertThat(cleared()).hasSize(1);
        cleared().forEach(clear -> table.apply(clear, 3, NOW));
        assertThat(table.faults()).isEmpty();
        assertThat(FaultPolicy.nextClear(table.faults(), QUIET)).isEmpty();
    }

    @Test
    void faultOfTheSameBatchIsNotQuiet() {
        old(own("13", RecommendedAction.NONE, PCI));
        assertThat(cleared(own("13", RecommendedAction.NONE, PCI))).isEmpty();
        assertThat(cleared(own("14", RecommendedAction.NONE, PCI))).hasSize(1);
    }

    @Test
    void faultWithoutEntityIsKeptWhileEntitiesHaveTheCode() {
        old(own("13", RecommendedAction.NONE));
        old(own("13", RecommendedAction.RESTART_BM, PCI));
        assertThat(cleared()).isEmpty();
    }

    @Test
    void fatalFaultIsNotDowngraded() {
        old(own("94", RecommendedAction.RESTART_VM, PCI));
        HealthEvent less = own("94", RecommendedAction.NONE, PCI);
        HealthEvent healthy = HealthEvent.of(Checks.AGENT, "GPU", Checks.XID)
                .nodeName("n")
                .healthy(true)
                .entities(List.of(PCI))
                .build();
        assertThat(FaultPolicy.keepFatal(List.of(less, healthy, less), table.faults()))
                .extracting(HealthEvent::action)
                .containsExactly(RecommendedAction.RESTART_VM, RecommendedAction.NONE, RecommendedAction.NONE);
        assertThat(FaultPolicy.keepFatal(
                        List.of(own("95", RecommendedAction.RESTART_BM, PCI), own("95", RecommendedAction.NONE, PCI)),
                        List.of()))
                .extracting(HealthEvent::action)
                .containsOnly(RecommendedAction.RESTART_BM);
    }
}
