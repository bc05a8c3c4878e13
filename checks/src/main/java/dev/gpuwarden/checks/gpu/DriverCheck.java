package dev.gpuwarden.checks.gpu;

import com.google.auto.service.AutoService;
import dev.gpuwarden.checks.LastingState;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.health.DriverHealth;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Checks that the driver and its library work. A driver that was not seen in this boot may come minutes after the daemon: from a
 * container, or from a build by DKMS. While programs install one, that may also replace a driver that was there.
 */
@AutoService(HealthCheck.class)
public final class DriverCheck implements HealthCheck {

    /** A build for a kernel takes minutes. A program that loads a driver and hangs must not hide that for longer. */
    static final Duration LONGEST_INSTALLATION = Duration.ofHours(1);

    private static final String SEEN = "seen";
    private static final String INSTALLING = "installing";

    @Override
    public CheckInfo info() {
        return CheckInfo.of("driver", "NODE", "The driver is loaded and lists its GPUs.");
    }

    /** Keeps whether the driver was seen in this boot. */
    @Override
    public List<Finding> run(CheckContext context) {
        if (context.node().driver() instanceof DriverState.Running) {
            context.bootNotes().put(SEEN, 1L);
            LastingState.over(context.notes(), INSTALLING);
        }
        return List.of(DriverHealth.judge(context.node(), coming(context), OwnLibrary.isStale(context)));
    }

    private Optional<String> coming(CheckContext context) {
        if (context.node().driver() instanceof DriverState.Running) {
            return Optional.empty();
        }
        if (!context.bootNotes().containsKey(SEEN) && context.young().isPresent()) {
            return context.young();
        }
        Optional<String> installer = DriverInstaller.find(context.procfs());
        if (installer.isEmpty()) {
            LastingState.over(context.notes(), INSTALLING);
            return Optional.empty();
        }
        Duration lasts = LastingState.seen(context.notes(), INSTALLING, context.now(), info().every());
        return installer.filter(any -> lasts.compareTo(LONGEST_INSTALLATION) < 0);
    }
}
