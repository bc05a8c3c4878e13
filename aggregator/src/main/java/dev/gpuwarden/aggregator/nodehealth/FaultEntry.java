package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Overrides;
import dev.gpuwarden.core.event.Reporter;
import dev.gpuwarden.core.node.PartNames;
import dev.gpuwarden.core.util.Text;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The form of a fault in a `NodeHealth`: its texts cut to the limits, and its tree. Pure. */
public final class FaultEntry {

    static final int LONGEST_MESSAGE = 512;
    /** In characters, like the schema; api's EventRules allow no more bytes. */
    static final int LONGEST_NAME = 256;
    /**
     * For all keys and values of the sender together. Larger metadata are left out whole, because a part could be misread as
     * all. The pairs that the daemon adds about the reporter stay, and the outcome, because acts depend on it.
     */
    static final int MOST_METADATA = 1024;

    private FaultEntry() {}

    /** Returns the faults with their texts cut to the limits. A second call changes nothing more. */
    static List<Fault> of(Collection<Fault> faults) {
        // One event can raise hundreds of faults.
        Map<HealthEvent, HealthEvent> causes = new IdentityHashMap<>();
        return faults.stream()
                .map(fault -> shown(fault, causes.computeIfAbsent(fault.cause(), FaultEntry::cause)))
                .toList();
    }

    /**
     * Returns the faults under keys without reporters, which resources and annotations do not have. If two reporters raised the
     * same fault, the worse one counts.
     */
    static List<Fault> ofAnyReporter(List<Fault> faults) {
        if (faults.stream().allMatch(fault -> fault.key().reporter().isEmpty())) {
            return faults;
        }
        Map<FaultKey, Fault> worst = new LinkedHashMap<>();
        for (Fault fault : faults) {
            FaultKey key = fault.key().ofAnyReporter();
            Fault shown = new Fault(
                    key, fault.cause(), fault.sequence(), fault.since(), fault.lastSeen(), fault.occurrences());
            worst.merge(
                    key, shown, (one, other) -> NodeHealthStatus.WORST_FIRST.compare(one, other) <= 0 ? one : other);
        }
        return List.copyOf(worst.values());
    }

    /** Returns the fault with its key and times as shown, on which alone its place in the order depends. */
    static Fault named(Fault fault) {
        return shown(fault, fault.cause());
    }

    private static Fault shown(Fault fault, HealthEvent cause) {
        return new Fault(
                key(fault.key()),
                cause,
                fault.sequence(),
                second(fault.since()),
                second(fault.lastSeen()),
                fault.occurrences());
    }

    private static FaultKey key(FaultKey key) {
        return new FaultKey(
                name(key.agent()),
                name(key.componentClass()),
                name(key.checkName()),
                key.nodeName(),
                new Entity(name(key.entity().type()), name(key.entity().value())),
                name(key.errorCode()));
    }

    private static HealthEvent cause(HealthEvent event) {
        return event.toBuilder()
                .id(name(event.id()))
                .message(ShownText.cut(event.message(), LONGEST_MESSAGE))
                .metadata(metadata(event.metadata()))
                .customAction(name(event.customAction()))
                .build();
    }

    private static String name(String text) {
        return ShownText.cut(text, LONGEST_NAME);
    }

    private static Map<String, String> metadata(Map<String, String> given) {
        Map<String, String> kept = new TreeMap<>(given);
        int characters = kept.entrySet().stream()
                .filter(entry -> !Reporter.isReserved(entry.getKey()))
                .mapToInt(entry -> entry.getKey().length() + entry.getValue().length())
                .sum();
        if (characters > MOST_METADATA) {
            kept.keySet().removeIf(key -> !Reporter.isReserved(key) && !key.equals(HealthEvent.OUTCOME));
        }
        Map<String, String> metadata = new TreeMap<>();
        kept.forEach((key, value) ->
                metadata.putIfAbsent(ShownText.cut(key, MOST_METADATA), ShownText.cut(value, MOST_METADATA)));
        return metadata;
    }

    static Instant second(Instant time) {
        return time.truncatedTo(ChronoUnit.SECONDS);
    }

    // ---- as a tree ----

    /** @param fault a result of {@link #of} */
    static Map<String, Object> tree(Fault fault) {
        return tree(fault, PartNames.NONE);
    }

    /** @param names names of the node's GPUs */
    static Map<String, Object> tree(Fault fault, PartNames names) {
        HealthEvent cause = fault.cause();
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("agent", fault.key().agent());
        tree.put("componentClass", fault.key().componentClass());
        tree.put("checkName", fault.key().checkName());
        if (!fault.key().entity().equals(Entity.WHOLE)) {
            tree.put("entityType", fault.key().entity().type());
            tree.put("entityValue", fault.key().entity().value());
        }
        names.gpu(fault.key().entity()).ifPresent(gpu -> tree.put("gpu", gpu.label()));
        put(tree, "errorCode", fault.key().errorCode());
        tree.put("fatal", cause.fatal());
        tree.put("recommendedAction", cause.action().name());
        put(tree, "customAction", cause.customAction());
        tree.put("processingStrategy", cause.strategy().name());
        put(tree, "quarantineOverride", override(cause.quarantine()));
        put(tree, "drainOverride", override(cause.drain()));
        put(tree, "message", cause.message());
        if (!cause.metadata().isEmpty()) {
            tree.put("metadata", new TreeMap<>(cause.metadata()));
        }
        put(tree, "eventID", cause.id());
        tree.put("sequence", fault.sequence());
        tree.put("since", fault.since().toString());
        tree.put("lastSeen", fault.lastSeen().toString());
        tree.put("occurrences", fault.occurrences());
        return tree;
    }

    private static String override(Overrides overrides) {
        return overrides.skip() ? "Skip" : overrides.force() ? "Force" : "";
    }

    private static void put(Map<String, Object> tree, String key, String text) {
        if (!text.isEmpty()) {
            tree.put(key, text);
        }
    }

    /** Texts of strangers, made safe for a resource, which kubectl prints without a change. */
    public static final class ShownText {

        private ShownText() {}

        /**
         * Returns the text without control characters, and with at most so many characters. A second call changes nothing more.
         */
        public static String cut(String given, int most) {
            return Text.printable(given, most);
        }

        /** Returns the greatest length of a tree as JSON of Go, in bytes. Go writes `<`, `>` and `&` as six characters. */
        public static long bytes(Object tree) {
            if (tree instanceof Map<?, ?> map) {
                return map.entrySet().stream()
                        .mapToLong(entry -> bytes(entry.getKey()) + bytes(entry.getValue()) + 2)
                        .sum();
            }
            if (tree instanceof List<?> list) {
                return list.stream().mapToLong(item -> bytes(item) + 1).sum();
            }
            return 2 + String.valueOf(tree).chars().mapToLong(ShownText::bytes).sum();
        }

        private static long bytes(int c) {
            return switch (c) {
                case '<', '>', '&' -> 6;
                case '"', '\\' -> 2;
                default -> c < 0x80 ? 1 : c < 0x800 ? 2 : 3;
            };
        }
    }
}
