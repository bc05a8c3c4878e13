package dev.gpuwarden.aggregator.remediation;

import static dev.gpuwarden.aggregator.remediation.RepairScene.GPU_A;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.remediation.RepairFacts.Policy;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.util.JsonTrees;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TemplateFileTest {

    private static final Path SHIPPED =
            Path.of("../packaging/src/main/kubernetes/components/remediation-templates/templates.yaml");

    private static final String VALID = "templates:\n" + TestTemplates.one("ticket", "CONTACT_SUPPORT");

    @TempDir
    Path folder;

    /** Returns the resource for a fault with this message. */
    private static Map<String, Object> made(RepairTemplates templates, HealthEvent cause) {
        RepairScene scene = new RepairScene();
        scene.policy = new Policy(true, false, 2, Policy.DEFAULT.memory(), Policy.DEFAULT.settle(), templates);
        Repair repair = scene.fault(cause).decide().create().get(0);
        return templates
                .of(repair.group())
                .orElseThrow()
                .body(
                        "n.example.com",
                        "u",
                        repair,
                        FaultJson.values(
                                "n.example.com", "u", repair, scene.demands().get(0)));
    }

    private static HealthEvent support(String message, Entity... entities) {
        return HealthEvent.of("a", "GPU", "Xid")
                .nodeName("n")
                .fatal(true)
                .action(RecommendedAction.CONTACT_SUPPORT)
                .message(message)
                .entities(List.of(entities))
                .build();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"}, \"x\": {\"y\": \"",
                "line\nspec:\n  node: other",
                "${node} ${fault}",
                "${node}",
                "$(SECRET) $$(X) $HOME `id`",
                "{{ .Values }} \u0000 \u2028 \ud83d\ude00 '\\",
            })
    void messageOfAStrangerChangesNoStructure(String message) throws Exception {
        Map<String, Object> made = made(TemplateFile.parse("test", VALID), support(message, Entity.gpu(GPU_A)));
        assertThat(made.keySet()).containsExactlyInAnyOrder("apiVersion", "kind", "metadata", "spec");
        Map<String, Object> spec = JsonTrees.object(made, "spec");
        assertThat(spec.keySet()).containsExactly("node", "gpus", "fault", "action", "key");
        assertThat(spec)
                .containsEntry("node", "n.example.com")
                .containsEntry("gpus", List.of(GPU_A))
                .containsEntry("action", "CONTACT_SUPPORT");
        String fault = JsonTrees.text(spec, "fault");
        assertThat(fault).doesNotContain("$");
        assertThat(Json.readObject(fault)).containsEntry("message", message).containsEntry("node", "n.example.com");
        Map<String, Object> metadata = JsonTrees.object(made, "metadata");
        assertThat(metadata).containsEntry("name", spec.get("key"));
        assertThat(JsonTrees.texts(metadata, "labels"))
                .containsEntry("team", "hardware")
                .containsEntry("app.kubernetes.io/managed-by", "gpuwarden");
    }

    @Test
    void hugeFaultIsBounded() throws Exception {
        Entity[] entities = IntStream.range(0, 1000)
                .mapToObj(i -> new Entity("\0".repeat(1000), i + "\0".repeat(10_000)))
                .toArray(Entity[]::new);
        Map<String, Object> spec = JsonTrees.object(
                made(TemplateFile.parse("test", VALID), support("\0".repeat(1 << 20), entities)), "spec");
        String fault = JsonTrees.text(spec, "fault");
        assertThat(fault.length()).isLessThan(64 << 10);
        assertThat(JsonTrees.text(Json.readObject(fault), "message"))
                .hasSize(1024)
                .endsWith("…");
    }

    @Test
    void namesOfUnknownProgramsAreNoGpus() {
        Map<String, Object> spec = JsonTrees.object(
                made(TemplateFile.parse("test", VALID), support("m", Entity.gpu("$(SECRET)"), Entity.gpu(GPU_A))),
                "spec");
        assertThat(spec).containsEntry("gpus", List.of(GPU_A));
    }

    @Test
    void nameIsALabelsValue() {
        Map<String, Object> metadata =
                JsonTrees.object(made(TemplateFile.parse("test", VALID), support("m")), "metadata");
        assertThat(TemplateFile.parse("test", VALID)
                        .all()
                        .get(0)
                        .group(false, java.util.Set.of())
                        .orElseThrow()
                        .resource("ip-10-0-0-1.eu-central-1.compute.internal." + "x".repeat(200), "u", "f", 1))
                .hasSize(63)
                .matches("[a-z0-9-]+");
        assertThat(JsonTrees.text(metadata, "name")).startsWith("maintenance-n-");
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({
        "Resolved=True, true, ",
        "Rejected=True, false, no answer",
        "Resolved=False, , ",
        "Other=True, , ",
        "Resolved=True Rejected=True, false, no answer",
    })
    void conditionThatIsTrueEndsTheResource(String conditions, Boolean succeeded, String why) {
        RepairTemplates templates = TemplateFile.parse("test", VALID);
        Map<String, Object> made = made(templates, support("m"));
        List<Map<String, Object>> all = List.of(conditions.split(" ")).stream()
                .map(each -> each.split("="))
                .map(each -> Map.<String, Object>of(
                        "type", each[0], "status", each[1], "message", "no answer", "lastTransitionTime", "wrong"))
                .toList();
        made.put("status", Map.of("conditions", all));
        MaintenanceResource seen = templates.all().get(0).read(made).orElseThrow();
        assertThat(seen.inProgress()).isEqualTo(succeeded == null);
        assertThat(seen.succeeded()).isEqualTo(Boolean.TRUE.equals(succeeded));
        assertThat(seen.why()).isEqualTo(why == null ? "" : why);
        assertThat(seen.isFor("n.example.com", "u")).isTrue();
        assertThat(TemplateFile.parse("test", VALID.replace("name: ticket", "name: other"))
                        .all()
                        .get(0)
                        .read(made))
                .as("a resource of another template")
                .isEmpty();
    }

    @Test
    void examplesAreRead() throws Exception {
        RepairTemplates shipped = TemplateFile.read(SHIPPED);
        assertThat(shipped.all().stream().map(RepairTemplate::name)).containsExactly("vendor-ticket");
        assertThat(shipped.all().get(0).complete()).isEqualTo("Complete");
        assertThat(shipped.all().get(0).failed()).isEqualTo("Failed");
        assertThat(shipped.rights().stream().map(Object::toString))
                .contains("create jobs.batch in gpuwarden", "watch jobs.batch in gpuwarden");
        String page = Files.readString(Path.of("../docs/operating/repair.md"));
        String example = page.substring(page.indexOf("```yaml\ntemplates:") + "```yaml\n".length());
        assertThat(TemplateFile.parse("repair.md", example.substring(0, example.indexOf("```"))).rights().stream()
                        .map(Object::toString))
                .contains("watch fabricrepairs.vendor.example.com");
    }

    @ParameterizedTest(name = "{0} -> {1}: {2}")
    @CsvSource(
            delimiter = '|',
            value = {
                "CONTACT_SUPPORT | CONTACT | test: templates.0.actions: expected one of COMPONENT_RESET, CONTACT_SUPPORT,",
                "CONTACT_SUPPORT | NONE | test: templates.0.actions: expected one of",
                "CONTACT_SUPPORT | '\"CUSTOM:\"' | or CUSTOM:NAME, found \"[CUSTOM:]\"",
                "CONTACT_SUPPORT | RESTART_BM | expected both of [RESTART_VM, RESTART_BM] with drain: all",
                "name: ticket | name: Ticket | templates.0.name: expected a text as",
                "name: ticket | name: restart | templates.0.name: expected a name that does not begin as those",
                "complete: Resolved | unknown: 1 | expected the keys [actions, after, complete,",
                "complete: Resolved | drain: gpu | templates.0.complete: expected a text as",
                "complete: Resolved | complete: Resolved\\n    drain: some | templates.0.drain: expected one of [all, gpu, none], found \"some\"",
                "apiVersion: example.com/v1 | apiVersion: ../v1 | templates.0.object.apiVersion: expected",
                "labels: | name: | templates.0.object.metadata: expected the keys [annotations, labels, namespace], found \"name\"",
                "${node} | node-${node} | object.spec.node: expected ${node} as the whole text, found it as a part",
                "${node} | ${nodes} | object.spec.node: expected one of ${action}, ${fault}, ${gpus},",
                "kind: Ticket | kind: &a [*a] | expected at most 32 levels",
                "templates: | template: | test: expected the key templates with a list",
                "'actions: [' | 'actions: [[' | test: not YAML: ",
            })
    void mistakeIsNamed(String valid, String wrong, String error) {
        assertThat(VALID).contains(valid);
        assertThatThrownBy(() -> TemplateFile.parse("test", VALID.replace(valid, wrong.replace("\\n", "\n"))))
                .isInstanceOf(UserError.class)
                .hasMessageContaining(error);
    }

    @Test
    void sizeIsBounded() throws Exception {
        Path file = Files.writeString(folder.resolve("templates.yaml"), VALID + "#" + "x".repeat(256 << 10));
        assertThatThrownBy(() -> TemplateFile.read(file)).hasMessageContaining("expected at most 262144 bytes");
        String many = IntStream.range(0, 17)
                .mapToObj(i -> TestTemplates.one("t" + i, "CUSTOM:" + i))
                .collect(Collectors.joining("", "templates:\n", ""));
        assertThatThrownBy(() -> TemplateFile.parse("test", many)).hasMessageContaining("expected 1 to 16 templates");
        String twice = VALID + TestTemplates.one("other", "REPLACE_VM, CONTACT_SUPPORT");
        assertThatThrownBy(() -> TemplateFile.parse("test", twice))
                .hasMessageContaining("found CONTACT_SUPPORT also in test: templates.0");
        String endless = VALID.replace("{labels: {team: hardware}}", "{labels: &a {team: *a}}");
        assertThatThrownBy(() -> TemplateFile.parse("test", endless)).hasMessageContaining("at most 32 levels");
        assertThatThrownBy(() -> TemplateFile.read(folder.resolve("none"))).hasMessageContaining("cannot be read");
    }
}
