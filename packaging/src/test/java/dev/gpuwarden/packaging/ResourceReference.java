package dev.gpuwarden.packaging;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** Custom resources as Markdown, from their definitions. */
final class ResourceReference {

    private ResourceReference() {}

    static String text(Path repository) throws IOException {
        StringBuilder text = new StringBuilder("""
                # Custom resources

                The definitions are in `packaging/src/main/kubernetes/crds`. `kubectl explain nodehealth --recursive` prints the same.
                `[]` marks the items of a list, `{}` the values of a map. A star marks a required field.
                """);
        try (Stream<Path> files = Files.list(repository.resolve("packaging/src/main/kubernetes/crds"))) {
            for (Path file : files.sorted().toList()) {
                Map<?, ?> definition =
                        (Map<?, ?>) new Load(LoadSettings.builder().build()).loadFromString(Files.readString(file));
                resource(definition, text);
            }
        }
        return text.toString();
    }

    private static void resource(Map<?, ?> definition, StringBuilder text) {
        Map<?, ?> spec = (Map<?, ?>) definition.get("spec");
        Map<?, ?> names = (Map<?, ?>) spec.get("names");
        for (Object each : (List<?>) spec.get("versions")) {
            Map<?, ?> version = (Map<?, ?>) each;
            Map<?, ?> schema = (Map<?, ?>) ((Map<?, ?>) version.get("schema")).get("openAPIV3Schema");
            text.append("\n## ").append(names.get("kind")).append("\n\n`");
            text.append(spec.get("group"))
                    .append('/')
                    .append(version.get("name"))
                    .append("`, scope ");
            text.append(spec.get("scope"))
                    .append(", short names ")
                    .append(names.get("shortNames"))
                    .append(". ");
            text.append(description(schema)).append("\n\n| Field | Type | Description |\n| --- | --- | --- |\n");
            Map<?, ?> properties = (Map<?, ?>) schema.get("properties");
            for (String part : List.of("spec", "status")) {
                if (properties.get(part) instanceof Map<?, ?> field) {
                    field(part, field, false, text);
                }
            }
        }
    }

    private static void field(String path, Map<?, ?> schema, boolean required, StringBuilder text) {
        text.append("| `").append(path).append('`').append(required ? " *" : "").append(" | ");
        text.append(type(schema))
                .append(" | ")
                .append(CommandReference.cell(description(schema)))
                .append(" |\n");
        children(path, schema, text);
        if (schema.get("items") instanceof Map<?, ?> items) {
            children(path + "[]", items, text);
        }
        if (schema.get("additionalProperties") instanceof Map<?, ?> values) {
            children(path + "{}", values, text);
        }
    }

    private static void children(String path, Map<?, ?> schema, StringBuilder text) {
        if (schema.get("properties") instanceof Map<?, ?> properties) {
            List<?> required = schema.get("required") instanceof List<?> list ? list : List.of();
            properties.forEach(
                    (name, child) -> field(path + "." + name, (Map<?, ?>) child, required.contains(name), text));
        }
    }

    private static String type(Map<?, ?> schema) {
        if (schema.get("enum") instanceof List<?> values) {
            return String.join(
                    ", ", values.stream().map(value -> "`" + value + "`").toList());
        }
        String type = String.valueOf(schema.get("type"));
        if (schema.get("items") instanceof Map<?, ?> items) {
            return "list of " + items.get("type");
        }
        if (schema.get("additionalProperties") instanceof Map<?, ?> values) {
            return "map of " + values.get("type");
        }
        return schema.containsKey("format") ? type + " (" + schema.get("format") + ")" : type;
    }

    private static String description(Map<?, ?> schema) {
        Object description = schema.get("description");
        return description == null
                ? ""
                : description.toString().replaceAll("\\s+", " ").strip();
    }
}
