package dev.gpuwarden.aggregator.objectmonitor;

import dev.gpuwarden.core.event.HealthEvent;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What a policy would make of several objects together, for its author. Pure.
 *
 * @param node that they concern; empty where this is about all of them
 * @param event what would be told of the node; empty where nothing would
 */
public record PolicySummary(String policy, String node, String text, Optional<HealthEvent> event) {

    /**
     * @param trials of these policies
     * @param nodes how many Nodes are among the objects
     */
    public static List<PolicySummary> of(
            List<CompiledPolicy> policies, List<PolicyDryRun> trials, int nodes, Instant now) {
        List<PolicySummary> summaries = new ArrayList<>();
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

    private static PolicySummary counted(MonitorPolicy policy, String node, List<String> objects, Instant now) {
        boolean enough = objects.size() >= policy.minMatches();
        return new PolicySummary(
                policy.name(),
                node,
                objects.size() + " of these objects match and concern " + node + ", " + policy.minMatches()
                        + " raise its fault",
                enough ? Optional.of(NodeFaults.event(policy, node, objects, now)) : Optional.empty());
    }

    private static Optional<PolicySummary> tooMuch(
            MonitorPolicy policy, int objects, Map<String, List<String>> matches, int nodes) {
        int matching = matches.values().stream().mapToInt(List::size).sum();
        int concerned = (int) matches.values().stream()
                .filter(each -> each.size() >= policy.minMatches())
                .count();
        return new Reach(objects, policy.counts() ? 0 : matching, nodes, concerned)
                .tooMuch(MonitorSettings.CONFIRM_FROM)
                .map(much -> new PolicySummary(
                        policy.name(),
                        "",
                        much
                                + ", more than half: were these all, nothing would be reported until a person confirms the policy",
                        Optional.empty()));
    }
}
