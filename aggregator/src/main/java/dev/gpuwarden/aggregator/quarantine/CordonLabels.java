package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.quarantine.QuarantineReasons.Explanation;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The labels that name the program that cordoned or uncordoned a node, as NVSentinel writes them, for its dashboards. */
final class CordonLabels {

    private static final String PREFIX = "k8saas.nvidia.com/";
    private static final String CORDON_BY = PREFIX + "cordon-by";
    private static final String CORDON_REASON = PREFIX + "cordon-reason";
    private static final String CORDON_TIME = PREFIX + "cordon-timestamp";
    private static final String UNCORDON_BY = PREFIX + "uncordon-by";
    private static final String UNCORDON_TIME = PREFIX + "uncordon-timestamp";
    private static final List<String> OF_CORDON = List.of(CORDON_BY, CORDON_REASON, CORDON_TIME);

    private static final Optional<String> US = Optional.of("gpuwarden");
    /** A time format without colons, which label values must not contain. */
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH-mm-ss'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);

    private static final int LONGEST = 63;

    private CordonLabels() {}

    static void cordoned(NodePatch patch, QuarantineReasons held, Instant now) {
        patch.label(CORDON_BY, US);
        patch.label(CORDON_REASON, Optional.of(value(String.join("_", Explanation.names(held.met())))));
        patch.label(CORDON_TIME, Optional.of(TIME.format(now)));
        patch.label(UNCORDON_BY, Optional.empty());
        patch.label(UNCORDON_TIME, Optional.empty());
    }

    static void gone(NodePatch patch) {
        OF_CORDON.forEach(label -> patch.label(label, Optional.empty()));
    }

    /** Removes the labels that remain of a former cordon by this program. */
    static void forgotten(NodePatch patch, CachedNode node) {
        if (US.get().equals(node.labels().get(UNCORDON_BY))) {
            patch.label(UNCORDON_BY, Optional.empty());
            patch.label(UNCORDON_TIME, Optional.empty());
        }
    }

    static void uncordoned(NodePatch patch, Instant now) {
        patch.label(UNCORDON_BY, US);
        patch.label(UNCORDON_TIME, Optional.of(TIME.format(now)));
    }

    /** Returns the time of the cordon; empty without a readable label. */
    static Optional<Instant> since(CachedNode node) {
        try {
            return Optional.ofNullable(node.labels().get(CORDON_TIME)).map(text -> TIME.parse(text, Instant::from));
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }

    private static String value(String text) {
        String value = text.replaceAll("[^A-Za-z0-9_.-]+", "-");
        value = value.length() <= LONGEST ? value : value.substring(0, LONGEST);
        return value.replaceAll("^[^A-Za-z0-9]+|[^A-Za-z0-9]+$", "");
    }
}
