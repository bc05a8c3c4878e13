package dev.gpuwarden.checks.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.CheckContexts;
import dev.gpuwarden.core.check.BoardLimits;
import dev.gpuwarden.core.check.GpuLoad;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import dev.gpuwarden.core.telemetry.LinkMetric;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Random readings of a healthy GPU are withheld with random errors. No passive check may then pass without having read what it judges, and
 * absence alone is no fault. The readings that a check judges are found by bad values: one is judged if some value of it makes the check
 * complain.
 */
class WithheldReadingsTest {

    private static final int[] CODES = {999, 14, 11, 17, 4, 6, 3, 13, 15, 16};
    private static final long[] VALUES = {0, 1, 2, 3, 5, 90, 1000};
    /** Causes with which the driver states that the board has no such reading now. */
    private static final Set<Absence> NOT_OFFERED = Set.of(Absence.NOT_SUPPORTED, Absence.NO_SYMBOL, Absence.NO_DATA);

    private static SimulatedNode simulated;
    private static NodeSnapshot healthy;
    private static final List<HealthCheck> checks = new ArrayList<>();

    @BeforeAll
    static void read() {
        simulated = SimulatedNode.start("h100x8");
        NodeSnapshot read = CheckContexts.snapshot(simulated);
        healthy = new NodeSnapshot(
                read.driver(),
                read.pciGpus().map(bus -> bus.subList(0, 2)),
                read.gpus().subList(0, 2));
        for (HealthCheck check : ServiceLoader.load(HealthCheck.class)) {
            // Ghosts are found by processes, of which no reading is withheld here.
            if (check.load() == GpuLoad.NONE
                    && check.info().componentClass().equals("GPU")
                    && !check.info().id().equals("gpu-ghosts")) {
                checks.add(check);
            }
        }
        assertThat(checks).hasSizeGreaterThan(10);
    }

    @AfterAll
    static void stop() {
        simulated.close();
    }

    private static NodeSnapshot with(GpuFrame frame, GpuState state) {
        GpuSnapshot first = healthy.gpus().get(0);
        List<GpuSnapshot> gpus = new ArrayList<>(healthy.gpus());
        gpus.set(
                0,
                new GpuSnapshot(
                        first.identity(),
                        state,
                        "",
                        frame,
                        first.ageNanos(),
                        first.processes(),
                        first.processesAgeNanos(),
                        0,
                        first.mig()));
        return new NodeSnapshot(healthy.driver(), healthy.pciGpus(), gpus);
    }

    private static Map<String, Finding> findings(NodeSnapshot node) {
        Map<String, Finding> findings = new HashMap<>();
        Subject subject = Subject.of(healthy.gpus().get(0).identity());
        var context = CheckContexts.context(node, CheckContexts.paths(simulated), BoardLimits.shipped());
        for (HealthCheck check : checks) {
            check.run(context).stream()
                    .filter(finding -> finding.subject().equals(subject))
                    .forEach(finding -> findings.put(check.info().id(), finding));
        }
        return findings;
    }

    private static List<Integer> slots() {
        List<Integer> slots = new ArrayList<>();
        for (int i = 0; i < GpuMetric.count(); i++) {
            slots.add(i);
        }
        for (int link = 0; link < 18; link++) {
            slots.add(GpuFrame.slot(LinkMetric.STATE, link));
        }
        return slots;
    }

    /** Returns, by check, the readings of which some value makes it complain. */
    private static Map<String, Set<Integer>> judged() {
        Map<String, Set<Integer>> judged = new HashMap<>();
        Map<String, Finding> usual = findings(healthy);
        for (int slot : slots()) {
            for (long value : VALUES) {
                GpuFrame frame = healthy.gpus().get(0).frame().copy();
                if (frame.present(slot)) {
                    frame.put(slot, value);
                    findings(with(frame, GpuState.ANSWERING)).forEach((id, finding) -> {
                        boolean bad = finding.outcome() == Outcome.FAIL || finding.outcome() == Outcome.WARN;
                        if (bad && usual.get(id).outcome() == Outcome.PASS) {
                            judged.computeIfAbsent(id, any -> new TreeSet<>()).add(slot);
                        }
                    });
                }
            }
        }
        return judged;
    }

    @Test
    void nothingPassesUnreadAndNothingFailsWithoutReadings() {
        Map<String, Set<Integer>> judged = judged();
        assertThat(judged).hasSizeGreaterThan(6);
        long seed = Long.getLong("gpuwarden.withheld.seed", 1);
        Random random = new Random(seed);
        for (int walk = 0; walk < Integer.getInteger("gpuwarden.withheld.walks", 300); walk++) {
            GpuFrame frame = healthy.gpus().get(0).frame().copy();
            double share = random.nextInt(4) == 0 ? 1 : random.nextDouble();
            Set<Integer> unread = new TreeSet<>();
            int same = CODES[random.nextInt(CODES.length)];
            boolean alike = random.nextBoolean();
            for (int slot : slots()) {
                if (random.nextDouble() < share) {
                    int code = alike ? same : CODES[random.nextInt(CODES.length)];
                    Absence cause = Absence.ofNvmlReturn(code);
                    frame.putAbsent(slot, cause, code);
                    if (!NOT_OFFERED.contains(cause)) {
                        unread.add(slot);
                    }
                }
            }
            GpuState state = FrameValidator.state(frame);
            boolean fault = state == GpuState.LOST || state == GpuState.RESET_REQUIRED;
            String where = "seed " + seed + ", walk " + walk + ", state " + state + ", unread " + unread;
            findings(with(frame, state)).forEach((id, finding) -> {
                String what = id + " " + finding.code() + ": " + where;
                if (finding.outcome() == Outcome.FAIL) {
                    assertThat(fault && id.equals("gpu-state")).as(what).isTrue();
                }
                if (finding.outcome() == Outcome.PASS) {
                    assertThat(judged.getOrDefault(id, Set.of()).stream().filter(unread::contains))
                            .as(what)
                            .isEmpty();
                    if (id.equals("gpu-state")) {
                        assertThat(slots().stream().anyMatch(frame::present) || unread.isEmpty())
                                .as(what)
                                .isTrue();
                    }
                }
            });
        }
    }
}
