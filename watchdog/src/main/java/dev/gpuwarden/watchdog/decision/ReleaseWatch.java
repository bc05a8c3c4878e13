package dev.gpuwarden.watchdog.decision;

import dev.gpuwarden.watchdog.decision.WatchdogState.Ending;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The tenants of one GPU that are ending, by a decision or otherwise, and still hold memory. The others wait for their
 * memory, for a bounded time. Not thread-safe.
 */
final class ReleaseWatch {

    /** The name decides between two that began together, so that equal observations give equal texts. */
    private static final Comparator<Map.Entry<String, Ending>> LONGEST = Comparator.comparingLong(
                    (Map.Entry<String, Ending> end) -> end.getValue().sinceNanos())
            .thenComparing(Map.Entry.comparingByKey());

    private final RecycleRules rules;
    private final Map<String, Ending> endings = new HashMap<>();
    private OptionalLong othersSince;

    /**
     * The tenant that is ending for the longest time.
     *
     * @param late whether it exceeded its time
     * @param blocks whether no other tenant is judged during this time
     */
    record Pending(boolean late, boolean blocks, String text) {}

    /**
     * @param endings as {@link #endings} returned them
     * @param othersSince as {@link #othersSince} returned it
     */
    ReleaseWatch(RecycleRules rules, Map<String, Ending> endings, OptionalLong othersSince) {
        this.rules = rules;
        this.endings.putAll(endings);
        this.othersSince = othersSince;
    }

    /** Returns the ends by identity of the tenant. */
    Map<String, Ending> endings() {
        return Map.copyOf(endings);
    }

    /** Returns since when tenants that were not chosen have been ending, one or another. */
    OptionalLong othersSince() {
        return othersSince;
    }

    void begin(Tenant tenant, long nanos) {
        endings.put(tenant.id(), new Ending(nanos, true));
    }

    /**
     * Takes a begin back. An attempt that failed may still have an effect: it keeps the others waiting for its time, as a tenant does that
     * ends by itself.
     */
    void takeBack(Tenant tenant, NotRecycled why) {
        if (why == NotRecycled.FAILED) {
            endings.computeIfPresent(tenant.id(), (id, end) -> new Ending(end.sinceNanos(), false));
        } else {
            endings.remove(tenant.id());
        }
    }

    /**
     * Returns the tenant that is ending for the longest time; empty where none is. A tenant that was recycled and does
     * not end is forgotten after the cooldown, so that a decision without effect is not the last one of a GPU.
     */
    Optional<Pending> pending(List<Tenant> tenants, long nanos, long listedAtNanos) {
        Map<String, Tenant> present = tenants.stream().collect(Collectors.toMap(Tenant::id, Function.identity()));
        endings.entrySet().removeIf(ending -> {
            Tenant tenant = present.get(ending.getKey());
            long since = ending.getValue().sinceNanos();
            // A list from before the decision does not show its effect.
            boolean gone = listedAtNanos > since && (tenant == null || hasReturned(tenant));
            boolean ends = tenant != null && tenant.leaving();
            boolean mayEnd = ending.getValue().chosen()
                    ? nanos - since < rules.cooldown().toNanos()
                    : !isOver(since, nanos);
            return gone || !ends && !mayEnd;
        });
        tenants.stream()
                .filter(tenant -> tenant.leaving() && !hasReturned(tenant))
                .forEach(tenant -> endings.putIfAbsent(tenant.id(), new Ending(nanos, false)));
        boolean others = endings.values().stream().anyMatch(end -> !end.chosen());
        othersSince = !others ? OptionalLong.empty() : othersSince.isPresent() ? othersSince : OptionalLong.of(nanos);
        return endings.entrySet().stream().min(LONGEST).map(oldest -> {
            long waited = nanos - oldest.getValue().sinceNanos();
            String name = Optional.ofNullable(present.get(oldest.getKey()))
                    .map(Tenant::name)
                    .orElse(oldest.getKey());
            return new Pending(
                    isOver(oldest.getValue().sinceNanos(), nanos),
                    endings.entrySet().stream()
                            .anyMatch(end ->
                                    blocks(end.getValue(), Optional.ofNullable(present.get(end.getKey())), nanos)),
                    "the memory of " + name + " is not back after " + TimeUnit.NANOSECONDS.toSeconds(waited) + " s");
        });
    }

    /**
     * Returns whether the others wait for this tenant. For a chosen one they wait until its memory is back: its end may have
     * failed, and a second tenant would then pay for it. One that was asked to end and stays, as a pod with a finalizer
     * does, keeps them waiting for its time alone. So does a row of tenants that end one after the other.
     */
    private boolean blocks(Ending end, Optional<Tenant> tenant, long nanos) {
        boolean leaving = tenant.filter(Tenant::leaving).isPresent();
        if (end.chosen()) {
            return !leaving || !isOver(end.sinceNanos(), nanos);
        }
        return !isOver(end.sinceNanos(), nanos) && !isOver(othersSince.orElse(nanos), nanos);
    }

    private boolean isOver(long since, long nanos) {
        return nanos - since > rules.releaseWithin().toNanos();
    }

    /** Returns whether the memory is back: it holds none, or was restarted in place and keeps its budget. */
    private static boolean hasReturned(Tenant tenant) {
        return tenant.used()
                .map(used -> used == 0 || !tenant.leaving() && tenant.overBytes() <= 0)
                .asOptional()
                .orElse(false);
    }
}
