package dev.gpuwarden.aggregator.remediation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.remediation.RepairFacts.DrainStanding;
import dev.gpuwarden.aggregator.remediation.RepairFacts.Policy;
import dev.gpuwarden.core.event.RecommendedAction;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Random sequences of faults, recoveries, results, kills and changes by hand: the program and {@link RepairModel} make the same
 * resources at each step. The Node's annotations are written and read again at each step, as by a new leader.
 *
 * <p>{@code -Dgpuwarden.repair.sequences=100000} runs more, {@code -Dgpuwarden.repair.seed} others.
 */
class RepairModelTest {

    private static final int SEQUENCES = Integer.getInteger("gpuwarden.repair.sequences", 1_000);
    private static final long SEED = Long.getLong("gpuwarden.repair.seed", 1);
    private static final int STEPS = 40;

    private static final List<String> GPUS = List.of("a", "b", "c");

    @Test
    void randomSequencesLikeTheModel() {
        Map<String, Integer> made = new TreeMap<>();
        for (int i = 0; i < SEQUENCES; i++) {
            new Sequence(SEED + i).run(made);
        }
        // Without these the sequences prove little.
        assertThat(made).containsKeys("restart", "reset-a", "reset-b", "reset-c");
    }

    private static final class Sequence {
        private final long seed;
        private final Random random;
        private final RepairModel model = new RepairModel();
        private final RepairScene scene = new RepairScene();
        private final List<String> story = new ArrayList<>();
        /** The model's action of each resource. */
        private final Map<String, RepairModel.Action> actions = new HashMap<>();

        private Map<String, String> annotations = new TreeMap<>();
        private int hands;

        Sequence(long seed) {
            this.seed = seed;
            this.random = new Random(seed);
        }

        private long now() {
            return scene.now.getEpochSecond();
        }

        private static String uuid(String gpu) {
            return "GPU-" + gpu.repeat(8) + "-2051-db6c-0430-ffc457bff834";
        }

        private static String named(String text) {
            for (String gpu : GPUS) {
                text = text.replace(uuid(gpu), gpu);
            }
            return text;
        }

        void run(Map<String, Integer> made) {
            model.manual = random.nextInt(4) == 0;
            scene.policy = new Policy(
                    true,
                    model.manual,
                    RepairModel.ATTEMPTS,
                    Duration.ofSeconds(RepairModel.MEMORY),
                    Duration.ofSeconds(RepairModel.SETTLE));
            drain();
            for (int step = 0; step < STEPS; step++) {
                change();
                settle(made);
                scene.later(1 + random.nextInt(3));
            }
        }

        // ---- changes ----

        private void change() {
            switch (random.nextInt(14)) {
                case 0, 1, 2 -> fault();
                case 3 -> recover();
                case 4, 5, 6 -> end();
                case 7 -> drain();
                case 8 -> pass();
                case 9 -> delete();
                case 10 -> byHand();
                case 11 -> release();
                case 12 -> block();
                default -> approve();
            }
        }

        private void fault() {
            String gpu = GPUS.get(random.nextInt(GPUS.size()));
            String check = "check-" + random.nextInt(2);
            RecommendedAction action = List.of(
                            RecommendedAction.COMPONENT_RESET,
                            RecommendedAction.COMPONENT_RESET,
                            RecommendedAction.RESTART_BM,
                            RecommendedAction.RESTART_VM,
                            RecommendedAction.NONE,
                            RecommendedAction.CONTACT_SUPPORT,
                            RecommendedAction.REPLACE_VM)
                    .get(random.nextInt(7));
            if (model.faults.stream()
                    .anyMatch(each -> each.check().equals(check) && each.gpu().equals(gpu))) {
                return;
            }
            story.add("fault " + check + " " + gpu + " " + action);
            scene.fault(action, check, uuid(gpu));
            model.faults.add(new RepairModel.Fault(
                    check,
                    gpu,
                    switch (action) {
                        case COMPONENT_RESET -> "reset";
                        case RESTART_BM, RESTART_VM -> "restart";
                        case NONE -> "none";
                        default -> "person";
                    },
                    now()));
        }

        private void recover() {
            if (!scene.faults.isEmpty()) {
                int i = random.nextInt(scene.faults.size());
                story.add("recovers " + model.faults.get(i));
                scene.faults.remove(i);
                model.faults.remove(i);
            }
        }

        private void end() {
            List<MaintenanceResource> open = scene.resources.stream()
                    .filter(MaintenanceResource::inProgress)
                    .toList();
            if (open.isEmpty()) {
                return;
            }
            MaintenanceResource resource = open.get(random.nextInt(open.size()));
            boolean good = random.nextInt(3) > 0;
            story.add("ends " + named(resource.name()) + " " + good);
            scene.resources.replaceAll(each -> each.equals(resource) ? ended(each, good, scene.now) : each);
            RepairModel.Action action = actions.get(resource.name());
            action.state = good ? "good" : "bad";
            action.ended = now();
        }

        private static MaintenanceResource ended(MaintenanceResource of, boolean good, Instant at) {
            return new MaintenanceResource(
                    of.kind(),
                    of.name(),
                    of.node(),
                    of.nodeUid(),
                    of.gpus(),
                    List.of(),
                    of.ours(),
                    Optional.of(at),
                    good,
                    "why");
        }

