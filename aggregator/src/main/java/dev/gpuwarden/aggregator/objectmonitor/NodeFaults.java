package dev.gpuwarden.aggregator.objectmonitor;

import dev.gpuwarden.aggregator.nodehealth.FaultEntry.ShownText;
import dev.gpuwarden.aggregator.objectmonitor.MatchIndex.Match;
import dev.gpuwarden.aggregator.objectmonitor.MonitorPolicy.EventTemplate;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.core.util.Sha256;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** The conversion of matching objects to faults of their node, and back. Pure. */
final class NodeFaults {

    /** The agent's name in NVSentinel. */
    static final String AGENT = "kubernetes-object-monitor";

    /** The metadata key of the digest of the expressions by which an object matched. */
    private static final String DIGEST = "policyDigest";

    /** The number of objects that a message names. */
    private static final int NAMED = 3;

    /** The characters for names of objects; a message has room for 512. */
    private static final int MOST_NAMED = 160;

    private static final int MOST_TEMPLATE = 280;

    private NodeFaults() {}

    /**
     * Returns the event that an object raises on its node.
     *
     * @param digest the digest of the policy when the object matched
     */
    static HealthEvent event(MonitorPolicy policy, String digest, String object, String node, Instant since) {
        return event(policy, digest, new Match.Key(policy.name(), object), node, since)
                .entities(List.of(new Entity(policy.resource().kind(), object)))
                .build();
    }

    private static HealthEvent.Builder event(
            MonitorPolicy policy, String digest, Match.Key key, String node, Instant since) {
        EventTemplate template = policy.event();
        return HealthEvent.of(AGENT, template.componentClass(), policy.name())
                .id(key + "@" + since.getEpochSecond())
                .nodeName(node)
                .fatal(template.fatal())
                .message(template.message())
                .action(template.action())
                .customAction(template.customAction())
                .errorCodes(template.errorCodes())
                .metadata(Map.of(DIGEST, digest))
                .generated(since);
    }

    /** Returns the event that several objects together raise on their node. */
    static HealthEvent event(MonitorPolicy policy, String node, List<String> objects, Instant since) {
        return event(policy, policy.digest(), Match.Key.whole(policy.name()), node, since)
                .message(beginning(policy) + text(policy, objects))
                .build();
    }

    private static String beginning(MonitorPolicy policy) {
        return ShownText.cut(policy.event().message(), MOST_TEMPLATE) + " (";
    }

    private static String text(MonitorPolicy policy, List<String> objects) {
        String named = objects.stream().sorted().limit(NAMED).collect(Collectors.joining(", "));
        return objects.size() + " match, " + policy.minMatches() + " raise this: " + ShownText.cut(named, MOST_NAMED)
                + (objects.size() > NAMED ? " and " + (objects.size() - NAMED) + " more)" : ")");
    }

    /**
     * Returns the faults that the node must have.
     *
     * @param policy returns the policy with a name; if it is empty, the faults of the policy stay unchanged
     * @param held true for the name of a policy that may raise nothing new now; a reported fault stays while its object matches
     * @param reported the faults that this monitor reports for the node now
     */
    static List<Fault> wanted(
            String node,
            Map<Match.Key, Match> matches,
            Function<String, Optional<MonitorPolicy>> policy,
            Predicate<String> held,
            List<Fault> reported,
            Instant now) {
        Map<String, Map<Match.Key, Match>> byPolicy = new TreeMap<>();
        matches.forEach((key, match) -> byPolicy.computeIfAbsent(key.policy(), any -> new LinkedHashMap<>())
                .put(key, match));
        List<Fault> wanted = new ArrayList<>();
        byPolicy.forEach((name, theirs) -> {
            List<Fault> before = reported.stream()
                    .filter(fault -> fault.key().checkName().equals(name))
                    .toList();
            Optional<MonitorPolicy> source = policy.apply(name);
            if (source.isEmpty()) {
                wanted.addAll(still(theirs, before));
            } else if (source.get().counts()) {
                wanted.addAll(together(source.get(), held.test(name), node, theirs, before, now));
            } else {
                wanted.addAll(each(source.get(), held.test(name), node, theirs, before, now));
            }
        });
        return wanted;
    }

    /** Returns the reported faults of objects that still match, unchanged. */
    private static List<Fault> still(Map<Match.Key, Match> matches, List<Fault> reported) {
        return reported.stream()
                .filter(fault -> key(fault).isWhole() || matches.containsKey(key(fault)))
                .toList();
    }

    private static List<Fault> each(
            MonitorPolicy policy,
            boolean held,
            String node,
            Map<Match.Key, Match> matches,
            List<Fault> reported,
            Instant now) {
        Match.Key whole = Match.Key.whole(policy.name());
        List<Fault> wanted = new ArrayList<>();
        if (held || matches.containsKey(whole)) {
            wanted.addAll(of(whole, reported));
        }
        matches.forEach((key, match) -> {
            if (!key.isWhole() && !(held && of(key, reported).isEmpty())) {
                HealthEvent event = event(policy, match.digest(), key.object(), node, match.since());
                wanted.addAll(faults(event, reported, now));
            }
        });
        return wanted;
    }

