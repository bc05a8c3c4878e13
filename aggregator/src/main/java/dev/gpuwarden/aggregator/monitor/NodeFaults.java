package dev.gpuwarden.aggregator.monitor;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.event.HealthEvent;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** The faults of a node, from the objects that match and concern it; and back. Pure. */
final class NodeFaults {

    /** As NVSentinel's is called. */
    static final String AGENT = "kubernetes-object-monitor";

    /** Which expressions an object has matched by. */
    private static final String DIGEST = "policyDigest";

    private NodeFaults() {}

    /** What is told of a node because of an object. @param digest of the policy when it matched */
    static HealthEvent event(MonitorPolicy policy, String digest, String object, String node, Instant since) {
        EventTemplate template = policy.event();
        return HealthEvent.of(AGENT, template.componentClass(), policy.name())
                .id(policy.name() + "/" + object + "@" + since.getEpochSecond())
                .nodeName(node)
                .fatal(template.fatal())
                .message(template.message())
                .action(template.action())
                .customAction(template.customAction())
                .errorCodes(template.errorCodes())
                .entities(List.of(new Entity(policy.resource().kind(), object)))
                .metadata(Map.of(DIGEST, digest))
                .generated(since)
                .build();
    }

    /**
     * The faults as they must be.
     *
     * @param policy what the policy of this name says; where nobody can tell, its faults stay as they are
     * @param told those that the node has now by this monitor
     */
    static List<Fault> wanted(
            String node,
            Map<Match.Key, Match> matches,
            Function<String, Optional<MonitorPolicy>> policy,
            List<Fault> told,
            Instant now) {
        Map<FaultKey, Fault> before = new HashMap<>();
        told.forEach(fault -> before.put(fault.key(), fault));
        List<Fault> wanted = new ArrayList<>();
        matches.forEach((key, match) -> {
            Optional<MonitorPolicy> source = policy.apply(key.policy());
            if (source.isEmpty()) {
                told.stream().filter(fault -> key(fault).equals(key)).forEach(wanted::add);
                return;
            }
            HealthEvent event = event(source.get(), match.digest(), key.object(), node, match.since());
            for (FaultKey each : event.keys()) {
                Fault known = before.get(each);
                wanted.add(
                        known == null
                                ? new Fault(each, event, 0, match.since(), now, 1)
                                : new Fault(each, event, 0, known.since(), known.lastSeen(), known.occurrences()));
            }
        });
        return wanted;
    }

    static Match.Key key(Fault fault) {
        return new Match.Key(fault.key().checkName(), fault.key().entity().value());
    }

    /** What matched, as far as the faults say it. */
    static Map<Match.Key, Match> matches(String node, List<Fault> told) {
        Map<Match.Key, Match> matches = new LinkedHashMap<>();
        for (Fault fault : told) {
            String digest = fault.cause().metadata().getOrDefault(DIGEST, "");
            matches.putIfAbsent(key(fault), new Match(node, since(fault), digest, false, System.nanoTime()));
        }
        return matches;
    }

    /** As its id has it: other codes of the same object may be younger. */
    private static Instant since(Fault fault) {
        String id = fault.cause().id();
        try {
            return Instant.ofEpochSecond(Long.parseLong(id.substring(id.lastIndexOf('@') + 1)));
        } catch (NumberFormatException | DateTimeException e) {
            return fault.since();
        }
    }
}
