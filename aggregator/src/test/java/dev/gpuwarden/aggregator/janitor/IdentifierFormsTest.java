package dev.gpuwarden.aggregator.janitor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.janitor.Acceptance.Verdict;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.core.node.ReportedGpus;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.SortedSet;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Random nodes, pods and resources, in which each writer spells UUIDs in a way of its own: the check gives the verdict that it
 * gives for one spelling.
 *
 * <p>{@code -Dgpuwarden.identifiers.decisions=100000} tries more, {@code -Dgpuwarden.identifiers.seed} others.
 */
class IdentifierFormsTest {

    private static final int DECISIONS = Integer.getInteger("gpuwarden.identifiers.decisions", 2_000);
    private static final long SEED = Long.getLong("gpuwarden.identifiers.seed", 1);

    private final Random random = new Random(SEED);

    private interface Spelling {
        String of(String uuid);
    }

    private static String uuid(int gpu) {
        return "GPU-" + "abcdef".charAt(gpu) + "199171b-fb75-a4c1-93a6-b4bb93aaf91c";
    }

    private String anyCase(String uuid) {
        StringBuilder text = new StringBuilder();
        for (char c : uuid.toCharArray()) {
            text.append(random.nextBoolean() ? Character.toUpperCase(c) : Character.toLowerCase(c));
        }
        return " ".repeat(random.nextInt(2)) + text + " ".repeat(random.nextInt(2));
    }

    /** The choices of one case. */
    private record Choice(
            List<Integer> asked, List<Integer> listed, int linked, int holder, String share, int ahead, boolean whole) {

        static Choice of(Random random) {
            return new Choice(
                    random.ints(1 + random.nextInt(2), 0, 4).distinct().boxed().toList(),
                    random.ints(random.nextInt(5), 0, 4).distinct().boxed().toList(),
                    random.nextInt(3),
                    random.nextInt(6),
                    List.of("", "::2", "/3/0").get(random.nextInt(3)),
                    random.nextInt(6),
                    random.nextInt(4) > 0);
        }
    }

    private static Map<String, Object> reset(String name, List<Integer> gpus, Spelling spelling) throws IOException {
        return Json.readObject("""
                {"metadata": {"name": "%s", "uid": "%s", "generation": 1},
                "spec": {"nodeName": "node-1", "selector": {"uuids": [%s]}}}
                """.formatted(
                        name,
                        name,
                        String.join(
                                ", ",
                                gpus.stream()
                                        .map(gpu -> "\"" + spelling.of(uuid(gpu)) + "\"")
                                        .toList())));
    }

    private static Scene.NodePod pod(String device) throws IOException {
        return Scene.NodePod.of(Json.readObject("""
                {"metadata": {"name": "pod", "namespace": "team", "uid": "p"},
                "spec": {"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]},
                "status": {"phase": "Running", "containerStatuses": [{"name": "main", "allocatedResourcesStatus":
                [{"name": "nvidia.com/gpu", "resources": [{"resourceID": "%s"}]}]}]}}
                """.formatted(device)));
    }

    private static ReportedGpus gpus(Choice choice, Spelling spelling) {
        List<ReportedGpus.Gpu> all = choice.listed().stream()
                .map(gpu -> {
                    SortedSet<String> with = new TreeSet<>();
                    if (gpu < choice.linked()) {
                        choice.listed().stream()
                                .filter(other -> other < choice.linked() && !other.equals(gpu))
                                .forEach(other -> with.add(spelling.of(uuid(other))));
                    }
                    return new ReportedGpus.Gpu(
                            gpu, Optional.empty(), Optional.of(spelling.of(uuid(gpu))), Optional.of(with));
                })
                .toList();
        return new ReportedGpus(all, java.util.OptionalLong.of(choice.whole() ? 0 : 1));
    }

    private static Verdict verdict(Choice choice, Spelling spelling) throws IOException {
        JanitorWorld world = new JanitorWorld();
        world.gpus = gpus(choice, spelling);
        Scene facts = world.scene(world.add(MaintenanceKind.GPU_RESET), false);
        List<Maintenance> ahead = choice.ahead() > 3
                ? List.of()
                : List.of(Maintenance.of(MaintenanceKind.GPU_RESET, reset("ahead", List.of(choice.ahead()), spelling)));
        return Acceptance.of(new Scene(
                Maintenance.of(MaintenanceKind.GPU_RESET, reset("r", choice.asked(), spelling)),
                facts.node(),
                facts.lock(),
                Optional.empty(),
                Optional.of(
                        choice.holder() > 3
                                ? List.of()
                                : List.of(pod(spelling.of(uuid(choice.holder())).strip() + choice.share()))),
                ahead,
                world.gpus,
                facts.settings(),
                facts.now(),
                facts.source()));
    }

    @Test
    void eachSpellingGetsTheSameVerdict() throws Exception {
        int refused = 0;
        for (int i = 0; i < DECISIONS; i++) {
            Choice choice = Choice.of(random);
            Verdict expected = verdict(choice, uuid -> uuid);
            assertThat(verdict(choice, this::anyCase)).as(choice::toString).isEqualTo(expected);
            refused += expected instanceof Verdict.Refused ? 1 : 0;
        }
        assertThat(refused).isBetween(DECISIONS / 10, DECISIONS - DECISIONS / 20);
    }
}
