package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.checks.InMemoryEvents;
import dev.gpuwarden.checks.child.ChildRun;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.Damper;
import dev.gpuwarden.core.check.FindingEvents;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.ResetUnits;
import dev.gpuwarden.testkit.TestClock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;

/**
 * A server of three GPUs that changes at random: faults begin, end and are held, GPUs vanish, processes begin, and readings are withheld.
 * GPUs 0 and 1 are one reset unit. It has its own record of what is bad, and asks no class of the repair.
 */
final class RepairWorld {

    static final List<String> GPUS = List.of(uuid(0), uuid(1), uuid(2));
    private static final String FOREIGN = uuid(9);
    private static final List<RecommendedAction> ACTIONS =
            List.of(RecommendedAction.COMPONENT_RESET, RecommendedAction.RESTART_BM, RecommendedAction.CONTACT_SUPPORT);

    /** The state of a part to its check. */
    private static final class Part {
        private final Subject subject;
        private final RecommendedAction action;
        /** F fail, P pass, U unknown, S skipped, a dash for no finding. */
        private char reading = 'P';
        /** The last F or P. */
        private char decided = 'P';

        private Instant at = Instant.EPOCH;

        Part(Subject subject, RecommendedAction action) {
            this.subject = subject;
            this.action = action;
        }
    }

    final TestClock clock = new TestClock();
    final InMemoryEvents events = new InMemoryEvents();
    final Random random;
    final Set<String> listed = new TreeSet<>(GPUS);
    final Map<String, Instant> resets = new HashMap<>();
    Optional<String> incomplete = Optional.empty();
    Reading<Set<Integer>> users = Reading.of(Set.of());
    boolean drained;
    int boot;

    private final Damper damper = new Damper();
    private final List<CheckInfo> checks = new ArrayList<>();
    private final Map<CheckInfo, List<Part>> parts = new HashMap<>();
    private final Map<CheckInfo, CheckResult> results = new HashMap<>();
    /** Faults of the kernel log: GPU and action. */
    private final Map<List<String>, RecommendedAction> xids = new HashMap<>();

    RepairWorld(long seed) {
        random = new Random(seed);
        CheckInfo state = CheckInfo.of("gpu-state", "GPU", "Each GPU answers.");
        CheckInfo driver = CheckInfo.of("driver", "NODE", "The driver answers.");
        List<Part> gpus = new ArrayList<>();
        for (int gpu = 0; gpu < GPUS.size(); gpu++) {
            gpus.add(new Part(Subject.of(Entity.gpu(GPUS.get(gpu))), ACTIONS.get(gpu % 2)));
        }
        parts.put(state, gpus);
        parts.put(driver, List.of(new Part(Subject.NODE, RecommendedAction.RESTART_BM)));
        checks.addAll(List.of(state, driver));
        checks.forEach(this::run);
    }

    static String uuid(int gpu) {
        return "GPU-00000000-0000-0000-0000-00000000000" + gpu;
    }

    static Set<String> unit(String uuid) {
        return uuid.equals(uuid(2)) ? Set.of(uuid) : Set.of(uuid(0), uuid(1));
    }

    ServerGpus gpus() {
        Map<String, Set<String>> units = new HashMap<>();
        listed.forEach(gpu -> units.put(gpu, unit(gpu)));
        return new ServerGpus(listed, Set.copyOf(GPUS), Set.of(), new ResetUnits(units));
    }

    FaultEvidence evidence() {
        return new FaultEvidence(damper.damping(), List.copyOf(results.values()));
    }

