package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.CachedNode.Taint;
import dev.gpuwarden.aggregator.quarantine.QuarantineState.AppliedLabel;
import dev.gpuwarden.aggregator.quarantine.QuarantineState.AppliedTaint;
import dev.gpuwarden.aggregator.ruleset.QuarantineRuleSet;
import dev.gpuwarden.aggregator.ruleset.QuarantineRuleSet.Label;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The cordon, taints and labels of a quarantine: those that it has already applied, and those that the matching rules request.
 * If two rules conflict over one taint or label, the higher priority wins. At equal priority the applied value wins, then the
 * rule set with the later name.
 *
 * @param inTheWay the taints that are left out because another writer uses that key and effect with another value
 */
record DesiredTaintsAndLabels(
        boolean cordon, List<AppliedTaint> taints, List<AppliedLabel> labels, List<Taint> inTheWay) {

    private record Wish<T>(T of, int priority, boolean standing, String by) {}

    private static final Comparator<Wish<?>> WINNERS_FIRST = Comparator.<Wish<?>>comparingInt(Wish::priority)
            .thenComparing(Wish::standing)
            .thenComparing(Wish::by)
            .reversed();

    static DesiredTaintsAndLabels of(QuarantineState session, List<QuarantineRuleSet> met, CachedNode node) {
        List<Taint> inTheWay = new ArrayList<>();
        return new DesiredTaintsAndLabels(
                session.cordoned() || met.stream().anyMatch(QuarantineRuleSet::cordon),
                taints(session, met, node, inTheWay),
                labels(session, met, node),
                inTheWay);
    }

    boolean takeCapacity() {
        return cordon || taints.stream().anyMatch(applied -> applied.taint().takesCapacity());
    }

    private static List<AppliedTaint> taints(
            QuarantineState session, List<QuarantineRuleSet> met, CachedNode node, List<Taint> inTheWay) {
        Stream<Wish<Taint>> standing =
                session.taints().stream().map(applied -> new Wish<>(applied.taint(), applied.priority(), true, ""));
        Stream<Wish<Taint>> asked = met.stream()
                .filter(set -> set.taint().isPresent())
                .map(set -> new Wish<>(set.taint().orElseThrow(), set.priority(), false, set.name()));
        List<AppliedTaint> taints = new ArrayList<>();
        for (Wish<Taint> wish :
                Stream.concat(standing, asked).sorted(WINNERS_FIRST).toList()) {
            Taint taint = wish.of();
            boolean taken = taints.stream()
                    .map(AppliedTaint::taint)
                    .anyMatch(won -> won.key().equals(taint.key())
                            && (won.value().equals(taint.value())
                                    || won.effect().equals(taint.effect())));
            if (taken) {
                continue;
            }
            Optional<AppliedTaint> before = session.taints().stream()
                    .filter(applied -> applied.taint().equals(taint))
                    .findFirst();
            if (before.isEmpty() && foreign(session, taint, node)) {
                inTheWay.add(taint);
            } else {
                boolean preExisting =
                        before.map(AppliedTaint::preExisting).orElseGet(() -> node.has(taint)) && node.has(taint);
                taints.add(new AppliedTaint(taint, wish.priority(), preExisting));
            }
        }
        taints.sort(Comparator.comparing(applied -> applied.taint().toString()));
        return taints;
    }

    /** Returns true if another writer owns the Node's one taint of this key and effect, with another value. */
    private static boolean foreign(QuarantineState session, Taint taint, CachedNode node) {
        return node.taints().stream()
                .map(CachedNode::taint)
                .filter(there -> there.key().equals(taint.key())
                        && there.effect().equals(taint.effect())
                        && !there.value().equals(taint.value()))
                .anyMatch(there -> session.taints().stream()
                        .noneMatch(applied ->
                                !applied.preExisting() && applied.taint().equals(there)));
    }

    private static List<AppliedLabel> labels(QuarantineState session, List<QuarantineRuleSet> met, CachedNode node) {
        Stream<Wish<Label>> standing =
                session.labels().stream().map(applied -> new Wish<>(applied.label(), applied.priority(), true, ""));
        Stream<Wish<Label>> asked = met.stream()
                .filter(set -> set.label().isPresent())
                .map(set -> new Wish<>(set.label().orElseThrow(), set.priority(), false, set.name()));
        Map<String, AppliedLabel> labels = new TreeMap<>();
        Stream.concat(standing, asked).sorted(WINNERS_FIRST).forEach(wish -> {
            Label label = wish.of();
            Optional<AppliedLabel> before = session.labels().stream()
                    .filter(applied -> applied.label().key().equals(label.key()))
                    .findFirst();
            Optional<String> previous = before.isPresent()
                    ? before.get().previous()
                    : Optional.ofNullable(node.labels().get(label.key()));
            labels.putIfAbsent(label.key(), new AppliedLabel(label, wish.priority(), previous));
        });
        return List.copyOf(labels.values());
    }
}
