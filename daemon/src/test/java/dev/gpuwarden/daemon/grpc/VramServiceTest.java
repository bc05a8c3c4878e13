package dev.gpuwarden.daemon.grpc;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Duration;
import dev.gpuwarden.api.v1.Reservation;
import dev.gpuwarden.api.v1.Reservation.State;
import dev.gpuwarden.api.v1.ReserveRequest;
import dev.gpuwarden.api.v1.VramServiceGrpc;
import dev.gpuwarden.checks.process.CallingProcess;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.GpuIdentity.MigDevice;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.daemon.vram.VramFixture;
import dev.gpuwarden.daemon.vram.reserve.CallerShares;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import io.grpc.Context;
import io.grpc.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Requests for memory over a real socket. The test gives the observations of two T4. */
class VramServiceTest extends VramServiceFixture {

    private final List<Context.CancellableContext> calls = new ArrayList<>();
    private long sequence;

    @BeforeEach
    void firstReadings() {
        observe(0, 0);
        observe(1, 0);
    }

    @AfterEach
    void endCalls() {
        calls.forEach(call -> call.cancel(null));
    }

    private List<dev.gpuwarden.watchdog.observation.Reservation> observe(int gpu, long freeMib, Tenant... tenants) {
        long now = System.nanoTime();
        desk.tick(gpus.stream().map(GpuIdentity::selector).toList());
        return desk.observe(
                        gpus.get(gpu),
                        new GpuObservation(
                                gpus.get(gpu).selector(),
                                now,
                                ++sequence,
                                VramFixture.memory(freeMib),
                                Reading.of(List.of(tenants)),
                                now))
                .reservations();
    }

    private static ReserveRequest.Builder wants(long mib) {
        return ReserveRequest.newBuilder().setBytes(mib * MIB);
    }

    private Iterator<Reservation> reserve(ReserveRequest.Builder request) {
        Context.CancellableContext call = Context.current().withCancellation();
        calls.add(call);
        List<Iterator<Reservation>> opened = new ArrayList<>();
        call.run(() -> opened.add(VramServiceGrpc.newBlockingStub(node.client.channel())
                .withDeadlineAfter(20, TimeUnit.SECONDS)
                .reserve(request.build())));
        return opened.get(0);
    }

    private void refusedFor(ReserveRequest.Builder request, Status.Code code, String why) {
        refused(code, why, () -> reserve(request).next());
    }

    @Test
    void aRequestWaitsIsGrantedAndExpires() {
        var states =
                reserve(wants(4000).setGpu("0").setHold(Duration.newBuilder().setNanos(300_000_000)));
        Reservation first = states.next();
        assertThat(first.getState()).isEqualTo(State.WAITING);
        assertThat(first.getTenant()).isEqualTo("unit:batch.service");
        assertThat(observe(0, 5535)).extracting(each -> each.granted()).containsExactly(false);
        assertThat(observe(0, 5537)).extracting(each -> each.granted()).containsExactly(true);
        Reservation granted = states.next();
        assertThat(granted.getState()).isEqualTo(State.GRANTED);
        assertThat(granted.getGpu().getUuid()).isEqualTo(gpus.get(0).selector());
        assertThat(granted.getUnusedBytes()).isEqualTo(4000 * MIB);
        until(() -> observe(0, 5536).isEmpty());
        assertThat(states.next().getState()).isEqualTo(State.EXPIRED);
        assertThat(states.hasNext()).isFalse();
    }

    /** A user without the right to report or end faults may ask for memory. */
    @Test
    void aUserWithoutRightsReservesForTheOwnTenant() {
        node.callers.set(
                (pid, uid, connected) -> new CallingProcess(65534, new Owner.Unit("batch.service"), Reading.of(true)));
        var states = reserve(wants(100).setGpu("0"));
        assertThat(states.next().getTenant()).isEqualTo("unit:batch.service");
        observe(0, 6000);
        assertThat(states.next().getState()).isEqualTo(State.GRANTED);
    }

