package dev.gpuwarden.watchdog.decision;

import dev.gpuwarden.watchdog.observation.Tenant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The tenants of one GPU that are ending, by a decision or otherwise, and still hold memory. Not thread-safe. */
final class ReleaseWatch {

    /** The name decides between two that began together, so that equal observations give equal texts. */
    private static final Comparator<Map.Entry<String, Long>> LONGEST =
            Map.Entry.<String, Long>comparingByValue().thenComparing(Map.Entry.comparingByKey());

    private final RecycleRules rules;
    /** Begin of the end by identity of the tenant. */
    private final Map<String, Long> endings = new HashMap<>();

    /** @param late whether it exceeded its time */
    record Pending(boolean late, String text) {}

    /** @param state as {@link #state} returned it */
    ReleaseWatch(RecycleRules rules, Map<String, Long> state) {
        this.rules = rules;
        endings.putAll(state);
    }

    /** Returns the begin of the end by identity of the tenant. */
    Map<String, Long> state() {
        return Map.copyOf(endings);
    }

    void begin(Tenant tenant, long nanos) {
        endings.put(tenant.id(), nanos);
    }

    /**
     * Returns the tenant that is ending for the longest time; empty where none is. A tenant that was recycled and does
     * not end is forgotten after the cooldown, so that a decision without effect is not the last one of a GPU.
     */
    Optional<Pending> pending(List<Tenant> tenants, long nanos, long listedAtNanos) {
        Map<String, Tenant> present = tenants.stream().collect(Collectors.toMap(Tenant::id, Function.identity()));
        endings.entrySet().removeIf(ending -> {
            Tenant tenant = present.get(ending.getKey());
            // A list from before the decision does not show its effect.
            boolean gone = listedAtNanos > ending.getValue() && (tenant == null || hasReturned(tenant));
            boolean ends = tenant != null && tenant.leaving();
            return gone
                    || !ends && nanos - ending.getValue() >= rules.cooldown().toNanos();
        });
        tenants.stream()
                .filter(tenant -> tenant.leaving() && !hasReturned(tenant))
                .forEach(tenant -> endings.putIfAbsent(tenant.id(), nanos));
        return endings.entrySet().stream().min(LONGEST).map(oldest -> {
            long waited = nanos - oldest.getValue();
            String name = Optional.ofNullable(present.get(oldest.getKey()))
                    .map(Tenant::name)
                    .orElse(oldest.getKey());
            return new Pending(
                    waited > rules.releaseWithin().toNanos(),
                    "the memory of " + name + " is not back after " + TimeUnit.NANOSECONDS.toSeconds(waited) + " s");
        });
    }

    /** Returns whether the memory is back: it holds none, or was restarted in place and keeps its budget. */
    private static boolean hasReturned(Tenant tenant) {
        return tenant.used()
                .map(used -> used == 0 || !tenant.leaving() && tenant.overBytes() <= 0)
                .asOptional()
                .orElse(false);
    }
}
