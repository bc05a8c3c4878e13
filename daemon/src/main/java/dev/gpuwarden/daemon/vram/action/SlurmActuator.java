package dev.gpuwarden.daemon.vram.action;

import dev.gpuwarden.daemon.vram.Actuator;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.time.Duration;
import java.util.List;

/** Cancels jobs of Slurm. */
public final class SlurmActuator implements Actuator {

    private static final String ID_PREFIX = "slurm:";

    private static final Duration LONGEST = Duration.ofSeconds(60);

    @Override
    public String name() {
        return "job-cancel";
    }

    @Override
    public boolean handles(Tenant tenant) {
        return tenant.id().startsWith(ID_PREFIX);
    }

    @Override
    public Outcome recycle(Decision decision, Tenant tenant) {
        String job = tenant.id().substring(ID_PREFIX.length());
        try {
            return ManagerProgram.run(List.of("scancel", job), LONGEST).outcome();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Outcome(false, "interrupted");
        }
    }
}