    @Test
    void aRequestThatDoesNotWaitIsDecidedOnce() {
        Duration.Builder none = Duration.newBuilder();
        var fits = reserve(wants(100).setGpu("0").setWait(none));
        fits.next();
        observe(0, 6000);
        assertThat(fits.next().getState()).isEqualTo(State.GRANTED);
        var full = reserve(wants(4500).setGpu("0").setWait(none));
        full.next();
        observe(0, 6000);
        observe(0, 6000);
        Reservation expired = full.next();
        assertThat(expired.getState()).isEqualTo(State.EXPIRED);
        assertThat(expired.getReason()).contains("6000 MiB free");
    }

    @Test
    void theStateNamesWhoHasTheMemory() throws InterruptedException {
        var states = reserve(wants(4000).setGpu("0"));
        states.next();
        TimeUnit.SECONDS.sleep(1);
        observe(0, 2789, VramFixture.tenant("immich-ml", 3000, 10_726), VramFixture.tenant("llama-swap", 5000, 0));
        assertThat(states.next().getReason())
                .endsWith("2789 MiB free; the floor keeps 1536 MiB; 5000 MiB promised or granted to others;"
                        + " immich-ml is 7726 MiB over its budget");
    }

    @Test
    void aClientThatGoesGivesItsMemoryBack() {
        var states = reserve(wants(4000).setGpu("0"));
        states.next();
        observe(0, 6000);
        assertThat(states.next().getState()).isEqualTo(State.GRANTED);
        calls.get(0).cancel(null);
        until(() -> observe(0, 6000).isEmpty());
    }

    @Test
    void anyGpuIsTheFirstWithRoom() {
        var states = reserve(wants(4000));
        states.next();
        assertThat(observe(0, 4000)).extracting(each -> each.anyGpu()).containsExactly(true);
        observe(1, 6000);
        assertThat(states.next().getGpu().getIndex()).isEqualTo(1);
        assertThat(observe(0, 15_000)).isEmpty();
    }

    @Test
    void noGrantComesFromAReadingThatIsOldOrDoubtful() {
        reserve(wants(100).setGpu("0")).next();
        long now = System.nanoTime();
        String gpu = gpus.get(0).selector();
        Reading<List<Tenant>> none = Reading.of(List.of());
        var memory = VramFixture.memory(9000);
        List<GpuObservation> bad = List.of(
                new GpuObservation(gpu, now, 1, memory, none, now),
                new GpuObservation(gpu, now, sequence + 1, memory, none, now - TimeUnit.SECONDS.toNanos(3)),
                new GpuObservation(gpu, now, sequence + 2, Reading.absent(Absence.STALE), none, now),
                new GpuObservation(gpu, now, sequence + 3, memory, Reading.absent(Absence.STALE), now));
        for (GpuObservation each : bad) {
            assertThat(desk.observe(gpus.get(0), each).reservations())
                    .as(each.toString())
                    .extracting(one -> one.granted())
                    .containsExactly(false);
        }
        sequence += 4;
        assertThat(observe(0, 9000)).extracting(one -> one.granted()).containsExactly(true);
    }

    @Test
    void impossibleRequestsAreRefused() throws IOException {
        refusedFor(wants(0), Status.Code.INVALID_ARGUMENT, "bytes: expected 1 or more");
        refusedFor(wants(-1), Status.Code.INVALID_ARGUMENT, "bytes");
        refusedFor(
                wants(1).setWait(Duration.newBuilder().setSeconds(86_401)),
                Status.Code.INVALID_ARGUMENT,
                "wait: expected 0 s to 24 h");
        refusedFor(
                wants(1).setHold(Duration.newBuilder().setNanos(-1)),
                Status.Code.INVALID_ARGUMENT,
                "hold: expected 0 s to 24 h");
        refusedFor(wants(1).setGpu("7"), Status.Code.NOT_FOUND, "no GPU is 7");
        refusedFor(wants(13_525), Status.Code.OUT_OF_RANGE, "13524 MiB");
        refusedFor(wants(Long.MAX_VALUE / MIB), Status.Code.OUT_OF_RANGE, "13524 MiB");
        reserve(wants(13_524)).next();
        refusedFor(wants(1).setTenant("x".repeat(513)), Status.Code.INVALID_ARGUMENT, "tenant: expected at most 512");
        GpuIdentity whole = gpus.get(1);
        gpus.set(1, partitioned(whole));
        observe(1, 100);
        refusedFor(wants(1).setGpu("1"), Status.Code.FAILED_PRECONDITION, "GPUs with MIG");
        unit("0::/\n");
        refusedFor(
                wants(1),
                Status.Code.FAILED_PRECONDITION,
                "belongs to no tenant: in the root cgroup; run it in a unit");
        node.calls = null;
        refusedFor(wants(1), Status.Code.FAILED_PRECONDITION, "the VRAM watchdog of this node is off");
    }