        private void drain() {
            model.drainDone = random.nextInt(5) > 0;
            model.drainAll = random.nextInt(3) > 0;
            model.drainGpus = new TreeSet<>(GPUS.subList(0, random.nextInt(GPUS.size() + 1)));
            story.add("drain " + model.drainDone + " " + model.drainAll + " " + model.drainGpus);
            Set<String> gpus = new TreeSet<>();
            model.drainGpus.forEach(gpu -> gpus.add(uuid(gpu)));
            scene.drain = new DrainStanding(model.drainDone, model.drainAll, gpus);
        }

        private void pass() {
            int seconds = List.of(60, 299, 301, 3600, 24 * 3600, 8 * 24 * 3600).get(random.nextInt(6));
            story.add("passes " + seconds);
            scene.later(seconds);
        }

        private void delete() {
            if (scene.resources.isEmpty()) {
                return;
            }
            MaintenanceResource gone = scene.resources.get(random.nextInt(scene.resources.size()));
            scene.resources.remove(gone);
            story.add("deleted " + named(gone.name()));
            RepairModel.Action action = actions.get(gone.name());
            if (action.state.equals("running")) {
                action.state = "gone";
                action.ended = now();
            }
        }

        private void byHand() {
            String name = "hand-" + hands++;
            boolean reset = random.nextBoolean();
            String gpu = GPUS.get(random.nextInt(GPUS.size()));
            story.add("by hand " + name + (reset ? " reset-" + gpu : " restart"));
            if (reset) {
                scene.byHand(MaintenanceKind.GPU_RESET, name, uuid(gpu));
            } else {
                scene.byHand(MaintenanceKind.REBOOT_NODE, name);
            }
            RepairModel.Action action =
                    new RepairModel.Action(reset ? "reset-" + gpu : "restart", true, Set.of(), now(), model.session);
            model.actions.add(action);
            actions.put(name, action);
        }

        private void release() {
            story.add("released");
            scene.faults.clear();
            model.faults.clear();
            model.session++;
            model.approved = Optional.empty();
            scene.approved = "";
            annotations.remove("latestFaultRemediationState");
            annotations.remove("gpuwarden.dev/repair");
        }

        private void block() {
            model.blocked = random.nextInt(3) == 0;
            story.add("blocked " + model.blocked);
            scene.obstacle = model.blocked ? Optional.of(RepairObstacle.of("the breaker is open")) : Optional.empty();
        }

        private void approve() {
            Optional<Repair> next = scene.record.next();
            if (next.isPresent()) {
                story.add("approved " + named(next.get().group().name()));
                scene.approved = next.get().resource();
                model.approved = Optional.of(named(next.get().group().name()));
            }
        }

        // ---- a decision ----

        private void settle(Map<String, Integer> made) {
            read();
            if (random.nextInt(20) == 0) {
                // The decision is lost, as if the leader was killed before its write.
                var unused = scene.decide();
                read();
            }
            Set<String> expected = model.due(now());
            Map<String, Set<String>> wanted = model.wanted(now());
            List<Repair> create = scene.decide().create();
            write();
            if (random.nextInt(10) == 0) {
                // The record was written, and the leader was killed before it made the resource.
                story.add("killed");
                read();
                List<Repair> again = scene.decide().create();
                assertThat(again).as(this::story).containsAll(create);
                write();
            }
            Set<String> got = new TreeSet<>();
            for (Repair repair : create) {
                String group = named(repair.group().name());
                got.add(group);
                assertThat(actions).as(this::story).doesNotContainKey(repair.resource());
                scene.resources.add(new MaintenanceResource(
                        repair.group().kind(),
                        repair.resource(),
                        "n",
                        "u",
                        repair.group().gpus(),
                        List.of(),
                        true,
                        Optional.empty(),
                        false,
                        ""));
                RepairModel.Action action = new RepairModel.Action(
                        group, false, wanted.getOrDefault(group, Set.of()), now(), model.session);
                model.actions.add(action);
                actions.put(repair.resource(), action);
                if (model.approved.equals(Optional.of(group))) {
                    model.approved = Optional.empty();
                }
            }
            assertThat(got).as(this::story).isEqualTo(expected);
            assertThat(create).as(this::story).hasSameSizeAs(got);
            got.forEach(group -> made.merge(group, 1, Integer::sum));
            if (!got.isEmpty()) {
                story.add("  makes " + got);
            }
            if (!create.isEmpty() && !model.blocked) {
                // The watch has delivered the resource.
                read();
                assertThat(scene.decide().create()).as(this::story).isEmpty();
                write();
            }
        }

        private String story() {
            return "seed " + seed + "\n" + String.join("\n", story);
        }

        private CachedNode node() {
            return CachedNode.of(Map.of(
                    "metadata",
                    Map.of("name", "n", "uid", "u", "resourceVersion", "1", "annotations", Map.copyOf(annotations))));
        }

        private void read() {
            try {
                scene.record = RepairAnnotations.of(node());
            } catch (IOException e) {
                throw new AssertionError(story(), e);
            }
        }

        /** Applies the patch of the annotations like the API server. */
        private void write() {
            Map<String, String> next = new TreeMap<>(annotations);
            for (Map<String, Object> operation : RepairAnnotations.patch(node(), scene.record)) {
                String name = String.valueOf(operation.get("path"))
                        .replace("/metadata/annotations/", "")
                        .replace("~1", "/");
                switch (String.valueOf(operation.get("op"))) {
                    case "add" -> {
                        if (operation.get("value") instanceof String text) {
                            next.put(name, text);
                        }
                    }
                    case "remove" -> next.remove(name);
                    default ->
                        assertThat(operation.get("op"))
                                .as(Json.write(operation))
                                .isEqualTo("test");
                }
            }
            next.keySet().removeIf(name -> name.startsWith("/metadata"));
            annotations = next;
        }
    }
}
