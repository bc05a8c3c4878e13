package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.aggregator.objectmonitor.PlainTree;
import dev.gpuwarden.cli.UserError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/** Objects of Kubernetes in files, as people keep them and kubectl writes them. */
final class ObjectFiles {

    private ObjectFiles() {}

    /** All objects of the file, those of lists one by one. Throws {@link UserError} where it has something else. */
    static List<Map<String, Object>> read(Path file) {
        List<Map<String, Object>> objects = new ArrayList<>();
        LoadSettings settings = LoadSettings.builder().setLabel(file.toString()).build();
        try {
            for (Object document : new Load(settings).loadAllFromString(Files.readString(file))) {
                if (document instanceof Map<?, ?> map) {
                    add(PlainTree.of(map), objects);
                } else if (document != null) {
                    throw new UserError(file + ": expected objects, found " + document);
                }
            }
        } catch (IOException e) {
            throw new UserError(file + ": cannot be read: " + e);
        } catch (YamlEngineException e) {
            throw new UserError(
                    file + ": not YAML: " + String.valueOf(e.getMessage()).replaceAll("\\s*\n\\s*", " "));
        }
        return objects;
    }

    private static void add(Map<String, Object> object, List<Map<String, Object>> objects) {
        if (JsonTrees.text(object, "kind").endsWith("List") && object.get("items") instanceof List<?>) {
            JsonTrees.objects(object, "items").forEach(objects::add);
        } else {
            objects.add(object);
        }
    }
}
