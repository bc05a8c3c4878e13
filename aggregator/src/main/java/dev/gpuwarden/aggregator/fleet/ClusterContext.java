package dev.gpuwarden.aggregator.fleet;

import dev.gpuwarden.aggregator.breaker.BreakerPolicy;
import dev.gpuwarden.aggregator.breaker.BreakerPolicy.BreakerState;
import dev.gpuwarden.aggregator.breaker.BreakerPolicy.BreakerState.PoolState;
import dev.gpuwarden.aggregator.breaker.PoolCounts.PoolCount;
import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The state of a cluster that every decision about its nodes depends on.
 *
 * @param census the counts by name of the pool
 * @param leader the leader of the aggregators
 */
public record ClusterContext(
        Seen<RuleEvaluator> rules, BreakerStatus breaker, Seen<Map<String, PoolCount>> census, Seen<Leader> leader) {

    /** Returns the breaker's answer for a node. Without data it permits the node, and {@link #unknown} names the lack. */
    public BreakerPolicy.Answer ask(CachedNode node, Instant now) {
        Optional<BreakerState> state = breaker.kept().value();
        Optional<BreakerPolicy> limits = breaker.limits().value();
        if (state.isEmpty() || limits.isEmpty() || census.value().isEmpty()) {
            return new BreakerPolicy.Answer(true, "not known", state.orElse(BreakerState.NEW));
        }
        return limits.get()
                .ask(state.get(), node.name(), node.labels(), census.value().get(), now);
    }

    /** Returns the unknown fact about a node that rules take out of service; empty if all is known. */
    public Optional<String> unknown() {
        if (breaker.unknown().isPresent()) {
            return breaker.unknown();
        }
        if (census.value().isEmpty()) {
            return Optional.of("it is unknown if the breaker keeps it in service");
        }
        return leader.value().isEmpty() ? Optional.of("it is unknown if an aggregator acts") : Optional.empty();
    }

    /** Returns true if the breaker of a pool with this node is open until an operator closes it. */
    public boolean open(CachedNode node) {
        return breaker.limited().stream()
                .filter(pool -> pool.selector().matches(node.labels()))
                .map(pool -> breaker.state(pool.name()))
                .anyMatch(state -> state.isPresent() && state.get().status() == PoolState.Status.OPEN);
    }

    /**
     * Returns notes for the operator: the unknown facts with their cause, and the reasons that keep faulty nodes in service.
     */
    public List<String> notes(Instant now) {
        List<String> notes = new ArrayList<>();
        note(notes, "the state of the breaker is unknown", breaker.kept());
        if (breaker.kept().value().isPresent()) {
            note(notes, "the limits of the breaker are unknown", breaker.limits());
            note(notes, "the mode (dry run or armed) is unknown", breaker.mode());
        }
        note(notes, "the rule sets are unknown", rules);
        note(notes, "the number of nodes out of service is unknown", census);
        note(notes, "it is unknown if an aggregator acts", leader);
        if (breaker.dryRun()) {
            notes.add("dry run: the aggregator reports its decisions, and takes no node out of service");
        }
        leader.value()
                .filter(lease -> !lease.leads(now))
                .ifPresent(
                        lease -> notes.add("no aggregator acts: the last one to lead did so until " + lease.until()));
        Set<String> others = breaker.pools();
        breaker.limited().forEach(pool -> others.remove(pool.name()));
        if (breaker.limits().value().isPresent() && !others.isEmpty()) {
            notes.add("the breaker has pools with unknown limits: " + String.join(", ", others));
        }
        return notes;
    }

    private static void note(List<String> notes, String what, Seen<?> seen) {
        if (seen.value().isEmpty()) {
            notes.add(what + ": " + seen.why());
        }
    }

    /**
     * The leader of the aggregators, from their Lease.
     *
     * @param holder the identity of the holder; empty without one
     * @param until the time at which the Lease expires
     */
    public record Leader(String holder, Instant until) {

        /** The tolerated error of this machine's clock. */
        private static final Duration SKEW = Duration.ofSeconds(15);

        /** Returns the leader; empty if the Lease has no readable time of renewal. */
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
