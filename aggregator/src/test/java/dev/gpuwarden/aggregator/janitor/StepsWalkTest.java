package dev.gpuwarden.aggregator.janitor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.janitor.JanitorSettings.RebootProvider;
import dev.gpuwarden.aggregator.janitor.JanitorWorld.Job;
import dev.gpuwarden.aggregator.janitor.JanitorWorld.Resource;
import dev.gpuwarden.aggregator.janitor.NodeProvider.Answer;
import dev.gpuwarden.aggregator.janitor.Scene.Written;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.maintenance.Stage;
import dev.gpuwarden.aggregator.maintenance.Stage.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random walks of the janitor on one node: operators, kubelet, the Job controller and the GPU Operator act between its writes, leaders
 * are replaced, and a write of a replaced leader arrives late. The number of walks: {@code -Dgpuwarden.janitor.walks}.
 */
class StepsWalkTest {

    private static final int WALKS = Integer.getInteger("gpuwarden.janitor.walks", 1200);
    private static final int TURNS = 100;
    private static final RebootProvider[] WAYS = {
        RebootProvider.JOB, RebootProvider.JOB, RebootProvider.COMMAND, RebootProvider.PROVIDER
    };
    private static final String PAUSED = "paused-for-gpu-reset";

    /** A write that its leader has decided, and not made. */
    private record Late(Resource resource, Step step, long version) {}

    private static final class Walk {
        private final Random random;
        private final JanitorWorld world;
        /** The resources whose request the provider carries out later. */
        private final List<Resource> requested = new ArrayList<>();

        private final List<String> history = new ArrayList<>();
        private final List<Late> late = new ArrayList<>();
        /** Each resource as the watch has delivered it last. */
        private final Map<Resource, Maintenance> delivered = new HashMap<>();
        /** True once an operator has done what no janitor can keep apart: removed the lock, or relabelled the node. */
        private boolean meddled;

        /** The turns for each act of an operator or a failure, from twelve to four hundred for all of them. */
        private final int rareness;

        Walk(long seed) {
            random = new Random(seed * 0x9E3779B97F4A7C15L);
            rareness = 12 << random.nextInt(6);
            RebootProvider way = WAYS[random.nextInt(WAYS.length)];
            world = way == RebootProvider.PROVIDER ? new JanitorWorld(this::asked) : new JanitorWorld(way);
            for (String service : ResetSteps.SERVICES) {
                if (random.nextInt(3) > 0) {
                    world.labels.put(service, "true");
                    world.podReady.put(service, true);
                }
            }
            MaintenanceKind[] kinds = {
                MaintenanceKind.GPU_RESET,
                MaintenanceKind.REBOOT_NODE,
                way == RebootProvider.JOB ? MaintenanceKind.GPU_RESET : MaintenanceKind.TERMINATE_NODE
            };
            for (int i = 0; i <= random.nextInt(3); i++) {
                world.add(kinds[random.nextInt(3)]);
            }
        }

        /** The provider accepts, refuses, or gives no answer; then it may have acted. The janitor may be killed before the answer. */
        private Optional<Answer> asked(Resource resource) {
            resource.starts++;
            begins(resource);
            int way = random.nextInt(6);
            history.add("the provider is asked for " + resource.uid + ", way " + way);
            if (way < 4) {
                requested.add(resource);
            }
            return switch (way) {
                case 0, 1 -> Optional.of(new Answer.Accepted("id"));
                case 2, 5 -> Optional.of(new Answer.Unknown("no answer"));
                case 3 -> Optional.empty();
                default -> Optional.of(new Answer.Refused("no"));
            };
        }

        private void provide() {
            if (!requested.isEmpty()) {
                Resource resource = requested.remove(0);
                act("the provider acts for " + resource.uid, () -> {
                    world.node &= resource.kind != MaintenanceKind.TERMINATE_NODE;
                    world.bootId = "boot-of-" + resource.uid;
                    world.ready = true;
                });
            }
        }

        void run() {
            for (int turn = 0; turn < TURNS; turn++) {
                outside();
                Resource resource = world.resources.get(random.nextInt(world.resources.size()));
                if (!resource.gone) {
                    janitor(resource);
                }
                if (!late.isEmpty() && random.nextInt(4) == 0) {
                    write(late.remove(random.nextInt(late.size())));
                }
            }
            late.forEach(this::write);
            late.clear();
            calm();
        }

