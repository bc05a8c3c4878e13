package dev.gpuwarden.aggregator.objectmonitor;

import dev.gpuwarden.aggregator.client.Json.PlainTree;
import dev.gpuwarden.aggregator.objectmonitor.CompiledPolicy.Outcome;
import dev.gpuwarden.aggregator.objectmonitor.MonitorPolicy.ResourceType;
import dev.gpuwarden.aggregator.objectmonitor.NodeFaults.ObjectNames;
import dev.gpuwarden.aggregator.objectmonitor.PolicyStandings.Reach;
import dev.gpuwarden.core.event.HealthEvent;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The result of a policy for an object, for the policy's author.
 *
 * @param object its kind and name
 * @param node the node that the object concerns; empty if it does not match or there is no node
 * @param why the explanation of the verdict; empty if it needs none
 * @param changes the time at which the verdict changes without a change of the object; empty if it does not
 * @param event the event that the policy would report for the node; empty for none
 */
public record PolicyDryRun(
        String policy,
        String object,
        Verdict verdict,
        String node,
        String why,
        Optional<Instant> changes,
        Optional<HealthEvent> event) {

    public enum Verdict {
        MATCHES,
        DOES_NOT_MATCH,
        UNDECIDED,
        /** The policy selects objects of another kind, or is disabled. */
        NOT_ASKED;

        public String label() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /**
     * Evaluates each policy on each object.
     *
     * @param objects the objects in the form of {@link PlainTree}
     */
    public static List<PolicyDryRun> of(List<CompiledPolicy> policies, List<Map<String, Object>> objects, Instant now) {
        List<PolicyDryRun> trials = new ArrayList<>();
        for (CompiledPolicy policy : policies) {
            for (Map<String, Object> object : objects) {
                trials.add(of(policy, object, now));
            }
        }
        return trials;
    }

    private static PolicyDryRun of(CompiledPolicy policy, Map<String, Object> object, Instant now) {
        MonitorPolicy source = policy.source();
        if (!ResourceType.of(object).equals(source.resource())) {
            return plain(source, object, Verdict.NOT_ASKED, "the policy is about each " + source.resource());
        }
        if (!source.enabled()) {
            return plain(source, object, Verdict.NOT_ASKED, "spec.enabled is false");
        }
        Outcome outcome = policy.evaluate(object, now);
        Optional<Instant> changes = outcome.changes();
        if (outcome.problem().isPresent()) {
            return plain(source, object, Verdict.UNDECIDED, outcome.problem().get())
                    .changing(changes);
        }
        if (!outcome.matches()) {
            return plain(source, object, Verdict.DOES_NOT_MATCH, stays(source, object, now))
                    .changing(changes);
        }
        HealthEvent event = NodeFaults.event(source, source.digest(), ObjectNames.of(object), outcome.node(), now);
        return new PolicyDryRun(
                source.name(),
                label(object),
                Verdict.MATCHES,
                outcome.node(),
                raised(source),
                changes,
                source.counts() ? Optional.empty() : Optional.of(event));
    }

    private PolicyDryRun changing(Optional<Instant> when) {
        return new PolicyDryRun(policy, object, verdict, node, why, when, event);
    }

    private static String raised(MonitorPolicy policy) {
        long seconds = policy.damping().raise().toSeconds();
        String after = seconds > 0 ? "once it has matched for " + seconds + " s" : "";
        return policy.counts() ? ("counts for its node " + after).strip() : after.isEmpty() ? "" : "reported " + after;
    }

    private static String stays(MonitorPolicy policy, Map<String, Object> object, Instant now) {
        String stays = "had it matched before, that stays until ";
        Optional<Instant> well =
                policy.counts() ? Optional.of(Instant.EPOCH) : RecoveryRule.from(policy.resource(), object);
        long seconds = policy.damping().clear().toSeconds();
        String healthy = seconds > 0 ? "it has been healthy for " + seconds + " s" : "";
        if (well.isEmpty()) {
            return stays + "all containers are ready" + (healthy.isEmpty() ? "" : " and " + healthy);
        }
        if (well.get().isAfter(now)) {
            return stays + well.get() + ", when a container that ended before has run for longer"
                    + (healthy.isEmpty() ? "" : ", and " + healthy);
        }
        return healthy.isEmpty() ? "" : stays + healthy;
    }

    /** Returns the object's name in faults, without its kind. */
    String objectName() {
        return object.substring(object.indexOf(' ') + 1);
    }

    private static PolicyDryRun plain(MonitorPolicy policy, Map<String, Object> object, Verdict verdict, String why) {
        return new PolicyDryRun(policy.name(), label(object), verdict, "", why, Optional.empty(), Optional.empty());
    }

    private static String label(Map<String, Object> object) {
        return ResourceType.of(object).kind() + " " + ObjectNames.of(object);
    }

    /**
     * The result of a policy for several objects together, for the policy's author. Pure.
     *
     * @param node the node that they concern; empty for a summary of all objects
     * @param event the event that the policy would report for the node; empty for none
     */
    public record Summary(String policy, String node, String text, Optional<HealthEvent> event) {

        /**
         * @param trials the results of these policies
         * @param nodes the number of Nodes among the objects
         */
        public static List<Summary> of(
                List<CompiledPolicy> policies, List<PolicyDryRun> trials, int nodes, Instant now) {
            List<Summary> summaries = new ArrayList<>();
            for (CompiledPolicy policy : policies) {
                MonitorPolicy source = policy.source();
                List<PolicyDryRun> asked = trials.stream()
                        .filter(trial -> trial.policy().equals(source.name()))
                        .filter(trial -> trial.verdict() != PolicyDryRun.Verdict.NOT_ASKED)
                        .toList();
                Map<String, List<String>> matches = asked.stream()
                        .filter(trial -> trial.verdict() == PolicyDryRun.Verdict.MATCHES)
                        .collect(Collectors.groupingBy(
                                PolicyDryRun::node,
                                TreeMap::new,
                                Collectors.mapping(PolicyDryRun::objectName, Collectors.toList())));
                if (source.counts()) {
                    matches.forEach((node, objects) -> summaries.add(counted(source, node, objects, now)));
                }
                tooMuch(source, asked.size(), matches, nodes).ifPresent(summaries::add);
            }
            return summaries;
        }

        private static Summary counted(MonitorPolicy policy, String node, List<String> objects, Instant now) {
            boolean enough = objects.size() >= policy.minMatches();
            return new Summary(
                    policy.name(),
                    node,
                    objects.size() + " of these objects match and concern " + node + ", " + policy.minMatches()
                            + " raise its fault",
                    enough ? Optional.of(NodeFaults.event(policy, node, objects, now)) : Optional.empty());
        }

        private static Optional<Summary> tooMuch(
                MonitorPolicy policy, int objects, Map<String, List<String>> matches, int nodes) {
            int matching = matches.values().stream().mapToInt(List::size).sum();
            int concerned = (int) matches.values().stream()
                    .filter(each -> each.size() >= policy.minMatches())
                    .count();
            return new Reach(objects, policy.counts() ? 0 : matching, nodes, concerned)
                    .tooMuch(MonitorSettings.CONFIRM_FROM)
                    .map(much -> new Summary(
                            policy.name(),
                            "",
                            much
                                    + ", more than half: were these all, nothing would be reported until a person confirms the policy",
                            Optional.empty()));
        }
    }
}
