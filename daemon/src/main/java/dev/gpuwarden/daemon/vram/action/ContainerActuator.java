package dev.gpuwarden.daemon.vram.action;

import dev.gpuwarden.daemon.vram.engine.ContainerEngine;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.io.IOException;
import java.time.Duration;

/** Restarts the containers of an engine. */
public final class ContainerActuator implements Actuator {

    private final ContainerEngine engine;
    private final String idPrefix;
    private final Duration grace;

    /** @param grace time that a container gets to end, in whole seconds */
    public ContainerActuator(ContainerEngine engine, Duration grace) {
        this.engine = engine;
        this.idPrefix = engine.runtime() + ":";
        this.grace = grace;
    }

    @Override
    public String name() {
        return "container-restart";
    }

    @Override
    public boolean handles(Tenant tenant) {
        return tenant.id().startsWith(idPrefix);
    }

    @Override
    public Outcome recycle(Decision decision, Tenant tenant, Recheck recheck) {
        String id = tenant.id().substring(idPrefix.length());
        try {
            return switch (engine.restart(id, grace)) {
                case STARTED -> new Outcome(true, engine.runtime() + " restarted container " + id);
                case REMOVED ->
                    new Outcome(
                            true,
                            "container " + id + " has ended, and " + engine.runtime()
                                    + " removed it, as its option --rm states; it does not start again");
            };
        } catch (IOException e) {
            return new Outcome(false, String.valueOf(e.getMessage()));
        }
    }
}
