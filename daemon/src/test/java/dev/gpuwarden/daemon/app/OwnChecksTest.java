package dev.gpuwarden.daemon.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.CheckContexts;
import dev.gpuwarden.checks.CheckContract;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.util.List;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;

/** The checks of the daemon itself, which need its kernel log or its store, beside those of the module of checks. */
class OwnChecksTest {

    private static final List<HealthCheck> ALL = ServiceLoader.load(HealthCheck.class).stream()
            .map(ServiceLoader.Provider::get)
            .toList();

    private static List<HealthCheck> own() {
        return ALL.stream()
                .filter(check -> check.getClass().getPackageName().startsWith("dev.gpuwarden.daemon."))
                .toList();
    }

    @Test
    void namesAreUniqueInTheWholeDaemon() {
        CheckContract.namesAreUnique(ALL);
    }

    @Test
    void ownChecksKeepTheContract() {
        assertThat(own()).extracting(check -> check.info().id()).contains("kernel-log", "fault-room");
        try (SimulatedNode node = SimulatedNode.start("no-driver")) {
            CheckContext context = CheckContexts.context(node, Limits.NONE);
            for (HealthCheck check : own()) {
                CheckContract.descriptionIsComplete(check);
                CheckContract.findingsAreUsable(check, context, "no-driver");
            }
        }
    }
}
