package dev.gpuwarden.daemon.repair;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.child.ChildRun;
import dev.gpuwarden.checks.child.ProgramRunner;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.repair.RepairAttempt.Kind;
import dev.gpuwarden.daemon.repair.RepairAttempt.Outcome;
import dev.gpuwarden.daemon.reset.PersistenceRecord;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Random walks of decision, change and act: whatever changes between the two, no act is without its reason at its moment. The loop, its
 * steps and its record are the real ones; only programs and readings are the model's.
 *
 * <p>{@code -Dgpuwarden.server-repair.sequences=100000} runs more, {@code -Dgpuwarden.server-repair.seed} others.
 */
@Timeout(value = 2, unit = TimeUnit.HOURS)
class ServerRepairWalkTest {

    private static final int SEQUENCES = Integer.getInteger("gpuwarden.server-repair.sequences", 100);
    private static final int TURNS = 5;
    private static final long SEED = Long.getLong("gpuwarden.server-repair.seed", 1);
    private static final String REBOOT = "/sbin/reboot-of-the-test";
    private static final String HOOK = "/sbin/hook-of-the-test";
    private static final Set<String> HOOKS = Set.of("CONTACT_SUPPORT");

    /** In memory where that exists: each line of the record is synced. */
    private static final Path MEMORY = Path.of("/dev/shm");

    private final Logger repairs = Logger.getLogger("dev.gpuwarden.daemon.repair");
    private Path folder;

    private RepairWorld world = new RepairWorld(SEED);
    private final Map<String, Integer> acts = new HashMap<>();
    private final Set<String> running = new TreeSet<>();
    private final Map<Outcome, Integer> outcomes = new HashMap<>();
    private int gone;
    private RepairLog log;

    private ChildRun program(
            List<String> command, Path cwd, Map<String, String> environment, Duration longest, ChildRun.Stop stop) {
        ChildRun run = act(command);
        world.change();
        return run;
    }

    private ChildRun act(List<String> command) {
        switch (command.get(0)) {
            case "systemctl" -> {
                String unit = command.get(command.size() - 1);
                switch (command.get(1)) {
                    case "is-active" -> {
                        return RepairWorld.exit(0, running.contains(unit) ? "active\n" : "inactive\n");
                    }
                    case "stop" -> {
                        assertReason("stop");
                        running.remove(unit);
                        return RepairWorld.exit(world.random.nextInt(10) == 0 ? 1 : 0, "");
                    }
                    default -> {
                        running.add(unit);
                        return RepairWorld.exit(0, "");
                    }
                }
            }
            case "scontrol" -> {
                if (command.contains("State=DRAIN")) {
                    assertReason("drain");
                    world.drained = true;
                } else if (command.contains("State=RESUME")) {
                    world.drained = false;
                }
                return RepairWorld.exit(
                        0, world.drained ? "State=IDLE+DRAIN Reason=gpuwarden: x [root]" : "State=IDLE Reason=none");
            }
            case HOOK -> {
                assertReason("hook");
                return RepairWorld.exit(new int[] {0, 0, 3, 127}[world.random.nextInt(4)], "");
            }
            case REBOOT -> {
                assertReason("reboot");
                return RepairWorld.exit(new int[] {0, 0, 143, 127}[world.random.nextInt(4)], "");
            }
            default -> {
                return command.contains("gpu-reset") ? reset() : RepairWorld.exit(1, "no evidence");
            }
        }
    }

    private ChildRun reset() {
        assertReason("reset");
        return switch (world.random.nextInt(5)) {
            case 0 -> RepairWorld.exit(2, "");
            case 1 -> RepairWorld.exit(1, report(false, "unused", false));
            case 2 -> RepairWorld.exit(1, report(false, "verify", false));
            default -> RepairWorld.exit(0, report(true, "verify", true));
        };
    }

    private static String report(boolean success, String step, boolean done) {
        return "{\"success\": " + success + ", \"steps\": [{\"name\": \"" + step + "\", \"done\": " + done
                + ", \"detail\": \"seen\"}]}";
    }

    /** Fails if the attempt that is in progress has no reason at this moment. */
    private void assertReason(String act) {
        acts.merge(act, 1, Integer::sum);
        RepairAttempt attempt = log.unfinished().orElseThrow();
        Set<RecommendedAction> actions = switch (attempt.kind()) {
            case HOOK -> Set.of(RecommendedAction.CONTACT_SUPPORT);
            case RESET -> Set.of(RecommendedAction.COMPONENT_RESET);
            case REBOOT -> Set.of(RecommendedAction.COMPONENT_RESET, RecommendedAction.RESTART_BM);
        };
        assertThat(world.hasReason(attempt.subjects(), actions, attempt.kind() == Kind.RESET))
                .as("reason of the %s for %s", act, attempt)
                .isTrue();
        if (attempt.kind() == Kind.RESET) {
            assertThat(world.listed).as("of the %s", act).containsAll(attempt.subjects());
        }
        if (act.equals("reboot")) {
            assertThat(world.users).as("processes that hold a GPU").isEqualTo(Reading.of(Set.of()));
        }
    }

