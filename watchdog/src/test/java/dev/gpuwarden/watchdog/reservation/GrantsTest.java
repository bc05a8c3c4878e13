package dev.gpuwarden.watchdog.reservation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.watchdog.observation.Reservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GrantsTest {

    private static final long MIB = 1 << 20;
    private static final long FLOOR = 1500;

    /** @param budgetMib 0 for none */
    private static Tenant tenant(String name, long budgetMib, long usedMib) {
        Reading<Long> budget =
                budgetMib == 0 ? Reading.absent(Absence.NO_DATA, 0, "none is configured") : Reading.of(budgetMib * MIB);
        return new Tenant(
                name,
                name,
                name,
                budget,
                Reading.of(usedMib * MIB),
                Set.of(),
                0,
                Instant.EPOCH,
                Optional.empty(),
                false);
    }

    private static Reservation waits(long number, String tenant, long mib) {
        return new Reservation(number, tenant, mib * MIB, mib * MIB, 0, false, false, false);
    }

    private static Reservation has(long number, String tenant, long mib, long unusedMib) {
        return new Reservation(number, tenant, mib * MIB, unusedMib * MIB, 0, true, false, false);
    }

    private static Reservation borrows(long number, String tenant, long mib) {
        return new Reservation(number, tenant, mib * MIB, mib * MIB, 0, false, true, false);
    }

    private static List<Long> granted(long freeMib, List<Tenant> tenants, Reservation... all) {
        Room room = new Room(freeMib * MIB, FLOOR * MIB, tenants, List.of(all));
        return Grants.granted(room, 5).stream()
                .filter(Reservation::granted)
                .map(Reservation::number)
                .toList();
    }

    /** The tenant "model" has a budget of 4000 MiB and holds 1000 MiB, "batch" has no budget. */
    @ParameterizedTest
    @CsvSource({
        "batch, 2000, 6499, false", // the floor and 3000 MiB of the model's budget stay
        "batch, 2000, 6500, true",
        "model, 3000, 4499, false", // within its budget: only the floor stays
        "model, 3000, 4500, true",
        "model, 3001, 4501, true", // above it: its own promise is not kept from itself
        "model, 3001, 4500, false",
        "unknown, 2000, 6500, true",
    })
    void aRequestIsGrantedWhereFloorAndPromisesToOthersStay(String tenant, long mib, long freeMib, boolean fits) {
        List<Tenant> tenants = List.of(tenant("model", 4000, 1000), tenant("batch", 0, 500));
        assertThat(granted(freeMib, tenants, waits(1, tenant, mib))).hasSize(fits ? 1 : 0);
    }

    @Test
    void aRequestThatBorrowsTakesWhatBudgetsPromise() {
        List<Tenant> tenants = List.of(tenant("model", 4000, 1000));
        assertThat(granted(3500, tenants, borrows(1, "batch", 2000))).hasSize(1);
        assertThat(granted(3499, tenants, borrows(1, "batch", 2000))).isEmpty();
    }

    @Test
    void unusedGrantsStayForThoseWhoHaveThem() {
        assertThat(granted(5000, List.of(), has(1, "a", 2000, 2000), waits(2, "b", 1501)))
                .containsExactly(1L);
        assertThat(granted(5000, List.of(), has(1, "a", 2000, 2000), waits(2, "b", 1500)))
                .containsExactly(1L, 2L);
        assertThat(granted(5000, List.of(), has(1, "a", 2000, 0), waits(2, "b", 3500)))
                .containsExactly(1L, 2L);
        assertThat(granted(5000, List.of(), has(1, "a", 2000, 2000), waits(2, "a", 1501)))
                .containsExactly(1L);
    }

    @Test
    void aGrantWithinABudgetIsNotSetAsideTwice() {
        List<Tenant> tenants = List.of(tenant("model", 4000, 1000));
        assertThat(granted(6500, tenants, has(1, "model", 2000, 2000), waits(2, "batch", 2000)))
                .containsExactly(1L, 2L);
    }

    @Test
    void oneAfterTheOtherIsGrantedAndNoneOvertakesALargerOne() {
        assertThat(granted(4500, List.of(), waits(1, "a", 1000), waits(2, "b", 1000), waits(3, "c", 1001)))
                .containsExactly(1L, 2L);
        assertThat(granted(4500, List.of(), waits(1, "a", 5000), waits(2, "b", 100)))
                .isEmpty();
        assertThat(granted(4500, List.of(), waits(2, "b", 100), waits(1, "a", 5000)))
                .isEmpty();
    }

    @Test
    void requestsWithinBudgetsComeFirst() {
        List<Tenant> tenants = List.of(tenant("model", 4000, 0), tenant("other", 500, 0));
        assertThat(granted(5500, tenants, borrows(1, "batch", 1000), waits(2, "model", 4000)))
                .containsExactly(2L);
        assertThat(granted(2100, tenants, borrows(1, "batch", 10), waits(2, "model", 4000), waits(3, "other", 500)))
                .containsExactly(3L);
    }

    @Test
    void theAllocationsOfATenantUseUpItsOldestGrant() {
        List<Tenant> before = List.of(tenant("a", 0, 100), tenant("b", 0, 700));
        List<Reservation> all =
                List.of(has(1, "a", 300, 300), has(2, "a", 300, 300), waits(3, "a", 50), has(4, "b", 9, 9));
        List<Reservation> after = Grants.afterUse(all, before, List.of(tenant("a", 0, 500), tenant("b", 0, 600)));
        assertThat(after).extracting(each -> each.unusedBytes() / MIB).containsExactly(0L, 200L, 50L, 9L);
        assertThat(Grants.afterUse(after, List.of(tenant("a", 0, 500)), List.of(tenant("a", 0, 100))))
                .isEqualTo(after);
    }

    @Test
    void theRoomIsExplained() {
        List<Tenant> tenants = List.of(tenant("model", 4000, 1000), tenant("hog", 1000, 1500));
        Room room = new Room(
                5000 * MIB, FLOOR * MIB, tenants, List.of(has(1, "batch", 500, 400), has(2, "model", 100, 100)));
        assertThat(room.text(waits(3, "batch", 9000)))
                .isEqualTo("5000 MiB free; the floor keeps 1500 MiB; 3000 MiB promised or granted to others;"
                        + " 400 MiB granted to the same tenant; hog is 500 MiB over its budget");
        assertThat(room.text(waits(3, "model", 2900)))
                .endsWith(
                        "400 MiB granted to others; 100 MiB granted to the same tenant; hog is 500 MiB over its budget;"
                                + " the request is within its budget");
    }

    /** Tenants allocate in steps what was granted to them, lists are old, and reservations end at any time. */
    @Test
    void aGrantIsThereWhenAllAllocateNoMoreThanTheirs() {
        for (int seed = 0; seed < 300; seed++) {
            Random random = new Random(seed);
            long free = 12_000;
            Map<String, Long> used = new HashMap<>();
            Map<String, Long> mayTake = new HashMap<>();
            List<Tenant> listed = List.of();
            List<Reservation> all = List.of();
            for (int step = 1; step < 200; step++) {
                String name = "t" + random.nextInt(4);
                switch (random.nextInt(5)) {
                    case 0 -> {
                        List<Reservation> more = new ArrayList<>(all);
                        more.add(waits(step, name, 1 + random.nextInt(5000)));
                        all = more;
                    }
                    case 1, 2 -> {
                        long most = mayTake.getOrDefault(name, 0L);
                        long mib = most == 0 ? 0 : random.nextInt((int) most + 1);
                        free -= mib;
                        assertThat(free).as("seed %d, step %d", seed, step).isGreaterThanOrEqualTo(FLOOR);
                        used.merge(name, mib, Long::sum);
                        mayTake.merge(name, -mib, Long::sum);
                    }
                    case 3 -> {
                        free += used.getOrDefault(name, 0L);
                        used.put(name, 0L);
                        all = all.stream()
                                .filter(each -> !each.tenant().equals(name))
                                .toList();
                        mayTake.remove(name);
                    }
                    default -> {
                        List<Tenant> now = used.entrySet().stream()
                                .map(one -> tenant(one.getKey(), 0, one.getValue()))
                                .toList();
                        List<Reservation> before = Grants.afterUse(all, listed, now);
                        listed = now;
                        all = Grants.granted(new Room(free * MIB, FLOOR * MIB, now, before), step);
                        for (int i = 0; i < all.size(); i++) {
                            if (all.get(i).granted() && !before.get(i).granted()) {
                                mayTake.merge(all.get(i).tenant(), all.get(i).bytes() / MIB, Long::sum);
                            }
                        }
                    }
                }
            }
        }
    }
}