    private static GpuIdentity partitioned(GpuIdentity gpu) {
        Reading<Integer> one = Reading.of(1);
        MigDevice part = new MigDevice(0, "MIG-1", one, one, Reading.of("1g.10gb"));
        return new GpuIdentity(
                gpu.index(),
                gpu.uuid(),
                gpu.pci(),
                gpu.minor(),
                gpu.name(),
                gpu.serial(),
                gpu.vbios(),
                gpu.boardPart(),
                gpu.computeCapability(),
                gpu.numaNode(),
                gpu.migMode(),
                List.of(part),
                gpu.nvlinks());
    }

    @Test
    void anAdministratorNamesAnotherTenantUnlessItRunsInAContainer() throws IOException {
        Tenant model = VramFixture.tenant("model", 5000, 0);
        observe(0, 1000, model);
        for (String name : List.of("pod:model", "model", "deployment/model")) {
            assertThat(reserve(wants(1000).setTenant(name)).next().getTenant()).isEqualTo("model");
        }
        assertThat(observe(0, 1000, model)).extracting(each -> each.tenant()).containsOnly("pod:model");
        refusedFor(wants(1).setTenant("modle"), Status.Code.NOT_FOUND, "no tenant, or more than one, is modle");
        unit("0::/system.slice/docker-" + "a".repeat(64) + ".scope\n");
        refusedFor(wants(1).setTenant("model"), Status.Code.PERMISSION_DENIED, "outside containers and jobs");
    }

    @Test
    void aTenantHasEightRequestsAtMost() {
        List<Iterator<Reservation>> open = new ArrayList<>();
        for (int i = 0; i < CallerShares.MOST_OF_TENANT; i++) {
            open.add(reserve(wants(1)));
            open.get(i).next();
        }
        refusedFor(wants(1), Status.Code.RESOURCE_EXHAUSTED, "8 requests of unit:batch.service are open");
        calls.get(0).cancel(null);
        until(() -> observe(0, 0).size() == CallerShares.MOST_OF_TENANT - 1);
        assertThat(reserve(wants(1)).next().getState()).isEqualTo(State.WAITING);
    }

    @Test
    void aUserWithManyUnitsHasSixteenRequestsAtMost() throws IOException {
        for (int i = 0; i < CallerShares.MOST_OF_USER; i++) {
            unit("0::/user.slice/user-1000.slice/user@1000.service/app.slice/a" + i + ".service\n");
            reserve(wants(1)).next();
        }
        unit("0::/user.slice/user-1000.slice/user@1000.service/app.slice/z.service\n");
        refusedFor(wants(1), Status.Code.RESOURCE_EXHAUSTED, "16 requests of uid 1000 are open");
        unit("0::/system.slice/batch.service\n");
        assertThat(reserve(wants(1)).next().getState()).isEqualTo(State.WAITING);
    }

    @Test
    void aProcessThatIsYoungerThanItsConnectionIsAnother() throws IOException {
        Files.writeString(folder.resolve("proc/uptime"), "1000000.00 1.00\n");
        long pid = ProcessHandle.current().pid();
        Files.writeString(
                folder.resolve("proc/" + pid + "/stat"), pid + " (java) S 1" + " 0".repeat(17) + " 99999999999 0 0\n");
        refusedFor(wants(1), Status.Code.FAILED_PRECONDITION, "the process ended and another one has its number");
    }
}
