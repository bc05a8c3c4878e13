package dev.gpuwarden.testkit.scenario;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** All keys of a scope, from keys.tsv; reads their values. Immutable. */
public final class Keys {

    /** Keys of the whole node. */
    public static final Keys NODE = new Keys("node");
    /** Keys of one GPU. */
    public static final Keys GPU = new Keys("gpu");

    /** Keys of one network device. */
    public static final Keys NIC = new Keys("nic");

    /** A key that a path names, and the link, partition or other GPU in it. */
    public record Match(Key key, int element) {}

    private static final Pattern ELEMENT = Pattern.compile("(nvlink|mig|copy\\.peer)\\.(\\d{1,2})\\.(.+)");

    private final Map<String, Key> byName = new LinkedHashMap<>();

    private Keys(String scope) {
        Rows.of("keys.tsv", 5).stream().filter(cells -> cells[0].equals(scope)).forEach(this::add);
        if (!scope.equals("node")) {
            for (String at : List.of("", "bridge.")) {
                AerError.ALL.forEach(error -> add(new String[] {scope, at + error.key(), "-", "count", ""}));
            }
        }
    }

    private void add(String[] cells) {
        List<String> fields = cells[2].equals("-") ? List.of() : List.of(cells[2].split(","));
        byName.put(cells[1], new Key(cells[1], fields, Form.of(cells[3]), cells[4]));
    }

    /** Finds a key by its path: "temperature", "nvlink.state" for every link, "nvlink.5.state" for one. */
    public Optional<Match> find(String path) {
        Key whole = byName.get(path);
        if (whole != null) {
            return Optional.of(new Match(whole, Setting.EVERY));
        }
        Matcher m = ELEMENT.matcher(path);
        if (m.matches()) {
            Key key = byName.get(m.group(1) + "." + m.group(3));
            if (key != null && !key.list().isEmpty()) {
                return Optional.of(new Match(key, Integer.parseInt(m.group(2))));
            }
        }
        return Optional.empty();
    }

    /** Reads a mapping of keys to values. Nested mappings and dotted names are equal. */
    List<Setting> settings(YamlNode mapping) {
        List<Setting> settings = new ArrayList<>();
        settings(mapping.subject(), mapping, "", settings, new TreeSet<>());
        return settings;
    }

    private void settings(String subject, YamlNode mapping, String prefix, List<Setting> into, Set<String> seen) {
        for (YamlNode.Entry entry : mapping.named(subject).entries()) {
            String path = prefix + entry.name();
            if (entry.value().isMapping()) {
                settings(subject, entry.value(), path + ".", into, seen);
            } else {
                if (!seen.add(path)) {
                    throw entry.key().problem("every key once", "\"" + path + "\" again");
                }
                into.add(setting(entry.key(), path, entry.value().named(subject + "." + path)));
            }
        }
    }

    /**
     * Reads the value of one key.
     *
     * @param key its place
     * @param path one that {@link #find} accepts
     */
    Setting setting(YamlNode key, String path, YamlNode value) {
        Match match = find(path).orElseThrow(() -> key.unknown("a known key", path, names()));
        return new Setting(match.key(), match.element(), value.value(match.key().form()));
    }

    public Key get(String name) {
        return Objects.requireNonNull(byName.get(name), name);
    }

    public Set<String> names() {
        return byName.keySet();
    }

    public Iterable<Key> all() {
        return byName.values();
    }

    /**
     * A property of a node, a GPU or a network device that a scenario can set.
     *
     * @param fields of the simulator's table, with `[*]` for a chosen element; empty for keys that are no state of the driver
     */
    public record Key(String name, List<String> fields, Form form, String help) {

        /** Returns the element's list in the table ("link", "mig", "peer"), or an empty text for a key without elements. */
        public String list() {
            int star = fields.isEmpty() ? -1 : fields.get(0).indexOf("[*]");
            return star < 0 ? "" : fields.get(0).substring(0, star);
        }

        /** Returns true when the fields contain texts, false for numbers. */
        public boolean isText() {
            return form.isText();
        }
    }
}
