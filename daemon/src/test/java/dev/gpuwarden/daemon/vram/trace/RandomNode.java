package dev.gpuwarden.daemon.vram.trace;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.watchdog.observation.GpuBytes;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.ProcessKey;
import dev.gpuwarden.watchdog.observation.Reservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

/** A source of observations of two GPUs whose tenants grow, fail to load, end and return, with bad readings among them. */
public final class RandomNode {

    private static final long MIB = 1 << 20;

    private final Random random;
    private final List<List<Tenant>> listed = new ArrayList<>();
    private long nanos = -5_000_000_000L;
    private long sequence;
    private int pids = 100;

    public RandomNode(long seed) {
        random = new Random(seed);
        listed.add(tenants("a"));
        listed.add(tenants("b"));
    }

    /** Returns the next observation of one of the GPUs, a quarter of a second later. */
    public GpuObservation next() {
        nanos += 250_000_000;
        sequence++;
        int gpu = random.nextInt(2);
        boolean fresh = sequence % 4 < 2;
        if (fresh) {
            listed.set(gpu, tenants(gpu == 0 ? "a" : "b"));
        }
        long used = listed.get(gpu).stream()
                .mapToLong(tenant -> tenant.used().asOptional().orElse(0L))
                .sum();
        GpuBytes bytes = new GpuBytes(16384 * MIB, 384 * MIB, used, 16000 * MIB - used);
        Reading<GpuBytes> memory =
                random.nextInt(40) == 0 ? Reading.absent(Absence.FAILED, 999, "memory \"info\"\n") : Reading.of(bytes);
        Reading<List<Tenant>> tenants =
                random.nextInt(40) == 0 ? Reading.absent(Absence.NO_PERMISSION) : Reading.of(listed.get(gpu));
        return new GpuObservation(
                "GPU-" + gpu,
                nanos,
                sequence,
                memory,
                tenants,
                tenants.asOptional().isEmpty() || fresh ? nanos : nanos - 1,
                random.nextInt(3) == 0 ? reservations(gpu == 0 ? "a" : "b") : List.of());
    }

    private List<Reservation> reservations(String prefix) {
        return List.of(
                reservation(1, prefix + random.nextInt(4), true), reservation(2, prefix + random.nextInt(4), false));
    }

    private Reservation reservation(int number, String tenant, boolean granted) {
        long bytes = random.nextInt(3000) * MIB;
        return new Reservation(
                number,
                tenant,
                bytes,
                granted ? bytes / 2 : bytes,
                nanos - random.nextInt(30) * 1_000_000_000L,
                granted,
                random.nextInt(4) == 0,
                random.nextInt(4) == 0);
    }

    private List<Tenant> tenants(String prefix) {
        List<Tenant> tenants = new ArrayList<>();
        long room = 15_900;
        for (int i = 0; i < 4; i++) {
            long used = random.nextInt(3) == 0 ? random.nextInt(80) : random.nextInt((int) (room / 2));
            room -= used;
            tenants.add(new Tenant(
                    prefix + i,
                    "name\u001b[31m-" + prefix + i,
                    "workload-" + i,
                    random.nextInt(9) == 0
                            ? Reading.absent(Absence.NO_DATA, 0, "'5x' is no quantity")
                            : Reading.of(3000 * MIB),
                    Reading.of(used * MIB),
                    Set.of(new ProcessKey(i, 7), new ProcessKey(++pids, 8)),
                    i - 2,
                    Instant.EPOCH.plusSeconds(i),
                    i == 3 ? Optional.of("it is a system pod") : Optional.empty(),
                    random.nextInt(30) == 0));
        }
        return tenants;
    }
}
