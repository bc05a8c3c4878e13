package dev.gpuwarden.aggregator.objectmonitor;

import dev.gpuwarden.aggregator.cel.KnownFields;
import dev.gpuwarden.cli.Spelling;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.core.util.Sha256;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The content of a MonitorPolicy: the objects that are faulty, the node that each concerns, and the event to report.
 *
 * @param generation the generation of the resource, which its conditions name
 * @param predicate the expression that is true for a faulty object
 * @param association the expression that gives the name of the object's node
 * @param damping the time for which an object must match, or be healthy, before that counts
 * @param minMatches the number of objects of one node that must match at the same time to raise its fault. If it is above 1,
 *     the fault belongs to the node as a whole, and stays while any of them matches.
 */
public record MonitorPolicy(
        String name,
        long generation,
        boolean enabled,
        ResourceType resource,
        String predicate,
        String association,
        Damping damping,
        int minMatches,
        EventTemplate event) {

    public static final String API_VERSION = "gpuwarden.dev/v1alpha1";
    public static final String KIND = "MonitorPolicy";

    private static final int DIGEST_CHARACTERS = 12;
    private static final int MOST_MIN_MATCHES = 1000;

    /**
     * @param resource the resource in the form of the API server
     * @throws IllegalArgumentException with field, expected and found value, for a resource that the schema refuses as well
     */
    public static MonitorPolicy of(Map<String, Object> resource) {
        Map<String, Object> metadata = JsonTrees.object(resource, "metadata");
        Map<String, Object> spec = JsonTrees.object(resource, "spec");
        Map<String, Object> type = JsonTrees.object(spec, "resource");
        ResourceType resourceType = new ResourceType(
                JsonTrees.text(type, "group"),
                need(type, "spec.resource.", "version"),
                need(type, "spec.resource.", "kind"));
        return new MonitorPolicy(
                need(metadata, "metadata.", "name"),
                JsonTrees.longNumber(metadata, "generation"),
                !Boolean.FALSE.equals(spec.get("enabled")),
                resourceType,
                need(JsonTrees.object(spec, "predicate"), "spec.predicate.", "expression"),
                need(JsonTrees.object(spec, "nodeAssociation"), "spec.nodeAssociation.", "expression"),
                Damping.of(spec, resourceType),
                minMatches(spec),
                template(JsonTrees.object(spec, "healthEvent")));
    }

    private static int minMatches(Map<String, Object> spec) {
        Object given = spec.getOrDefault("minMatches", 1);
        int number = given instanceof Number ? ((Number) given).intValue() : 0;
        if (number < 1 || number > MOST_MIN_MATCHES) {
            throw new IllegalArgumentException(
                    "spec.minMatches: expected 1 to " + MOST_MIN_MATCHES + ", found " + given);
        }
        return number;
    }

    private static EventTemplate template(Map<String, Object> event) {
        String action = JsonTrees.text(event, "recommendedAction");
        return new EventTemplate(
                need(event, "spec.healthEvent.", "componentClass"),
                JsonTrees.isTrue(event, "isFatal"),
                JsonTrees.text(event, "message"),
                action.isEmpty() ? RecommendedAction.NONE : action(action),
                JsonTrees.text(event, "customRecommendedAction"),
                JsonTrees.textList(event, "errorCode"));
    }

    private static RecommendedAction action(String name) {
        List<String> names = Arrays.stream(RecommendedAction.values())
                .map(RecommendedAction::name)
                .toList();
        if (!names.contains(name)) {
            throw new IllegalArgumentException("spec.healthEvent.recommendedAction: expected one of "
                    + String.join(", ", names) + ", found \"" + name + "\""
                    + Spelling.nearest(name, names)
                            .map(meant -> ", did you mean " + meant + "?")
                            .orElse(""));
        }
        return RecommendedAction.valueOf(name);
    }

    private static String need(Map<String, Object> tree, String prefix, String field) {
        String text = JsonTrees.text(tree, field);
        if (text.isBlank()) {
            throw new IllegalArgumentException(prefix + field + ": expected a text, there is none");
        }
        return text;
    }

    /**
     * Returns whether objects are counted. A counted object is evidence of a fault of its node, and need not recover itself.
     */
    boolean counts() {
        return minMatches > 1;
    }

    /** Returns whether both policies evaluate the same objects with the same expressions and the same damping. */
    boolean asksAs(MonitorPolicy other) {
        return digest().equals(other.digest()) && damping.equals(other.damping) && counts() == other.counts();
    }

    /**
     * Returns a text that changes when other objects may match or concern other nodes. The event to report is no part of it.
     */
    String digest() {
        return Sha256.hex(String.join("\0", resource.toString(), predicate, association), DIGEST_CHARACTERS);
    }

    /**
     * The time for which the result for an object must be constant before it replaces the reported one. Pure.
     *
     * @param raise the time for which the object must match before its fault is raised; zero for immediately
     * @param clear the time for which the object must be healthy before its fault clears; zero for immediately
     */
    record Damping(Duration raise, Duration clear) {

        static final String RAISE = "minMatchSeconds";
        static final String CLEAR = "minHealthySeconds";

        /** An operator that rewrites a status has finished by then: five minutes is the usual resync of controllers. */
        static final Duration CLEAR_OTHERS = Duration.ofMinutes(5);

        static final Duration LONGEST = Duration.ofDays(1);

        /**
         * @param spec the policy's spec. Without a time in it, Pods clear immediately, since {@link RecoveryRule} applies to
         *     them.
         */
        static Damping of(Map<String, Object> spec, ResourceType type) {
            return new Damping(
                    seconds(spec, RAISE, Duration.ZERO),
                    seconds(spec, CLEAR, type.isPod() ? Duration.ZERO : CLEAR_OTHERS));
        }

        private static Duration seconds(Map<String, Object> spec, String field, Duration absent) {
            if (!spec.containsKey(field)) {
                return absent;
            }
            long seconds = spec.get(field) instanceof Number ? JsonTrees.longNumber(spec, field) : -1;
            if (seconds < 0 || seconds > LONGEST.toSeconds()) {
                throw new IllegalArgumentException(
                        "spec." + field + ": expected 0 to " + LONGEST.toSeconds() + ", found " + spec.get(field));
            }
            return Duration.ofSeconds(seconds);
        }

        /** Returns the time at which an object is reported that has matched since then. */
        Instant raises(Instant since) {
            return since.plus(raise);
        }

        /**
         * Returns the time at which the fault of an object clears that has not matched since then.
         *
         * @param well the time at which the object itself shows that it has recovered; empty if it does not
         */
        Optional<Instant> clears(Instant since, Optional<Instant> well) {
            Instant steady = since.plus(clear);
            return well.map(at -> at.isAfter(steady) ? at : steady);
        }
    }

    /**
     * The event that is reported for a node when an object matches.
     *
     * @param customAction the name of the action if {@code action} is {@code CUSTOM}, else empty
     */
    public record EventTemplate(
            String componentClass,
            boolean fatal,
            String message,
            RecommendedAction action,
            String customAction,
            List<String> errorCodes) {

        public EventTemplate {
            errorCodes = List.copyOf(errorCodes);
        }
    }

    /**
     * A type of objects, by its names in the API.
     *
     * @param group the API group; empty for the core group
     */
    public record ResourceType(String group, String version, String kind) {

        private static final Set<String> CORE = Set.of("apiVersion", "kind", "metadata", "spec", "status");

        /** All fields of ObjectMeta in meta/v1. */
        private static final Set<String> METADATA = Set.of(
                ("annotations creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generateName generation labels "
                                + "managedFields name namespace ownerReferences resourceVersion selfLink uid")
                        .split(" "));

        /** The kinds of the core group whose fields besides the metadata are fixed. */
        private static final Set<String> WITH_SPEC_AND_STATUS = Set.of("Pod", "Node");

        /** Returns the type that an object names as its own. */
        static ResourceType of(Map<String, Object> object) {
            String apiVersion = JsonTrees.text(object, "apiVersion");
            int slash = apiVersion.indexOf('/');
            return new ResourceType(
                    slash < 0 ? "" : apiVersion.substring(0, slash),
                    apiVersion.substring(slash + 1),
                    JsonTrees.text(object, "kind"));
        }

        String apiVersion() {
            return group.isEmpty() ? version : group + "/" + version;
        }

        /** Returns the path at which the API server lists the kinds of this group and version. */
        String discoveryPath() {
            return group.isEmpty() ? "/api/" + version : "/apis/" + group + "/" + version;
        }

        /** Returns the fields that each object of this type can have, for the variable that holds it. */
        KnownFields knownFields(String variable) {
            Map<String, Set<String>> fields = new HashMap<>(Map.of(variable + ".metadata", METADATA));
            if (group.isEmpty() && WITH_SPEC_AND_STATUS.contains(kind)) {
                fields.put(variable, CORE);
            }
            return new KnownFields(
                    fields,
                    Map.of(),
                    variable + " (" + this + ", as the API server has it: " + variable + ".metadata.name, " + variable
                            + ".status …), now (the time), has(), timestamp(), duration(), exists, all, filter, map, and CEL's"
                            + " text functions");
        }

        boolean isPod() {
            return group.isEmpty() && kind.equals("Pod");
        }

        @Override
        public String toString() {
            return kind + " of " + apiVersion();
        }
    }
}
