package dev.gpuwarden.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.testkit.cluster.ApiAudit.Right;
import dev.gpuwarden.testkit.cluster.RightsTable;
import dev.gpuwarden.testkit.cluster.RightsTable.Row;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** Compares {@link RightsTable} with the shipped roles, and with the tests whose requests prove that the program uses them. */
class GrantedRightsTest {

    private static final Path REPOSITORY = Path.of(System.getProperty("gpuwarden.repository"));
    private static final Path MANIFESTS = REPOSITORY.resolve("packaging/src/main/kubernetes");
    private static final List<String> MODULES = List.of("aggregator", "daemon");

    @Test
    void theTableHasEachRightThatARoleGrantsAndNoOther() throws IOException {
        assertThat(RightsTable.read(REPOSITORY).stream().map(GrantedRightsTest::text))
                .containsExactlyInAnyOrderElementsOf(granted());
    }

    @Test
    void eachTestOfTheTableComparesItsRightsWithTheRequests() throws IOException {
        Set<String> sources = new TreeSet<>();
        for (String module : MODULES) {
            try (Stream<Path> files = Files.walk(REPOSITORY.resolve(module).resolve("src/test/java"))) {
                for (Path file : files.filter(one -> one.toString().endsWith("Test.java"))
                        .toList()) {
                    if (Files.readString(file).contains("@ExtendWith(UsedRights.class)")) {
                        sources.add(file.getFileName().toString().replace(".java", ""));
                    }
                }
            }
        }
        Set<String> named =
                RightsTable.read(REPOSITORY).stream().map(Row::test).collect(Collectors.toCollection(TreeSet::new));
        assertThat(sources).isEqualTo(named);
    }

    private static String text(Row row) {
        return row.manifest() + " " + row.right();
    }

    /** Returns a text for each right of each role, like {@link #text}. */
    private static List<String> granted() throws IOException {
        List<String> all = new ArrayList<>();
        try (Stream<Path> files = Files.walk(MANIFESTS)) {
            for (Path file :
                    files.filter(one -> one.toString().endsWith(".yaml")).toList()) {
                String manifest = MANIFESTS.relativize(file).toString();
                List<Map<?, ?>> objects = objects(file);
                for (Map<?, ?> role : objects) {
                    if (String.valueOf(role.get("kind")).endsWith("Role")) {
                        rights(role, account(role, objects)).forEach(right -> all.add(manifest + " " + right));
                    }
                }
            }
        }
        return all;
    }

    private static List<Map<?, ?>> objects(Path file) throws IOException {
        List<Map<?, ?>> objects = new ArrayList<>();
        for (Object object : new Load(LoadSettings.builder().build()).loadAllFromString(Files.readString(file))) {
            if (object instanceof Map<?, ?> map) {
                objects.add(map);
            }
        }
        return objects;
    }

    private static List<Right> rights(Map<?, ?> role, String account) {
        String namespace = text(map(role.get("metadata")).get("namespace"));
        List<Right> rights = new ArrayList<>();
        for (Object rule : list(role.get("rules"))) {
            Map<?, ?> of = map(rule);
            List<?> names = of.containsKey("resourceNames") ? list(of.get("resourceNames")) : List.of("");
            for (Object group : list(of.get("apiGroups"))) {
                for (Object resource : list(of.get("resources"))) {
                    String kind = group.equals("") ? text(resource) : resource + "." + group;
                    for (Object verb : list(of.get("verbs"))) {
                        names.forEach(name -> rights.add(new Right(account, namespace, text(verb), kind, text(name))));
                    }
                }
            }
        }
        return rights;
    }

    /** Returns the service account to which a role is bound in the same file. */
    private static String account(Map<?, ?> role, List<Map<?, ?>> objects) {
        Map<?, ?> of = map(role.get("metadata"));
        return objects.stream()
                .filter(binding -> binding.get("kind").equals(role.get("kind") + "Binding"))
                .filter(binding -> map(binding.get("roleRef")).get("name").equals(of.get("name")))
                .filter(binding ->
                        text(map(binding.get("metadata")).get("namespace")).equals(text(of.get("namespace"))))
                .map(binding -> text(map(list(binding.get("subjects")).get(0)).get("name")))
                .findFirst()
                .orElse("nothing");
    }

    private static String text(@Nullable Object value) {
        return value == null ? "" : value.toString();
    }

    private static Map<?, ?> map(@Nullable Object value) {
        return (Map<?, ?>) value;
    }

    private static List<?> list(@Nullable Object value) {
        return (List<?>) value;
    }
}
