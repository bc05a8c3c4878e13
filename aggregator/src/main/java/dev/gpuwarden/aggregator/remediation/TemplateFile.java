package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.client.ResourceKind;
import dev.gpuwarden.aggregator.remediation.RepairTemplate.Drain;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.event.ActionName;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.util.Text;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/** The file of the users' templates. Each mistake is an error with its place, what was found, and what is expected. */
public final class TemplateFile {

    private static final int MOST_BYTES = 256 << 10;
    private static final int MOST_TEMPLATES = 16;
    private static final int DEEPEST = 32;
    private static final int MOST_VALUES = 2_000;
    private static final int LONGEST_QUOTE = 100;

    private static final String LABEL = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?";

    /** The form of a text, and an example of it for errors. */
    private enum Form {
        NAME("[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?", "vendor-ticket"),
        API_VERSION("(" + LABEL + "(\\." + LABEL + "){0,8}/)?v[0-9][a-z0-9]{0,20}", "example.com/v1"),
        KIND("[A-Z][A-Za-z0-9]{0,62}", "Ticket"),
        RESOURCE(LABEL, "tickets, the plural in the API server's paths"),
        NAMESPACE(LABEL, "gpuwarden-hooks"),
        CONDITION("[A-Za-z][A-Za-z0-9./_-]{0,315}", "Complete, the type of a condition");

        private final Pattern pattern;
        private final String example;

        Form(String pattern, String example) {
            this.pattern = Pattern.compile(pattern);
            this.example = example;
        }

        boolean matches(String text) {
            return pattern.matcher(text).matches();
        }
    }

    private static final List<String> RESTARTS =
            List.of(RecommendedAction.RESTART_VM.name(), RecommendedAction.RESTART_BM.name());

    /** The fields of a template, the known keys of which are named in errors. */
    private record Fields(String place, Map<?, ?> tree) {

        UserError wrong(String field, String expected) {
            Object found = tree.get(field);
            return new UserError(place + "." + field + ": expected " + expected + ", found "
                    + (found == null ? "nothing" : quoted(found)));
        }

        void allow(Set<String> known) {
            for (Object key : tree.keySet()) {
                if (!known.contains(String.valueOf(key))) {
                    throw new UserError(place + ": expected the keys "
                            + known.stream().sorted().toList() + ", found " + quoted(key));
                }
            }
        }

        String text(String field, Form form) {
            if (tree.get(field) instanceof String text && form.matches(text)) {
                return text;
            }
            throw wrong(field, "a text as " + form.example);
        }

        Optional<String> optional(String field, Form form) {
            return tree.get(field) == null ? Optional.empty() : Optional.of(text(field, form));
        }

        Fields section(String field) {
            if (tree.get(field) instanceof Map<?, ?> map) {
                return new Fields(place + "." + field, map);
            }
            throw wrong(field, "keys with values");
        }

        <E extends Enum<E>> E choice(String field, Class<E> type, E usual) {
            Object found = tree.get(field);
            List<String> names = Arrays.stream(type.getEnumConstants())
                    .map(each -> each.name().toLowerCase(Locale.ROOT))
                    .toList();
            if (found == null) {
                return usual;
            }
            int index = names.indexOf(String.valueOf(found));
            if (index < 0) {
                throw wrong(field, "one of " + names);
            }
            return type.getEnumConstants()[index];
        }
    }

    /** The step after success. */
    private enum After {
        /** The node must report that its fault is over. */
        REPORT,
        OPERATOR
    }

    private TemplateFile() {}

    /** Reads the templates of a file. Throws {@link UserError} if it cannot be read, or has a mistake. */
    public static RepairTemplates read(Path file) {
        byte[] content;
        try (InputStream in = Files.newInputStream(file)) {
            content = in.readNBytes(MOST_BYTES + 1);
        } catch (IOException e) {
            throw new UserError(file + ": cannot be read: " + e);
        }
        if (content.length > MOST_BYTES) {
            throw new UserError(file + ": expected at most " + MOST_BYTES + " bytes, found more");
        }
        return parse(file.toString(), new String(content, StandardCharsets.UTF_8));
    }

    static RepairTemplates parse(String name, String yaml) {
        Object root;
        try {
            root = new Load(LoadSettings.builder().setLabel(name).build()).loadFromString(yaml);
        } catch (YamlEngineException e) {
            throw new UserError(
                    name + ": not YAML: " + String.valueOf(e.getMessage()).replaceAll("\\s*\n\\s*", " "));
        }
        if (!(root instanceof Map<?, ?> map) || !(map.get("templates") instanceof List<?> list)) {
            throw new UserError(name + ": expected the key templates with a list");
        }
        new Fields(name, map).allow(Set.of("templates"));
        if (list.isEmpty() || list.size() > MOST_TEMPLATES) {
            throw new UserError(
                    name + ": templates: expected 1 to " + MOST_TEMPLATES + " templates, found " + list.size());
        }
        List<RepairTemplate> templates = new ArrayList<>();
        Map<String, String> taken = new HashMap<>();
        for (int i = 0; i < list.size(); i++) {
            Fields fields = new Fields(name + ": templates", Map.of(String.valueOf(i), orNothing(list.get(i))))
                    .section(String.valueOf(i));
            RepairTemplate template = template(fields);
            List<String> claims = new ArrayList<>(template.actions());
            claims.add("name " + template.name());
            for (String claim : claims) {
                String before = taken.putIfAbsent(claim, fields.place());
                if (before != null) {
                    throw new UserError(fields.place() + ": expected each name and action once, found " + claim
                            + " also in " + before);
                }
            }
            templates.add(template);
        }
        return new RepairTemplates(templates);
    }

