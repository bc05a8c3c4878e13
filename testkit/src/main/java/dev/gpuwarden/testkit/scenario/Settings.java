package dev.gpuwarden.testkit.scenario;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Reads mappings of keys to values; nested mappings and dotted names mean the same. */
final class Settings {

    private Settings() {}

    static List<Setting> read(Keys keys, Yaml mapping, String subject) {
        List<Setting> settings = new ArrayList<>();
        Set<String> seen = new TreeSet<>();
        read(keys, mapping, subject, "", settings, seen);
        return settings;
    }

    private static void read(
            Keys keys, Yaml mapping, String subject, String prefix, List<Setting> into, Set<String> seen) {
        for (Yaml.Entry entry : mapping.entries(subject)) {
            String path = prefix + entry.key();
            if (entry.value().isMapping()) {
                read(keys, entry.value(), subject, path + ".", into, seen);
            } else {
                if (!seen.add(path)) {
                    throw new Problem(entry.place(), subject, "every key once", "\"" + path + "\" again");
                }
                into.add(read(keys, entry, subject, path));
            }
        }
    }

    private static Setting read(Keys keys, Yaml.Entry entry, String subject, String path) {
        Keys.Match match = keys.find(path)
                .orElseThrow(() -> Problem.unknown(entry.place(), subject, "a known key", path, keys.names()));
        Value value =
                Fields.parse(entry.value(), subject + "." + path, match.key().form());
        return new Setting(match.key(), match.element(), value);
    }
}
