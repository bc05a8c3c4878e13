package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.breaker.Breaker;
import dev.gpuwarden.aggregator.breaker.BreakerState;
import dev.gpuwarden.aggregator.breaker.Census;
import dev.gpuwarden.aggregator.breaker.PoolState;
import dev.gpuwarden.aggregator.fleet.NodeRead;
import dev.gpuwarden.aggregator.rules.RuleBook;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * What of a cluster decides about every node of it.
 *
 * @param breaker what is kept; unknown where nothing is, which is not the same as closed
 * @param limits as whoever asks has them, who must have those of the aggregator
 * @param census by name of the pool
 * @param leader of the aggregators
 * @param dryRuns nodes of which an Event of the last hour says that they would be in quarantine
 */
record Around(
        Seen<RuleBook> rules,
        Seen<BreakerState> breaker,
        Breaker limits,
        Seen<Map<String, Census>> census,
        Seen<Leader> leader,
        Seen<Set<String>> dryRuns) {

    /** What the breaker would say, from all that is known of it. */
    Breaker.Answer ask(NodeRead node, Instant now) {
        BreakerState state = breaker.value().orElse(BreakerState.NEW);
        if (census.value().isEmpty()) {
            return new Breaker.Answer(true, "not known: " + census.why(), state);
        }
        return limits.ask(state, node.name(), node.labels(), census.value().get(), now);
    }

    /** Whether a pool with this node waits for somebody to close it. */
    boolean open(NodeRead node) {
        Map<String, PoolState> kept = breaker.value().orElse(BreakerState.NEW).pools();
        return limits.pools().stream()
                .filter(pool -> pool.selector().matches(node.labels()))
                .map(pool -> Optional.ofNullable(kept.get(pool.name())))
                .anyMatch(state -> state.isPresent() && state.get().status() == PoolState.Status.OPEN);
    }

    /** What is not known, and what that costs. */
    List<String> notes(Instant now) {
        List<String> notes = new ArrayList<>();
        note(notes, "what the breaker says is not known", breaker);
        note(notes, "which rules there are is not known", rules);
        note(notes, "how many nodes are out of service is not known", census);
        note(notes, "whether an aggregator acts is not known", leader);
        note(notes, "whether it is a dry run is not known", dryRuns);
        leader.value()
                .filter(lease -> !lease.leads(now))
                .ifPresent(
                        lease -> notes.add("no aggregator acts: the last one to lead did so until " + lease.until()));
        breaker.value().ifPresent(state -> {
            Set<String> others = new TreeSet<>(state.pools().keySet());
            limits.pools().forEach(pool -> others.remove(pool.name()));
            if (!others.isEmpty()) {
                notes.add("the breaker has pools that --breaker.pool does not name here, so that their limits are not"
                        + " known: " + String.join(", ", others));
            }
        });
        return notes;
    }

    private static void note(List<String> notes, String what, Seen<?> seen) {
        if (seen.value().isEmpty()) {
            notes.add(what + ": " + seen.why());
        }
    }
}
