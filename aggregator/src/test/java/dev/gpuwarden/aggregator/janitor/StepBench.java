package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.janitor.JanitorSettings.RebootProvider;
import dev.gpuwarden.aggregator.janitor.Progress.Condition;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.maintenance.ServiceLabels;
import dev.gpuwarden.aggregator.maintenance.Stage;
import java.time.Duration;
import java.util.Optional;

/** A node with the services of the GPU Operator and one resource. */
final class StepBench {
    final JanitorWorld world;
    final WorldResource resource;
    /** False once the GPU Operator neither starts nor ends pods. */
    boolean operates = true;

    StepBench(MaintenanceKind kind, RebootProvider way) {
        world = new JanitorWorld(way);
        for (String service : ServiceLabels.LABELS) {
            world.labels.put(service, "true");
            world.podReady.put(service, true);
        }
        resource = world.add(kind);
    }

    /** Makes steps until one has to wait. */
    void go() {
        while (!resource.gone) {
            Step step = next();
            if (step instanceof Step.Wait || step instanceof Step.Leave) {
                return;
            }
            world.write(resource, step, resource.version);
            operate();
        }
    }

    Step next() {
        Step step = Steps.next(world.scene(resource, false));
        return step instanceof Step.ReadPods ? Steps.next(world.scene(resource, true)) : step;
    }

    /** Lets the GPU Operator follow the labels. */
    void operate() {
        for (String service : ServiceLabels.LABELS) {
            if (operates && "true".equals(world.labels.get(service))) {
                world.podReady.put(service, true);
            } else if (operates) {
                world.podReady.remove(service);
            }
        }
    }

    /** Makes steps until the Job waits for its start. */
    void goUntilJob() {
        while (!(next() instanceof Step.StartJob)) {
            world.write(resource, next(), resource.version);
            operate();
        }
    }

    void endJob(boolean success) {
        resource.job.orElseThrow().succeeded = Optional.of(success);
    }

    void endJob(int code, String message) {
        bench(job -> {
            job.succeeded = Optional.of(code == 0);
            job.exitCode = Optional.of(code);
            job.message = message;
        });
    }

    /** Another controller suspends the Job. */
    void suspendJob() {
        bench(job -> job.suspended = true);
    }

    private void bench(java.util.function.Consumer<WorldResource.Job> change) {
        change.accept(resource.job.orElseThrow());
        resource.job.orElseThrow().version++;
    }

    void pass(Duration time) {
        world.now = world.now.plus(time);
    }

    void recreateNode() {
        world.nodeUid = "node-uid-2";
        world.nodeVersion += 100;
        world.labels.replaceAll((label, value) -> "true");
    }

    /** Returns the last stage of a reset, as operators see it. */
    Stage restored() {
        return resource.shown().stages().get(3).owned("");
    }

    Condition condition(String type) {
        return resource.read().progress().condition(type).orElseThrow();
    }
}