    private static String quoted(Object found) {
        return "\"" + Text.truncate(String.valueOf(found), LONGEST_QUOTE) + "\"";
    }

    private static Object orNothing(Object value) {
        return value == null ? "" : value;
    }

    private static RepairTemplate template(Fields fields) {
        fields.allow(Set.of("name", "actions", "resource", "drain", "complete", "failed", "after", "object"));
        String name = fields.text("name", Form.NAME);
        if (name.startsWith("reset") || name.startsWith("restart")) {
            throw fields.wrong("name", "a name that does not begin as those of this program's groups");
        }
        Fields object = fields.section("object");
        Fields metadata = object.tree().get("metadata") == null
                ? new Fields(object.place() + ".metadata", Map.of())
                : object.section("metadata");
        metadata.allow(Set.of("namespace", "labels", "annotations"));
        check(object.place(), object.tree(), 0, new int[1]);
        String apiVersion = object.text("apiVersion", Form.API_VERSION);
        int slash = apiVersion.indexOf('/');
        ResourceKind kind = new ResourceKind(
                slash < 0 ? "" : apiVersion.substring(0, slash),
                apiVersion.substring(slash + 1),
                fields.text("resource", Form.RESOURCE),
                object.text("kind", Form.KIND),
                metadata.optional("namespace", Form.NAMESPACE),
                Optional.empty());
        boolean job = kind.apiVersion().equals("batch/v1") && kind.kind().equals("Job");
        if (job && kind.namespace().isEmpty()) {
            throw metadata.wrong("namespace", "the namespace of the Job");
        }
        String complete =
                job && !fields.tree().containsKey("complete") ? "Complete" : fields.text("complete", Form.CONDITION);
        String failed = fields.optional("failed", Form.CONDITION).orElse(job ? "Failed" : "");
        Drain drain = fields.choice("drain", Drain.class, Drain.ALL);
        List<String> actions = actions(fields);
        if (actions.stream().anyMatch(RESTARTS::contains) && !(actions.containsAll(RESTARTS) && drain == Drain.ALL)) {
            throw fields.wrong(
                    "actions", "both of " + RESTARTS + " with drain: all, since both restart the whole node");
        }
        return new RepairTemplate(
                new TemplateKind(name, kind),
                actions,
                drain,
                complete,
                failed,
                fields.choice("after", After.class, After.REPORT) == After.OPERATOR,
                Placeholders.fill(object.tree(), Map.of()));
    }

    private static List<String> actions(Fields fields) {
        if (!(fields.tree().get("actions") instanceof List<?> list) || list.isEmpty()) {
            throw fields.wrong("actions", "a list of recommended actions");
        }
        List<String> actions = new ArrayList<>();
        for (Object each : list) {
            String action = String.valueOf(each);
            if (!ActionName.isKnown(action)) {
                throw fields.wrong("actions", ActionName.expected());
            }
            actions.add(action);
        }
        return actions;
    }

    /** Checks the placeholders and the size of an object. */
    private static void check(String place, Object value, int depth, int[] values) {
        if (depth > DEEPEST || ++values[0] > MOST_VALUES) {
            throw new UserError(
                    place + ": expected at most " + DEEPEST + " levels and " + MOST_VALUES + " values, found more");
        }
        if (value instanceof Map<?, ?> map) {
            map.forEach((key, item) -> {
                if (!(key instanceof String name) || name.contains("${")) {
                    throw new UserError(place + ": expected a text without a placeholder as key, found " + quoted(key));
                }
                check(place + "." + name, item, depth + 1, values);
            });
        } else if (value instanceof List<?> list) {
            for (int i = 0; i < list.size(); i++) {
                check(place + "." + i, list.get(i), depth + 1, values);
            }
        } else if (value instanceof String text) {
            Placeholders.problem(text).ifPresent(problem -> {
                throw new UserError(place + ": " + problem);
            });
        } else if (value == null) {
            throw new UserError(place + ": expected a value, found nothing");
        } else if (!(value instanceof Number || value instanceof Boolean)) {
            throw new UserError(place + ": expected a text, number, boolean, list or keys, found " + quoted(value));
        }
    }
}
