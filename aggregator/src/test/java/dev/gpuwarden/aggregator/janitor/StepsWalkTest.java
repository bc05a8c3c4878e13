package dev.gpuwarden.aggregator.janitor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.ServerClock;
import dev.gpuwarden.aggregator.janitor.Scene.Written;
import dev.gpuwarden.aggregator.janitor.WorldResource.Job;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.maintenance.Stage;
import dev.gpuwarden.aggregator.maintenance.Stage.State;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
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

    private static final int WALKS = Integer.getInteger("gpuwarden.janitor.walks", 300);
    private static final int TURNS = 100;
    private static final String PAUSED = "paused-for-gpu-reset";

    /** A write that its leader has decided, and not made. */
    private record Late(WorldResource resource, Step step, long version, Instant at) {}

    private static final class Walk {
        private final OtherActors others;
        private final Random random;
        private final JanitorWorld world;
        private final List<Late> late = new ArrayList<>();
        /** Each resource as the watch has delivered it last. */
        private final Map<WorldResource, Maintenance> delivered = new HashMap<>();

        /** The clock of the replica that leads, and its error. */
        private Duration skew = Duration.ZERO;

        private ServerClock clock = clock();

        Walk(long seed) {
            others = new OtherActors(seed, this::begins);
            random = others.random;
            world = others.world;
            world.time = () -> {
                Instant own = world.now.plus(skew);
                clock.answered(own, own, world.now.truncatedTo(ChronoUnit.SECONDS));
                return clock.instant();
            };
        }

        private ServerClock clock() {
            return new ServerClock(new Clock() {
                @Override
                public Instant instant() {
                    return world.now.plus(skew);
                }

                @Override
                public ZoneId getZone() {
                    return ZoneOffset.UTC;
                }

                @Override
                public Clock withZone(ZoneId zone) {
                    return this;
                }
            });
        }

        /** Another replica leads, whose clock is up to ten minutes away. */
        private void succeed() {
            skew = Duration.ofSeconds(random.nextInt(1_200) - 600L);
            clock = clock();
            others.history.add("a replica leads whose clock is " + skew.toSeconds() + " s ahead");
        }

        void run() {
            for (int turn = 0; turn < TURNS; turn++) {
                others.act();
                if (random.nextInt(10) == 0) {
                    succeed();
                }
                WorldResource resource = world.resources.get(random.nextInt(world.resources.size()));
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
            for (int turn = 0; turn < 120 && !isSettled(); turn++) {
                others.returnLock();
                others.returnResources();
                others.operate();
                others.provide();
                for (WorldResource resource : world.resources) {
                    resource.job.filter(Job::runs).ifPresent(job -> others.end(resource, job, true));
                    if (!resource.gone) {
                        janitor(resource);
                    }
                }
                late.forEach(this::write);
                late.clear();
                world.now = world.now.plus(Duration.ofMinutes(2));
            }
            for (WorldResource resource : world.resources) {
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
                        .as(() -> "starts of " + resource.uid + show())
                        .isLessThanOrEqualTo(1);
                assertThat(resource.acts)
                        .as(() -> "actions of " + resource.uid + show())
                        .isLessThanOrEqualTo(1);
                if (resource.ended() && !resource.shared && !resource.pruned) {
                    stagesAreSettled(resource);
                }
            }
            // The lock of a resource that was removed by force is the API server's to collect, if no other resource
            // needs it.
            assertThat(world.holder().filter(holder -> !holder.gone))
                    .as(() -> "lock" + show())
                    .isEmpty();
            if (world.node && !others.meddled) {
                assertThat(world.labels.values()).as(() -> "services" + show()).doesNotContain(PAUSED);
            }
        }

        private boolean isSettled() {
            return late.isEmpty()
                    && world.holder().isEmpty()
                    && world.resources.stream()
                            .allMatch(each -> each.job.filter(Job::runs).isEmpty()
                                    && (each.gone || each.ended() && each.finalizers.isEmpty()));
        }

        private void stagesAreSettled(WorldResource resource) {
            boolean failed = !resource.read().progress().isTrue(resource.kind.doneCondition());
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

        private void janitor(WorldResource resource) {
            Maintenance known = delivered.computeIfAbsent(resource, WorldResource::read);
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

        private void decided(WorldResource resource, Scene scene, Step step) {
            if (step instanceof Step.Wait || step instanceof Step.Leave || step instanceof Step.ReadPods) {
                return;
            }
            boolean old = !scene.resource().version().equals(resource.read().version());
            notBeforeItsTime(resource, step);
            boolean stops = step instanceof Step.SetLabels labels
                    && labels.labels().stream().anyMatch(each -> each.after().equals(PAUSED));
            if (step instanceof Step.StartJob || stops || step instanceof Step.Request && !old) {
                assertThat(resource.read().foreign())
                        .as(() -> "an action that another janitor has begun" + show())
                        .isEmpty();
                assertThat(resource.read().cancelled())
                        .as(() -> "a cancelled action begins" + show())
                        .isFalse();
                assertThat(world.isUpgraded() && resource.kind != MaintenanceKind.TERMINATE_NODE)
                        .as(() -> "an action in an upgrade of the driver" + show())
                        .isFalse();
                assertThat(world.node
                                && world.cordoned
                                && world.nodeUid.equals(
                                        resource.read().progress().nodeUid()))
                        .as(() -> "an action on another node, or one in service" + show())
                        .isTrue();
                assertThat(world.holder())
                        .as(() -> "an action without the lock" + show())
                        .contains(resource);
                assertThat(world.tenants)
                        .as(() -> "an action under pods" + show())
                        .isZero();
            }
            Late decided =
                    new Late(resource, step, Long.parseLong(scene.resource().version()), world.now);
            if (random.nextInt(12) == 0) {
                others.history.add("late: " + step.getClass().getSimpleName() + " of " + resource.uid);
                late.add(decided);
            } else {
                Written written = write(decided);
                if (!resource.gone && random.nextInt(4) > 0) {
                    booked(resource, scene, written);
                }
            }
        }

        /** A limit ends no action before its time has passed by the API server's clock, whichever replica leads. */
        private void notBeforeItsTime(WorldResource resource, Step step) {
            if (step instanceof Step.SetStatus status) {
                String tree = status.change().tree().toString();
                Instant began = resource.job.map(job -> job.startedAt).orElse(resource.begun);
                if (tree.contains("=ServiceTeardownTimeoutExceeded")
                        && resource.read()
                                .progress()
                                .condition("ServicesRestored")
                                .isEmpty()) {
                    notBefore(resource.begun, world.settings.times().teardown());
                } else if (tree.contains("reason=ResetJobTimeout")
                        && resource.read()
                                .progress()
                                .condition("ResetJobCompleted")
                                .isEmpty()) {
                    notBefore(began, world.settings.times().job());
                } else if (tree.contains("reason=Timeout") && resource.kind == MaintenanceKind.REBOOT_NODE) {
                    notBefore(began, world.settings.times().reboot());
                }
            }
        }

        private void notBefore(Instant began, Duration limit) {
            assertThat(world.now.plusSeconds(2))
                    .as(() -> "an end after less than " + limit + show())
                    .isAfterOrEqualTo(began.plus(limit));
        }

        /** The steps that follow from an answer, while others act. */
        private void booked(WorldResource resource, Scene scene, Written written) {
            if (random.nextInt(3) == 0) {
                others.act();
            }
            if (!resource.gone) {
                scene.after(written, world.ahead(resource), world.time.get())
                        .flatMap(Walk::read)
                        .ifPresent(next -> decided(resource, next, Steps.next(next)));
            }
        }

        /** Returns the facts for the step after an answer; empty if the next turn reads them. */
        private static Optional<Scene> read(Scene answered) {
            return Steps.next(answered).readsAll() ? Optional.empty() : Optional.of(answered);
        }

        private Written write(Late decided) {
            others.history.add(decided.step().getClass().getSimpleName() + " of " + decided.resource().uid);
            // Nothing on an unchanged Node shows that its resource has ended. The next reset restores such labels.
            others.meddled |= decided.step() instanceof Step.SetLabels
                    && decided.resource().ended();
            if (decided.step() instanceof Step.SetStatus status
                    && status.change().begins()
                    && decided.version() == decided.resource().version) {
                decided.resource().begun = decided.at();
            }
            return world.write(decided.resource(), decided.step(), decided.version());
        }

        /** An action begins: no other runs on the node, and its resource has not ended. */
        private void begins(WorldResource resource) {
            assertThat(resource.ended())
                    .as(() -> "an action after its end: " + resource.uid + show())
                    .isFalse();
            if (!others.meddled) {
                assertThat(world.holder()).as(() -> "the lock" + show()).contains(resource);
            }
            if (!others.meddled && resource.job.isPresent()) {
                assertThat(world.resources.stream()
                                .filter(each -> each.job.filter(Job::runs).isPresent()))
                        .as(() -> "actions on the node" + show())
                        .containsExactly(resource);
            }
            // A start that is late for a Node that was created again finds the services of the new one.
            boolean sameNode = world.nodeUid.equals(resource.read().progress().nodeUid());
            if (resource.kind == MaintenanceKind.GPU_RESET && !others.meddled && sameNode) {
                assertThat(world.podReady.keySet())
                        .as(() -> "services during a reset" + show())
                        .isEmpty();
            }
        }

        private String show() {
            return "\n" + String.join("\n", others.history);
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
