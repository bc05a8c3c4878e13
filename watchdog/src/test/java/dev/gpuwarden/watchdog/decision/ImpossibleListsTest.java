package dev.gpuwarden.watchdog.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.watchdog.observation.GpuBytes;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.ProcessKey;
import dev.gpuwarden.watchdog.observation.Tenant;
import dev.gpuwarden.watchdog.pressure.PressureRules;
import java.math.BigInteger;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Random sequences of lists of tenants, many with entries that cannot be true, beside true memory of the card. */
@Timeout(value = 1, unit = TimeUnit.HOURS)
class ImpossibleListsTest {

    /** -Dgpuwarden.sequences=1000000 is the full run. */
    private static final int SEQUENCES = Integer.getInteger("gpuwarden.sequences", 20_000);

    private static final long MIB = 1 << 20;
    private static final long TOTAL = 15360 * MIB;
    private static final long FLOOR = 1536 * MIB;
    private static final long SLACK = Math.max(256 * MIB, (long) (TOTAL * 0.02));
    private static final long SECOND = 1_000_000_000;
    private static final int LENGTH = 6;

    private final Random random = new Random(37);

    /** A tenant as it is. */
    private static final class Truth {
        private long budget;
        private long used;
    }

    @Test
    void noTenantWithinItsBudgetIsRecycledAndEachFalseListIsNamed() {
        int recycles = 0;
        int blind = 0;
        for (int i = 0; i < SEQUENCES; i++) {
            List<Truth> truth = truth();
            GpuWatchdog watchdog = new GpuWatchdog(
                    PressureRules.DEFAULT, RecycleRules.DEFAULT, new RecycleHistory(RecycleRules.DEFAULT));
            for (int step = 1; step <= LENGTH; step++) {
                List<Tenant> listed = listed(truth);
                long used = truth.stream().mapToLong(each -> each.used).sum();
                GpuBytes memory = new GpuBytes(TOTAL, 0, used, TOTAL - used);
                Decision decision = watchdog.decide(new GpuObservation(
                        "GPU-1", step * SECOND, step, Reading.of(memory), Reading.of(listed), step * SECOND));
                if (isImpossible(listed, used)) {
                    blind++;
                    assertThat(decision.verdict()).as("%d: %s", i, decision).isEqualTo(Verdict.BLIND);
                    assertThat(decision.reason())
                            .containsAnyOf("contradict each other", "negative", "implausible", "the same identity");
                    assertThat(decision.pressure()).isEmpty();
                } else {
                    assertThat(decision.verdict()).as("%d: %s", i, decision).isNotEqualTo(Verdict.BLIND);
                }
                if (decision.verdict() == Verdict.RECYCLE) {
                    recycles++;
                    Truth chosen = truth.get(
                            Integer.parseInt(decision.recycled().orElseThrow().name()));
                    assertThat(chosen.used).as("%d: %s", i, decision).isGreaterThan(chosen.budget);
                    assertThat(isShort(truth, used)).as("%d: %s", i, decision).isTrue();
                    break;
                }
            }
        }
        System.out.println(SEQUENCES + " sequences: " + recycles + " recycles, " + blind + " false lists");
        assertThat(recycles).isGreaterThan(SEQUENCES / 20);
        assertThat(blind).isGreaterThan(SEQUENCES / 2);
    }

    /** Returns two to five tenants, most of them on a full card and half of them above their budgets. */
    private List<Truth> truth() {
        List<Truth> all = new ArrayList<>();
        int tenants = 2 + random.nextInt(4);
        long left = random.nextInt(3) == 0 ? TOTAL - 4000 * MIB : TOTAL - random.nextInt(1500) * MIB;
        for (int i = 0; i < tenants; i++) {
            Truth one = new Truth();
            one.used = i == tenants - 1 ? left : random.nextInt((int) (left / tenants / MIB) + 1) * MIB;
            left -= one.used;
            one.budget = random.nextBoolean() ? one.used + random.nextInt(500) * MIB : one.used / 2;
            all.add(one);
        }
        return all;
    }

    private List<Tenant> listed(List<Truth> truth) {
        List<Tenant> list = new ArrayList<>();
        for (int i = 0; i < truth.size(); i++) {
            list.add(tenant(i, truth.get(i).budget, Reading.of(truth.get(i).used)));
        }
        int wrong = random.nextInt(3);
        for (int i = 0; i < wrong; i++) {
            int at = random.nextInt(truth.size());
            Truth one = truth.get(at);
            list.set(
                    at,
                    switch (random.nextInt(wrong == 1 ? 12 : 10)) {
                        case 0 -> tenant(at, one.budget, Reading.of(4L << 40));
                        case 1 -> tenant(at, one.budget, Reading.of(one.used * 2));
                        case 2 -> tenant(at, one.budget, Reading.of(-1 - one.used));
                        case 3 -> tenant(at, one.budget, Reading.of(Long.MAX_VALUE - random.nextInt(9)));
                        case 4 -> tenant(at, one.budget, Reading.absent(Absence.IMPLAUSIBLE));
                        case 5 -> tenant(at, one.budget, Reading.of(TOTAL + 1));
                        case 6 -> tenant(at, one.budget, Reading.of(one.used + random.nextInt(600) * MIB));
                        case 7 -> tenant(0, one.budget, Reading.of(one.used));
                        case 8 -> tenant(at, Long.MAX_VALUE - random.nextInt(9), Reading.of(one.used));
                        case 9 -> tenant(at, -5, Reading.of(one.used));
                        // Beside a claim that is too large, one that is too small makes a list that can be true.
                        case 10 -> tenant(at, one.budget, Reading.absent(Absence.NOT_SUPPORTED));
                        default -> tenant(at, one.budget, Reading.of(one.used / 2));
                    });
        }
        return list;
    }

    private static Tenant tenant(int number, long budget, Reading<Long> used) {
        String name = Integer.toString(number);
        return new Tenant(
                name,
                name,
                name,
                Reading.of(budget),
                used,
                Set.of(new ProcessKey(number + 1, 1)),
                0,
                Instant.EPOCH,
                Optional.empty(),
                false);
    }

    /** The oracle of lists: whether a card with this much in use can have them. */
    private static boolean isImpossible(List<Tenant> listed, long used) {
        BigInteger sum = BigInteger.ZERO;
        for (Tenant tenant : listed) {
            if (tenant.used() instanceof Reading.Absent<Long> none) {
                if (none.cause() == Absence.IMPLAUSIBLE) {
                    return true;
                }
                continue;
            }
            long claimed = tenant.used().asOptional().orElseThrow();
            if (claimed < 0 || claimed > TOTAL) {
                return true;
            }
            sum = sum.add(BigInteger.valueOf(claimed));
        }
        return listed.stream().map(Tenant::id).distinct().count() < listed.size()
                || listed.stream()
                        .anyMatch(tenant -> tenant.budget().asOptional().orElse(0L) < 0)
                || sum.compareTo(BigInteger.valueOf(used + SLACK)) > 0;
    }

    /** The oracle of pressure: less is free than the floor, or than the true tenants may still take. */
    private static boolean isShort(List<Truth> truth, long used) {
        long promised = truth.stream()
                .mapToLong(each -> Math.max(0, each.budget - each.used))
                .sum();
        return TOTAL - used < FLOOR || TOTAL - used < promised;
    }
}
