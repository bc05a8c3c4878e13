package dev.gpuwarden.aggregator.vram;

import dev.gpuwarden.core.util.JsonTrees;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The next write of the largest card into the parameter of the API server's warnings. A larger card counts immediately. A smaller
 * one counts after a day, because a node may be away or miss a card for some time. Pure.
 */
sealed interface CardParameter {

    String MANAGER = "gpuwarden-vram-card";
    String CONFIG_MAP = "gpuwarden-vram";
    String KEY = "largest-card-mib";

    /** The annotation with the time since which all cards have been smaller. */
    String SMALLER_SINCE = "gpuwarden.dev/vram-cards-smaller-since";

    Duration KEPT = Duration.ofDays(1);

    /** Nothing must be written. */
    record Unchanged() implements CardParameter {}

    /** @param why why the value is not this program's */
    record Foreign(String why) implements CardParameter {}

    /** Apply this object. */
    record Write(Map<String, Object> body) implements CardParameter {
        String text() {
            return KEY + " is " + JsonTrees.text(JsonTrees.object(body, "data"), KEY)
                    + Optional.of(JsonTrees.text(
                                    JsonTrees.object(JsonTrees.object(body, "metadata"), "annotations"), SMALLER_SINCE))
                            .filter(since -> !since.isEmpty())
                            .map(since -> ", and all cards have been smaller since " + since)
                            .orElse("");
        }
    }

    /** @param mib the largest card of the cluster now */
    static CardParameter of(Map<String, Object> configMap, String resource, long mib, Instant now) {
        Map<String, Object> metadata = JsonTrees.object(configMap, "metadata");
        Map<String, String> data = JsonTrees.texts(configMap, "data");
        String text = data.getOrDefault(KEY, "");
        String named = data.getOrDefault("resource", resource);
        if (!named.equals(resource)) {
            return new Foreign("it has the resource " + named + ", and --vram.resource is " + resource);
        }
        List<String> owners = owners(metadata);
        if (!text.isEmpty() && !owners.contains(MANAGER)) {
            return new Foreign("its " + KEY + " " + text + " was written by "
                    + (owners.isEmpty() ? "an unknown owner" : String.join(", ", owners)));
        }
        OptionalLong before = ExtendedResource.parse(text);
        Optional<Instant> since = since(metadata);
        if (before.isEmpty() || mib > before.getAsLong()) {
            return write(metadata, mib, Optional.empty());
        }
        if (mib == before.getAsLong()) {
            return since.isEmpty() ? new Unchanged() : write(metadata, mib, Optional.empty());
        }
        if (since.isEmpty()) {
            return write(metadata, before.getAsLong(), Optional.of(now));
        }
        return now.isBefore(since.get().plus(KEPT)) ? new Unchanged() : write(metadata, mib, Optional.empty());
    }

    private static Write write(Map<String, Object> metadata, long mib, Optional<Instant> smallerSince) {
        Map<String, Object> name = new LinkedHashMap<>();
        name.put("name", JsonTrees.text(metadata, "name"));
        // With the uid, the request cannot create a ConfigMap that was deleted.
        name.put("uid", JsonTrees.text(metadata, "uid"));
        // With the version, it cannot replace the value that an operator wrote since the read.
        name.put("resourceVersion", JsonTrees.text(metadata, "resourceVersion"));
        smallerSince.ifPresent(since -> name.put("annotations", Map.of(SMALLER_SINCE, since.toString())));
        return new Write(Map.of(
                "apiVersion", "v1", "kind", "ConfigMap", "metadata", name, "data", Map.of(KEY, Long.toString(mib))));
    }

    private static List<String> owners(Map<String, Object> metadata) {
        return JsonTrees.objects(metadata, "managedFields").stream()
                .filter(entry -> JsonTrees.object(JsonTrees.object(entry, "fieldsV1"), "f:data")
                        .containsKey("f:" + KEY))
                .map(entry -> JsonTrees.text(entry, "manager"))
                .distinct()
                .toList();
    }

    /** A time that cannot be read counts as none, so that the day begins again. */
    private static Optional<Instant> since(Map<String, Object> metadata) {
        try {
            return Optional.ofNullable(JsonTrees.texts(metadata, "annotations").get(SMALLER_SINCE))
                    .map(Instant::parse);
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }
}