    /**
     * Returns the fault of a policy that counts objects. Enough objects raise it. It stays while one matches, or until all are
     * evaluated.
     */
    private static List<Fault> together(
            MonitorPolicy policy,
            boolean held,
            String node,
            Map<Match.Key, Match> matches,
            List<Fault> reported,
            Instant now) {
        Match.Key whole = Match.Key.whole(policy.name());
        Optional<HealthEvent> known = of(whole, reported).stream().findFirst().map(Fault::cause);
        if (held && known.isEmpty()) {
            return still(matches, reported);
        }
        List<String> objects = matches.keySet().stream()
                .filter(key -> !key.isWhole())
                .map(Match.Key::object)
                .toList();
        boolean enough = objects.size() >= policy.minMatches();
        boolean stays = known.isPresent()
                && matches.values().stream().anyMatch(match -> match.digest().equals(digest(known.get())));
        if (!enough && !stays) {
            return List.of();
        }
        if (known.isEmpty()) {
            return faults(event(policy, node, objects, now.truncatedTo(ChronoUnit.SECONDS)), reported, now);
        }
        String message = known.get().message();
        // Each further object would cause a write without new information.
        boolean stands = message.startsWith(beginning(policy));
        HealthEvent event = event(
                        policy, enough ? policy.digest() : digest(known.get()), whole, node, since(known.get()))
                .message(stands ? message : beginning(policy) + text(policy, objects))
                .build();
        return faults(event, reported, now);
    }

    private static List<Fault> faults(HealthEvent event, List<Fault> reported, Instant now) {
        Map<FaultKey, Fault> before = new HashMap<>();
        reported.forEach(fault -> before.put(fault.key(), fault));
        List<Fault> faults = new ArrayList<>();
        for (FaultKey each : event.keys()) {
            Fault known = before.get(each);
            faults.add(
                    known == null
                            ? new Fault(each, event, 0, event.generated(), now, 1)
                            : new Fault(each, event, 0, known.since(), known.lastSeen(), known.occurrences()));
        }
        return faults;
    }

    private static List<Fault> of(Match.Key key, List<Fault> reported) {
        return reported.stream().filter(fault -> key(fault).equals(key)).toList();
    }

    /** Returns the time of the latest change of the objects behind a fault, by {@link System#nanoTime}. */
    static Optional<Long> receivedNanos(Match.Key key, Map<Match.Key, Match> matches) {
        return matches.entrySet().stream()
                .filter(entry -> key.isWhole()
                        ? entry.getKey().policy().equals(key.policy())
                        : entry.getKey().equals(key))
                .map(entry -> entry.getValue().receivedNanos())
                .reduce((one, other) -> one - other > 0 ? one : other);
    }

    /** Returns whether a NodeHealth contains faults of this monitor. */
    static boolean any(Map<String, Object> health) {
        return JsonTrees.objects(JsonTrees.object(health, "status"), "monitors").stream()
                .filter(place -> JsonTrees.text(place, "name").equals(AGENT))
                .anyMatch(place -> !JsonTrees.objects(place, "faults").isEmpty());
    }

    static Match.Key key(Fault fault) {
        return new Match.Key(fault.key().checkName(), fault.key().entity().value());
    }

    /** Returns the matches, as far as the faults contain them. */
    static Map<Match.Key, Match> matches(String node, List<Fault> reported) {
        Map<Match.Key, Match> matches = new LinkedHashMap<>();
        for (Fault fault : reported) {
            matches.putIfAbsent(
                    key(fault), new Match(node, since(fault.cause()), digest(fault.cause()), false, System.nanoTime()));
        }
        return matches;
    }

    private static String digest(HealthEvent event) {
        return event.metadata().getOrDefault(DIGEST, "");
    }

    /** Returns the time in the event's id: other codes of the same object may be younger. */
    private static Instant since(HealthEvent event) {
        String id = event.id();
        try {
            return Instant.ofEpochSecond(Long.parseLong(id.substring(id.lastIndexOf('@') + 1)));
        } catch (NumberFormatException | DateTimeException e) {
            return event.generated();
        }
    }

    /** The names of objects in faults: `namespace/name`, never longer than a fault's entity may be. */
    static final class ObjectNames {

        /** The limit in the schema of NodeHealth. */
        private static final int LONGEST = 256;

        private static final int DIGEST = 16;

        private ObjectNames() {}

        static String of(Map<String, Object> object) {
            Map<String, Object> metadata = JsonTrees.object(object, "metadata");
            String namespace = JsonTrees.text(metadata, "namespace");
            String name = JsonTrees.text(metadata, "name");
            return shortened(namespace.isEmpty() ? name : namespace + "/" + name);
        }

        /** Returns a different short name for each name, even if their beginnings are equal. */
        static String shortened(String name) {
            if (name.length() <= LONGEST) {
                return name;
            }
            return name.substring(0, LONGEST - DIGEST - 1) + "~" + Sha256.hex(name, DIGEST);
        }
    }
}
