package dev.gpuwarden.aggregator.janitor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.janitor.WorldResource.Job;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.part.AuditLog.Entry;
import dev.gpuwarden.core.util.JsonTrees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class MaintenanceAuditLogTest {

    private final JanitorWorld world = new JanitorWorld();
    private final List<Entry> audits = new ArrayList<>();
    private final MaintenanceAuditLog log = new MaintenanceAuditLog(audits::add);

    /** Carries out a resource; its Job, if it has one, ends after a minute with a failure. */
    private void run(WorldResource resource) {
        for (int turn = 0; turn < 40 && !resource.ended(); turn++) {
            Step step = Steps.next(world.scene(resource, true));
            log.before(resource.read(), step, world.now);
            Maintenance before = resource.read();
            if (!(step instanceof Step.Wait)) {
                world.write(resource, step, resource.version);
                log.after(before, step, world.now);
            }
            world.now = world.now.plusSeconds(1);
            if (resource.job.filter(Job::runs).isPresent()) {
                world.now = world.now.plus(Duration.ofMinutes(1));
                resource.job.get().succeeded = Optional.of(false);
            }
        }
        assertThat(resource.ended()).isTrue();
    }

    @Test
    void endHasCreatorReasonAndTheTimeOfEachStep() throws IOException {
        WorldResource reset = world.add(MaintenanceKind.GPU_RESET);
        run(reset);
        assertThat(audits).extracting(Entry::decision).containsExactly("start", "failed");
        assertThat(Json.write(audits.get(0).toTree()))
                .contains(
                        "\"uid\":\"node-uid-1\"",
                        "\"decision\":\"maintenance_start\"",
                        "\"createdBy\":\"kubectl-create\"",
                        "{\"stage\":\"reset\",\"state\":\"not-yet\",\"why\":\"\"}");
        assertThat(audits.get(1).reason()).endsWith("expected a reset and verified GPU, seen failed");
        assertThat(audits.get(1).toTree())
                .containsEntry("node", "node-1")
                .containsEntry("uid", "node-uid-1")
                .containsEntry("resources", List.of("GPUReset maintenance-r0"))
                .containsEntry("gpus", List.of("GPU-r0"));
        assertThat(JsonTrees.objects(audits.get(1).more(), "steps"))
                .filteredOn(step -> JsonTrees.text(step, "stage").equals("reset"))
                .singleElement()
                .satisfies(step -> assertThat(step).containsEntry("state", "failed"))
                .satisfies(step ->
                        assertThat(JsonTrees.longNumber(step, "seconds")).isGreaterThan(60));
    }

    @Test
    void refusedResourceHasTheReasonAndNoBegin() {
        world.cordoned = false;
        run(world.add(MaintenanceKind.REBOOT_NODE));
        assertThat(audits)
                .singleElement()
                .satisfies(audit -> assertThat(audit.decision()).isEqualTo("refused"))
                .satisfies(audit -> assertThat(audit.reason()).contains("seen one without a cordon"));
    }

    @Test
    void actionThatCannotBeRecordedDoesNotBegin() {
        MaintenanceAuditLog full = new MaintenanceAuditLog(audit -> {
            throw new UncheckedIOException(new IOException("disk full"));
        });
        WorldResource reset = world.add(MaintenanceKind.GPU_RESET);
        for (int i = 0; i < 2; i++) {
            world.write(reset, Steps.next(world.scene(reset, true)), reset.version);
        }
        Step begin = Steps.next(world.scene(reset, true));
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> full.before(reset.read(), begin, world.now))
                    .hasMessageContaining("disk full");
        }
        log.before(reset.read(), begin, world.now);
        log.before(reset.read(), begin, world.now);
        assertThat(audits).as("a write that is made again").hasSize(1);
    }
}