        /** Nothing acts from outside but what the node's own programs do: all must come to its end. */
        private void calm() {
            for (int turn = 0; turn < 120; turn++) {
                operate();
                provide();
                for (Resource resource : world.resources) {
                    resource.job.filter(Job::runs).ifPresent(job -> end(resource, job, true));
                    if (!resource.gone) {
                        janitor(resource);
                    }
                }
                late.forEach(this::write);
                late.clear();
                world.now = world.now.plus(Duration.ofMinutes(2));
            }
            for (Resource resource : world.resources) {
                assertThat(resource.gone || resource.ended())
                        .as(() -> "an end of " + resource.uid + show())
                        .isTrue();
                assertThat(resource.gone || resource.finalizers.isEmpty())
                        .as(() -> "finalizer" + show())
                        .isTrue();
                assertThat(resource.job.filter(Job::runs))
                        .as(() -> "a running Job" + show())
                        .isEmpty();
                assertThat(resource.starts)
                        .as(() -> "actions of " + resource.uid + show())
                        .isLessThanOrEqualTo(1);
                if (resource.ended()) {
                    stagesAreSettled(resource);
                }
            }
            // The lock of a resource that was removed by force is the API server's to collect, if no other resource
            // needs it.
            assertThat(world.holder().filter(holder -> !holder.gone))
                    .as(() -> "lock" + show())
                    .isEmpty();
            if (world.node && !meddled) {
                assertThat(world.labels.values()).as(() -> "services" + show()).doesNotContain(PAUSED);
            }
        }

        private void stagesAreSettled(Resource resource) {
            boolean failed = "Failed".equals(resource.status.get("phase"));
            List<Stage> stages = resource.shown().stages();
            assertThat(stages)
                    .as(() -> "stages of " + resource.uid + ": " + stages + show())
                    .extracting(Stage::state)
                    .doesNotContain(State.IN_PROGRESS, State.WAITING, State.NOT_YET, State.UNKNOWN);
            assertThat(stages.stream()
                            .anyMatch(stage -> stage.state() == State.FAILED
                                    && !stage.why().isEmpty()))
                    .as(() -> "a stage with the failure of " + resource.uid + ": " + stages + show())
                    .isEqualTo(failed);
        }

        private void janitor(Resource resource) {
            Maintenance known = delivered.computeIfAbsent(resource, Resource::read);
            if (random.nextInt(3) > 0) {
                delivered.put(resource, resource.read());
            }
            Scene begin = world.scene(resource, known, false);
            Step first = Steps.next(begin);
            if (first.testsVersion() && !(first instanceof Step.Wait)) {
                boolean refused = !known.version().equals(resource.read().version());
                decided(resource, begin, first);
                if (!refused || resource.gone) {
                    return;
                }
            }
            Scene scene = world.scene(resource, false);
            Step step = Steps.next(scene);
            if (step instanceof Step.ReadPods) {
                step = Steps.next(world.scene(resource, true));
            }
            decided(resource, scene, step);
        }

        private void decided(Resource resource, Scene scene, Step step) {
            if (step instanceof Step.Wait || step instanceof Step.Leave || step instanceof Step.ReadPods) {
                return;
            }
            boolean old = !scene.resource().version().equals(resource.read().version());
            if (step instanceof Step.StartJob || step instanceof Step.Request && !old) {
                assertThat(resource.read().cancelled())
                        .as(() -> "a cancelled action begins" + show())
                        .isFalse();
                assertThat(world.node
                                && world.cordoned
                                && world.nodeUid.equals(
                                        resource.read().progress().nodeUid()))
                        .as(() -> "an action on another node, or one in service" + show())
                        .isTrue();
            }
            Late decided =
                    new Late(resource, step, Long.parseLong(scene.resource().version()));
            if (random.nextInt(12) == 0) {
                history.add("late: " + step.getClass().getSimpleName() + " of " + resource.uid);
                late.add(decided);
            } else {
                Written written = write(decided);
                if (!resource.gone && random.nextInt(4) > 0) {
                    booked(resource, scene, written);
                }
            }
        }

        /** The steps that follow from an answer, while others act. */
        private void booked(Resource resource, Scene scene, Written written) {
            boolean others = random.nextInt(3) == 0;
            if (others) {
                outside();
            }
            if (!resource.gone) {
                scene.after(written, world.ahead(resource), world.now)
                        .flatMap(next -> read(next, others))
                        .ifPresent(next -> decided(resource, next, Steps.next(next)));
            }
        }

        /**
         * Returns the facts for the step after an answer; empty if the next turn reads them. An act of others in the milliseconds
         * between the answer, the read of the Node and the start of a Job is as late as after any read.
         */
        private Optional<Scene> read(Scene answered, boolean others) {
            return switch (Steps.next(answered).reads()) {
                case NOTHING -> Optional.of(answered);
                case NODE ->
                    Optional.of(answered.with(world.nodeFacts()))
                            .filter(now -> !others && Steps.next(now).reads() != Step.Reads.ALL);
                case ALL -> Optional.empty();
            };
        }

