package dev.gpuwarden.benchmarks;

import dev.gpuwarden.api.datamodels.Entity;
import dev.gpuwarden.api.datamodels.HealthEvent;
import dev.gpuwarden.api.datamodels.HealthEvents;
import dev.gpuwarden.api.datamodels.PlatformConnectorGrpc;
import dev.gpuwarden.api.datamodels.RecommendedAction;
import dev.gpuwarden.benchmarks.Attackers.AttackTally;
import dev.gpuwarden.daemon.grpc.NodeClient;
import io.grpc.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Attacks on an armed server: a batch user at the query socket accuses and acquits all of its GPUs twice a second; a program that may
 * report names GPUs that the server does not have, and writes the same UUID in another case each time.
 */
final class HostileUsers {

    /** In the stage's folder: the query socket as another user has it, the events socket, and the UUIDs, one a line. */
    static final String BATCH = "batch.sock";

    static final String EVENTS = "armed.sock";
    static final String UUIDS = "uuids";
    /** The code of the faults whose GPU is written in another form each time. */
    static final String FORMS = "FORMS";

    private static final int PATIENCE_SECONDS = 5;
    private static final List<String> OWN = List.of("syslog-health-monitor", "gpu-health-monitor", "gpuwarden");
    private static final List<String> CHECKS = List.of("SysLogsXIDError", "GpuState", "GpuMemWatch");

    private final AttackTally tally;
    private final NodeClient batch;
    private final NodeClient reporter;
    private final List<String> uuids;
    private final Random chance = new Random(5);

    /** @param stage folder with the names above */
    HostileUsers(Path stage, AttackTally tally) throws IOException {
        this.tally = tally;
        this.batch = NodeClient.of(stage.resolve(BATCH));
        this.reporter = NodeClient.of(stage.resolve(EVENTS));
        this.uuids = Files.readAllLines(stage.resolve(UUIDS));
    }

    void begin(ScheduledExecutorService timer) {
        tally.repeat(timer, 500, this::batchUser);
        tally.repeat(timer, 500, this::reporter);
    }

    private void batchUser() {
        String agent = OWN.get(chance.nextInt(OWN.size()));
        String check = CHECKS.get(chance.nextInt(CHECKS.size()));
        send(batch, "batch user acquits", event(agent, check).setIsHealthy(true));
        HealthEvent.Builder fatal = event(agent, check).setIsFatal(true).addErrorCode("79");
        send(batch, "batch user asks for a reboot", fatal.clone().setRecommendedAction(RecommendedAction.RESTART_BM));
        send(
                batch,
                "batch user asks for a reset",
                fatal.clone()
                        .setRecommendedAction(RecommendedAction.COMPONENT_RESET)
                        .addEntitiesImpacted(gpu(form(any()))));
        send(batch, "batch user accuses a GPU that is not there", absent(fatal));
    }

    private void reporter() {
        send(
                reporter,
                "reporter accuses a GPU that is not there",
                absent(event("gpu-health-monitor", "GpuMemWatch")
                        .setIsFatal(true)
                        .addErrorCode("DCGM_FR_X")));
        send(
                reporter,
                "reporter writes a UUID in another case",
                event("forms", "Forms")
                        .setIsHealthy(chance.nextInt(3) == 0)
                        .addErrorCode(FORMS)
                        .addEntitiesImpacted(gpu(form(any()))));
    }

    private HealthEvent.Builder absent(HealthEvent.Builder fatal) {
        return fatal.clone()
                .setRecommendedAction(RecommendedAction.COMPONENT_RESET)
                .addEntitiesImpacted(gpu(form("GPU-" + UUID.randomUUID())));
    }

    private static HealthEvent.Builder event(String agent, String check) {
        return HealthEvent.newBuilder()
                .setVersion(1)
                .setAgent(agent)
                .setComponentClass("GPU")
                .setCheckName(check)
                .setMessage("an attack");
    }

    private static Entity gpu(String uuid) {
        return Entity.newBuilder()
                .setEntityType("GPU_UUID")
                .setEntityValue(uuid)
                .build();
    }

    private String any() {
        return uuids.get(chance.nextInt(uuids.size()));
    }

    /** Returns the UUID with each letter in a random case. */
    private String form(String uuid) {
        StringBuilder text = new StringBuilder();
        uuid.chars()
                .map(letter -> chance.nextBoolean() ? Character.toUpperCase(letter) : Character.toLowerCase(letter))
                .forEach(text::appendCodePoint);
        return "GPU" + text.substring(3);
    }

    private void send(NodeClient client, String what, HealthEvent.Builder event) {
        Status status = Status.OK;
        try {
            var unused = PlatformConnectorGrpc.newBlockingStub(client.channel())
                    .withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS)
                    .healthEventOccurredV1(HealthEvents.newBuilder()
                            .setVersion(1)
                            .addEvents(event)
                            .build());
        } catch (RuntimeException e) {
            status = Status.fromThrowable(e);
        }
        tally.count(what + ": " + status.getCode());
    }
}
