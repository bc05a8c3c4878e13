package dev.gpuwarden.aggregator.fleet;

import dev.gpuwarden.aggregator.breaker.BreakerPolicy;
import dev.gpuwarden.aggregator.breaker.BreakerState;
import dev.gpuwarden.aggregator.breaker.BreakerState.PoolState;
import dev.gpuwarden.aggregator.breaker.PoolCounts.PoolCount;
import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What of a cluster decides about every node of it.
 *
 * @param census by name of the pool
 * @param leader of the aggregators
 */
public record ClusterContext(
        Seen<RuleEvaluator> rules, BreakerStatus breaker, Seen<Map<String, PoolCount>> census, Seen<Leader> leader) {

    /** What the breaker would say. Where that is not known, nothing speaks against it, and {@link #unknown} says so. */
    BreakerPolicy.Answer ask(CachedNode node, Instant now) {
        Optional<BreakerState> state = breaker.kept().value();
        Optional<BreakerPolicy> limits = breaker.limits().value();
        if (state.isEmpty() || limits.isEmpty() || census.value().isEmpty()) {
            return new BreakerPolicy.Answer(true, "not known", state.orElse(BreakerState.NEW));
        }
        return limits.get()
                .ask(state.get(), node.name(), node.labels(), census.value().get(), now);
    }

    /** What cannot be said of a node that rules want out of service; empty where all is known. */
    Optional<String> unknown() {
        if (breaker.unknown().isPresent()) {
            return breaker.unknown();
        }
        if (census.value().isEmpty()) {
            return Optional.of("whether the breaker keeps it is not known");
        }
        return leader.value().isEmpty() ? Optional.of("whether an aggregator acts is not known") : Optional.empty();
    }

    /** Whether a pool with this node waits for somebody to close it. */
    boolean open(CachedNode node) {
        return breaker.limited().stream()
                .filter(pool -> pool.selector().matches(node.labels()))
                .map(pool -> breaker.state(pool.name()))
                .anyMatch(state -> state.isPresent() && state.get().status() == PoolState.Status.OPEN);
    }

    /** What is not known, and what that costs; and what keeps nodes in service whatever their faults. */
    public List<String> notes(Instant now) {
        List<String> notes = new ArrayList<>();
        note(notes, "what the breaker says is not known", breaker.kept());
        if (breaker.kept().value().isPresent()) {
            note(notes, "which limits the breaker has is not known", breaker.limits());
            note(notes, "whether it is a dry run is not known", breaker.mode());
        }
        note(notes, "which rules there are is not known", rules);
        note(notes, "how many nodes are out of service is not known", census);
        note(notes, "whether an aggregator acts is not known", leader);
        if (breaker.dryRun()) {
            notes.add("dry run: the aggregator says what it would do, and takes no node out of service");
        }
        leader.value()
                .filter(lease -> !lease.leads(now))
                .ifPresent(
                        lease -> notes.add("no aggregator acts: the last one to lead did so until " + lease.until()));
        Set<String> others = breaker.pools();
        breaker.limited().forEach(pool -> others.remove(pool.name()));
        if (breaker.limits().value().isPresent() && !others.isEmpty()) {
            notes.add("the breaker has pools whose limits are not known: " + String.join(", ", others));
        }
        return notes;
    }

    private static void note(List<String> notes, String what, Seen<?> seen) {
        if (seen.value().isEmpty()) {
            notes.add(what + ": " + seen.why());
        }
    }

    /**
     * What the Lease of the aggregators says.
     *
     * @param holder empty where nobody holds it
     * @param until for how long it is held
     */
    public record Leader(String holder, Instant until) {

        /** The clock here may go wrong a little. */
        private static final Duration SKEW = Duration.ofSeconds(15);

        /** Empty where it says nothing. */
        public static Optional<Leader> of(Map<String, Object> lease) {
            Map<String, Object> spec = JsonTrees.object(lease, "spec");
            try {
                Instant renewed = Instant.parse(JsonTrees.text(spec, "renewTime"));
                return Optional.of(new Leader(
                        JsonTrees.text(spec, "holderIdentity"),
                        renewed.plusSeconds(JsonTrees.number(spec, "leaseDurationSeconds"))));
            } catch (DateTimeException e) {
                return Optional.empty();
            }
        }

        public boolean leads(Instant now) {
            return !holder.isEmpty() && until.plus(SKEW).isAfter(now);
        }
    }
}