    @BeforeEach
    void begin() throws IOException {
        // A line for each of some hundred thousand acts.
        repairs.setLevel(Level.OFF);
        folder = Files.isWritable(MEMORY)
                ? Files.createTempDirectory(MEMORY, "gpuwarden-repair")
                : Files.createTempDirectory("gpuwarden-repair");
    }

    @AfterEach
    void end() throws IOException {
        repairs.setLevel(null);
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
    }

    private ServerRepairLoop loop() throws IOException {
        ProgramRunner programs = this::program;
        log = RepairLog.open(folder.resolve("repairs.jsonl"), world.clock);
        ServerRepairLoop.Setup setup = new ServerRepairLoop.Setup(
                true,
                new RepairRules(Duration.ofSeconds(1), 2, 40, true, HOOKS),
                "boot-" + world.boot,
                world.events,
                world::evidence,
                world::gpus,
                false,
                () -> world.incomplete);
        EvidenceRun evidence = new EvidenceRun(RepairProcess.child, List::of, folder, EvidenceRun.LONGEST, programs);
        ResetRun reset = new ResetRun(RepairProcess.child, Duration.ZERO, List::of, Optional.empty(), programs);
        RepairSteps.Server server = new RepairSteps.Server(
                reset,
                new RebootRun(List.of(REBOOT), Duration.ofSeconds(1), evidence, programs),
                () -> {
                    world.change();
                    world.runChecks();
                },
                new SystemUnits(List.of("one.service", "two.service"), programs),
                Optional.of(new SlurmNode("node", programs)),
                Duration.ofMinutes(1),
                Optional.of(new HookRun(List.of(HOOK), Duration.ofSeconds(1), true, programs)),
                Optional.of(() -> world.users),
                time -> world.change());
        LeftPersistence left = new LeftPersistence(folder, new PersistenceRecord(folder, "boot"), reset, world.clock);
        return new ServerRepairLoop(setup, server, left, log, world.clock, world.clock);
    }

    /** Notes for the model when the last reset or hook of each GPU ended, from the audit. */
    private void note() {
        for (RepairAttempt attempt : log.attempts()) {
            attempt.done(RepairAttempt.RESET)
                    .or(() -> attempt.done(RepairAttempt.HOOK))
                    .ifPresent(step -> attempt.subjects()
                            .forEach(subject -> world.resets.merge(
                                    subject, step.at(), (one, other) -> one.isAfter(other) ? one : other)));
        }
    }

    @Test
    void noActIsWithoutItsReasonAtItsMoment() throws Exception {
        for (int sequence = 0; sequence < SEQUENCES; sequence++) {
            world = new RepairWorld(SEED * 0x9E3779B97F4A7C15L + sequence);
            running.addAll(Set.of("one.service", "two.service"));
            Files.deleteIfExists(folder.resolve("repairs.jsonl"));
            walk();
        }
        assertThat(acts.keySet()).containsExactlyInAnyOrder("stop", "drain", "hook", "reboot", "reset");
        assertThat(outcomes.keySet()).containsExactlyInAnyOrder(Outcome.values());
        assertThat(gone).as("attempts whose reason went away in between").isPositive();
        System.out.println(SEQUENCES + " sequences: " + acts + " " + outcomes + ", reason gone in " + gone);
    }

    private void walk() throws IOException, InterruptedException {
        ServerRepairLoop loop = loop();
        for (int turn = 0; turn < TURNS; turn++) {
            for (int changes = world.random.nextInt(6); changes >= 0; changes--) {
                world.change();
            }
            world.clock.advance(Duration.ofMinutes(world.random.nextInt(200)));
            world.runChecks();
            loop.step();
            note();
            if (log.unfinished()
                    .filter(open -> open.done(RepairAttempt.REBOOT).isPresent())
                    .isPresent()) {
                world.boot++;
                loop = loop();
            }
        }
        for (RepairAttempt attempt : log.attempts()) {
            if (attempt.end().isPresent()) {
                outcomes.merge(attempt.end().get().outcome(), 1, Integer::sum);
                gone += attempt.end().get().detail().startsWith("before the ") ? 1 : 0;
                assertThat(attempt.stoppedUnits()).as("units of %s", attempt).isEmpty();
            }
        }
    }
}
