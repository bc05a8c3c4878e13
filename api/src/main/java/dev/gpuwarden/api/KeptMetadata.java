package dev.gpuwarden.api;

import dev.gpuwarden.core.event.StoredEvent;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The part of an event's metadata that is stored. Long values are truncated, pairs without room are left out, and the
 * fault stays. Pure.
 */
final class KeptMetadata {

    private static final String OURS = "gpuwarden.dev/";

    /** The least length of a useful value. */
    private static final int LEAST_VALUE = 16;

    private KeptMetadata() {}

    /**
     * Returns the metadata to store.
     *
     * @param given by an untrusted sender
     * @param room characters for all keys and values together
     * @return with {@link EventRules#METADATA_CUT} where pairs were truncated or left out
     */
    static Map<String, String> of(Map<String, String> given, int room) {
        List<Map.Entry<String, String>> pairs = new ArrayList<>(given.entrySet());
        // Keys on which this program acts come before unknown ones.
        pairs.sort(Comparator.comparing(pair -> !pair.getKey().startsWith(OURS)));
        Map<String, String> kept = new LinkedHashMap<>();
        int changed = 0;
        int left = room - EventRules.METADATA_CUT.length() - 10;
        for (Map.Entry<String, String> pair : pairs) {
            String key = pair.getKey();
            String shown = Utf8.shown(pair.getValue());
            int valueRoom = Math.min(EventRules.MAX_METADATA_BYTES - Utf8.length(key), left - key.length());
            boolean keeps = valueRoom >= Math.min(shown.length(), LEAST_VALUE)
                    && kept.size() < EventRules.MAX_METADATA
                    && sensible(key, pair.getValue());
            if (!keeps) {
                changed++;
                continue;
            }
            String value = Utf8.length(shown) <= valueRoom ? shown : Utf8.head(shown, valueRoom);
            changed += value.length() < shown.length() ? 1 : 0;
            left -= key.length() + value.length();
            kept.put(key, value);
        }
        if (changed > 0) {
            kept.put(EventRules.METADATA_CUT, Integer.toString(changed));
        }
        return kept;
    }

    private static boolean sensible(String key, String value) {
        return !key.isBlank()
                && Utf8.firstUnprintable(key) < 0
                && (!key.equals(StoredEvent.OCCURRENCES) || value.matches("[1-9][0-9]{0,8}"));
    }
}