    private void run(CheckInfo check) {
        List<Finding> findings = new ArrayList<>();
        for (Part part : parts.getOrDefault(check, List.of())) {
            part.at = clock.instant();
            part.decided = part.reading == 'F' || part.reading == 'P' ? part.reading : part.decided;
            switch (part.reading) {
                case 'F' -> findings.add(Finding.fail("bad", part.subject, "", "", part.action));
                case 'P' -> findings.add(Finding.pass("ok", part.subject, ""));
                case 'U' -> findings.add(Finding.unknown("deadline", part.subject, "", ""));
                case 'S' -> findings.add(Finding.skipped("gpu-held", part.subject, ""));
                default -> {}
            }
        }
        CheckResult result = CheckResult.of(check, clock.instant(), Duration.ZERO, findings);
        results.put(check, result);
        damper.look(result)
                .forEach(change -> events.accept(List.of(FindingEvents.of(change, "node")), Optional.empty()));
    }

    void runChecks() {
        checks.forEach(this::run);
    }

    /** Changes something, or nothing. */
    void change() {
        clock.advance(Duration.ofSeconds(random.nextInt(20)));
        switch (random.nextInt(12)) {
            case 0, 1, 2, 3 -> {
                CheckInfo check = checks.get(random.nextInt(checks.size()));
                List<Part> all = parts.getOrDefault(check, List.of());
                all.get(random.nextInt(all.size())).reading = "FFFFPPUS-".charAt(random.nextInt(9));
                run(check);
            }
            case 4, 5 -> xid();
            case 6 -> {
                String gpu = GPUS.get(random.nextInt(GPUS.size()));
                if (!listed.remove(gpu) || random.nextBoolean()) {
                    listed.add(gpu);
                }
            }
            case 7 -> incomplete = random.nextInt(3) == 0 ? Optional.of("the record is short") : Optional.empty();
            case 8 ->
                users = switch (random.nextInt(4)) {
                    case 0 -> Reading.of(Set.of(7));
                    case 1 -> Reading.absent(Absence.NO_PERMISSION, 0, "no /proc of others");
                    default -> Reading.of(Set.of());
                };
            default -> {}
        }
    }

    /** Raises or ends a fault of the kernel log. */
    private void xid() {
        String gpu = random.nextInt(5) == 0 ? FOREIGN : GPUS.get(random.nextInt(GPUS.size()));
        RecommendedAction action = ACTIONS.get(random.nextInt(ACTIONS.size()));
        List<String> key = List.of(gpu, action.name());
        boolean begins = random.nextInt(3) > 0;
        if (begins) {
            xids.put(key, action);
        } else {
            xids.remove(key);
        }
        events.accept(
                List.of(HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                        .nodeName("node")
                        .healthy(!begins)
                        .fatal(begins)
                        .action(begins ? action : RecommendedAction.NONE)
                        .errorCodes(List.of(action.name()))
                        .entities(List.of(Entity.gpu(gpu)))
                        .build()),
                Optional.empty());
    }

    /** Returns whether an act for these subjects, by one of these actions, has a reason now. */
    boolean hasReason(Set<String> subjects, Set<RecommendedAction> actions, boolean wholeUnit) {
        if (incomplete.isPresent()) {
            return false;
        }
        for (Map.Entry<List<String>, RecommendedAction> xid : xids.entrySet()) {
            String gpu = xid.getKey().get(0);
            if (GPUS.contains(gpu) && actions.contains(xid.getValue()) && covers(subjects, gpu, wholeUnit)) {
                return true;
            }
        }
        for (Map.Entry<CheckInfo, List<Part>> check : parts.entrySet()) {
            for (Part part : check.getValue()) {
                boolean bad = part.decided == 'F' && (part.reading == 'F' || part.reading == 'S');
                String name = part.subject.entities().isEmpty()
                        ? check.getKey().eventName()
                        : part.subject.entities().get(0).value();
                boolean old = part.at.isBefore(resets.getOrDefault(name, Instant.MIN));
                if (bad && !old && actions.contains(part.action) && covers(subjects, name, wholeUnit)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean covers(Set<String> subjects, String name, boolean wholeUnit) {
        return wholeUnit ? subjects.equals(unit(name)) : subjects.contains(name);
    }

    static ChildRun exit(int code, String out) {
        return new ChildRun(new ChildRun.End.Exited(code), out, "");
    }
}
