package dev.gpuwarden.daemon.vram.notice;

import dev.gpuwarden.daemon.vram.action.ProcessSet;
import dev.gpuwarden.daemon.vram.budgets.NotifySignal;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;

/**
 * The signals that the file of budgets names for its tenants. A dry run sends none, because a program without a handler
 * ends by one.
 *
 * @param wanted the signal of a tenant, by UUID of the GPU and identity
 */
public record NoticeSignals(
        boolean armed, ProcessSet processes, BiFunction<String, String, Optional<NotifySignal>> wanted) {

    /**
     * The end of an attempt.
     *
     * @param accepted false if a process did not get its signal
     */
    record Sent(boolean accepted, String text) {}

    /** Sends the tenant's signal, if it has one, to its processes on the GPU. */
    Sent send(String gpu, Tenant tenant) {
        Optional<NotifySignal> signal = wanted.apply(gpu, tenant.id());
        if (signal.isEmpty()) {
            return new Sent(true, "no signal is configured");
        }
        if (!armed) {
            return new Sent(true, signal.get() + " was not sent (dry run)");
        }
        List<String> errors = new ArrayList<>();
        long sent = processes.send(tenant.processes(), signal.get().number(), errors);
        String done = signal.get() + " to " + sent + " of " + tenant.processes().size() + " processes";
        return new Sent(errors.isEmpty(), errors.isEmpty() ? done : done + "; " + String.join("; ", errors));
    }
}
