package dev.gpuwarden.daemon.vram.action;

import dev.gpuwarden.checks.child.ManagerProgram;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.time.Duration;
import java.util.List;

/** Restarts units of systemd. */
public final class UnitActuator implements Actuator {

    private static final String ID_PREFIX = "unit:";

    /** A unit states its own time to end: TimeoutStopSec, 90 s by default. */
    private static final Duration LONGEST = Duration.ofSeconds(120);

    @Override
    public String name() {
        return "unit-restart";
    }

    @Override
    public boolean handles(Tenant tenant) {
        return tenant.id().startsWith(ID_PREFIX);
    }

    @Override
    public Outcome recycle(Decision decision, Tenant tenant, Recheck recheck) {
        String unit = tenant.id().substring(ID_PREFIX.length());
        try {
            ManagerProgram restart = ManagerProgram.run(List.of("systemctl", "restart", "--", unit), LONGEST);
            return new Outcome(restart.succeeded(), restart.text());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Outcome(false, "interrupted");
        }
    }
}