        private Written write(Late decided) {
            history.add(decided.step().getClass().getSimpleName() + " of " + decided.resource().uid);
            boolean ranBefore = decided.resource().job.filter(Job::runs).isPresent();
            // Nothing on an unchanged Node shows that its resource has ended. The next reset restores such labels.
            meddled |= decided.step() instanceof Step.SetLabels
                    && decided.resource().ended();
            Written written = world.write(decided.resource(), decided.step(), decided.version());
            boolean runs = decided.resource().job.filter(Job::runs).isPresent();
            if (runs && !ranBefore) {
                begins(decided.resource());
            }
            return written;
        }

        /** An action begins: no other runs on the node, and its resource has not ended. */
        private void begins(Resource resource) {
            assertThat(resource.ended())
                    .as(() -> "an action after its end: " + resource.uid + show())
                    .isFalse();
            if (!meddled) {
                assertThat(world.holder()).as(() -> "the lock" + show()).contains(resource);
            }
            if (!meddled && resource.job.isPresent()) {
                assertThat(world.resources.stream()
                                .filter(each -> each.job.filter(Job::runs).isPresent()))
                        .as(() -> "actions on the node" + show())
                        .containsExactly(resource);
            }
            // A start that is late for a Node that was created again finds the services of the new one.
            boolean sameNode = world.nodeUid.equals(resource.read().progress().nodeUid());
            if (resource.kind == MaintenanceKind.GPU_RESET && !meddled && sameNode) {
                assertThat(world.podReady.keySet())
                        .as(() -> "services during a reset" + show())
                        .isEmpty();
            }
        }

        private void outside() {
            Resource resource = world.resources.get(random.nextInt(world.resources.size()));
            if (random.nextInt(8) == 0) {
                resource.job.filter(Job::runs).ifPresent(job -> end(resource, job, random.nextInt(3) > 0));
            }
            if (random.nextInt(6) == 0) {
                operate();
            }
            if (random.nextInt(8) == 0) {
                provide();
            }
            world.now = world.now.plusSeconds(1);
            switch (random.nextInt(rareness)) {
                case 0 -> act("deletes " + resource.uid, () -> world.delete(resource));
                case 1 -> act("changes " + resource.uid, () -> world.changeSpec(resource));
                case 2 -> act("uncordons", () -> cordon(false));
                case 3 -> act("cordons", () -> cordon(true));
                case 4 -> act("recreates the node", this::recreate);
                case 5 -> act("reboots", () -> world.bootId = "boot-" + random.nextInt(1000));
                case 6 -> act("stops the node", () -> world.ready = !world.ready);
                case 7 -> act("time passes", () -> world.now = world.now.plus(Duration.ofMinutes(random.nextInt(40))));
                case 8 -> act("deletes the job of " + resource.uid, () -> resource.job = Optional.empty());
                case 9 ->
                    act("removes the lock", () -> {
                        meddled |= world.isLocked();
                        world.unlock();
                    });
                case 10 -> act("deletes the node", () -> world.node = false);
                case 11 ->
                    act("removes the finalizer of " + resource.uid, () -> {
                        meddled |= resource.deleted;
                        world.force(resource);
                    });
                default -> {}
            }
        }

        private void cordon(boolean cordoned) {
            world.cordoned = cordoned;
            world.nodeVersion++;
        }

        private void recreate() {
            world.node = true;
            world.nodeUid = "node-uid-" + random.nextInt(1000);
            world.nodeVersion += 1000;
            world.labels.replaceAll((label, value) -> "true");
        }

        private void act(String what, Runnable act) {
            history.add(what);
            act.run();
        }

        private void end(Resource resource, Job job, boolean success) {
            history.add("job of " + resource.uid + (success ? " succeeds" : " fails"));
            job.succeeded = Optional.of(success);
            if (success && resource.kind == MaintenanceKind.TERMINATE_NODE) {
                world.node = false;
            }
            if (success && resource.kind == MaintenanceKind.REBOOT_NODE) {
                world.bootId = "boot-of-" + job.uid;
                world.ready = true;
            }
        }

        /** The GPU Operator follows the labels, one service at a time. */
        private void operate() {
            for (String service : ResetSteps.SERVICES) {
                if ("true".equals(world.labels.get(service))) {
                    world.podReady.put(service, true);
                } else {
                    world.podReady.remove(service);
                }
            }
        }

        private String show() {
            return "\n" + String.join("\n", history);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void everyWalkEndsWithOneActionAtATimeAndNothingLeftBehind(int quarter) {
        for (int walk = quarter; walk < WALKS; walk += 4) {
            new Walk(walk + 1L).run();
        }
    }
}
