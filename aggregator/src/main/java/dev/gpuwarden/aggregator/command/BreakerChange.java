package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.breaker.BreakerConfigMap;
import dev.gpuwarden.aggregator.breaker.BreakerPolicy;
import dev.gpuwarden.aggregator.breaker.BreakerPolicy.BreakerState;
import dev.gpuwarden.aggregator.breaker.BreakerPolicy.BreakerState.PoolState;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.fleet.FleetReader;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A change of the stored state of one pool, and of nothing else. Blocks. */
final class BreakerChange {

    private static final String MANAGER = "gpuwarden-breaker";

    /** The tolerated difference between the clocks, because the API server's time has whole seconds. */
    private static final Duration SAME_CLOCK = Duration.ofSeconds(5);

    private final KubeClient api;
    private final String path;
    private final String place;
    private final String absent;
    private final Clock clock;

    /**
     * @param before the present stored state
     * @param patch the patch for exactly the version that was read
     * @param version the version of the ConfigMap that was read
     * @param skew the lead of this machine's clock over the API server's; empty if it does not matter
     */
    record Plan(
            String pool,
            Optional<PoolState> before,
            PoolState after,
            List<Map<String, Object>> patch,
            String version,
            Optional<Duration> skew) {}

    BreakerChange(KubeClient api, String namespace, Clock clock) {
        this.api = api;
        this.path = BreakerConfigMap.kind(namespace).path(BreakerConfigMap.NAME);
        this.absent = FleetReader.absent(namespace);
        this.place = "ConfigMap " + BreakerConfigMap.NAME + " in namespace " + namespace;
        this.clock = clock;
    }

    /**
     * Returns the planned change. Throws {@link UserError} if the pool does not exist.
     *
     * @param nodes the number of nodes that pass; 0 closes the breaker
     * @throws ApiException if the API server refuses, for example because the caller may not write the ConfigMap
     */
    Plan plan(String pool, int nodes) throws ApiException, InterruptedException {
        Map<String, Object> there = read();
        BreakerState state = BreakerState.of(JsonTrees.texts(there, "data"), Instant.EPOCH);
        Optional<PoolState> before = Optional.ofNullable(state.pools().get(pool));
        if (before.isEmpty()) {
            throw new UserError("the " + place + " has nothing of a pool \"" + pool
                    + "\": it has never tripped, or there is none of that name; it has "
                    + (state.pools().isEmpty()
                            ? "none"
                            : String.join(", ", state.pools().keySet())));
        }
        Instant now = clock.instant();
        Plan mine = plan(there, state, pool, nodes, now, Optional.empty());
        // With a clock that runs ahead, all nodes would pass until the other clocks reach its time.
        Optional<Instant> theirs = serverTime(api.patch(path + "?dryRun=All&fieldManager=" + MANAGER, mine.patch()));
        Duration skew = theirs.map(time -> Duration.between(time, now)).orElse(Duration.ZERO);
        return skew.abs().compareTo(SAME_CLOCK) <= 0
                ? mine
                : plan(there, state, pool, nodes, theirs.orElseThrow(), Optional.of(skew));
    }

    private Map<String, Object> read() throws ApiException, InterruptedException {
        try {
            return api.get(path);
        } catch (ApiException e) {
            if (e.notFound()) {
                throw new UserError(absent);
            }
            throw e;
        }
    }

    private static Plan plan(
            Map<String, Object> there,
            BreakerState state,
            String pool,
            int nodes,
            Instant now,
            Optional<Duration> skew) {
        Optional<PoolState> before = Optional.ofNullable(state.pools().get(pool));
        // The younger state counts, even if the stored one comes from a clock that runs ahead.
        Instant least = before.map(each -> each.since().plusMillis(1)).orElse(now);
        Instant at = least.isAfter(now) ? least : now;
        BreakerState next =
                nodes == 0 ? BreakerPolicy.close(state, pool, at) : BreakerPolicy.halfOpen(state, pool, nodes, at);
        String version = JsonTrees.text(JsonTrees.object(there, "metadata"), "resourceVersion");
        List<Map<String, Object>> patch = new ArrayList<>();
        patch.add(Map.of("op", "test", "path", "/metadata/resourceVersion", "value", version));
        patch.add(Map.of(
                "op",
                "add",
                "path",
                "/data/" + pool,
                "value",
                Optional.ofNullable(next.toData().get(pool)).orElseThrow()));
        return new Plan(
                pool, before, Optional.ofNullable(next.pools().get(pool)).orElseThrow(), patch, version, skew);
    }

    private static Optional<Instant> serverTime(Map<String, Object> answer) {
        try {
            return JsonTrees.objects(JsonTrees.object(answer, "metadata"), "managedFields").stream()
                    .filter(fields -> JsonTrees.text(fields, "manager").equals(MANAGER))
                    .map(fields -> Instant.parse(JsonTrees.text(fields, "time")))
                    .max(Instant::compareTo);
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }

    /** Writes the planned change. Blocks until it is stored. */
    void write(Plan plan) throws ApiException, InterruptedException {
        var unused = api.patch(path + "?fieldManager=" + MANAGER, plan.patch());
    }
}
