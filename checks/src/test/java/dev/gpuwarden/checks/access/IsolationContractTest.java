package dev.gpuwarden.checks.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.CheckContexts;
import dev.gpuwarden.checks.CheckEnvironment;
import dev.gpuwarden.checks.CheckPlan;
import dev.gpuwarden.checks.CheckRunner;
import dev.gpuwarden.checks.InMemoryEvents;
import dev.gpuwarden.checks.LastingState;
import dev.gpuwarden.checks.child.ChildRun;
import dev.gpuwarden.checks.child.ChildRun.End.CutOff;
import dev.gpuwarden.checks.child.ChildRun.End.Exited;
import dev.gpuwarden.checks.child.ProgramRunner;
import dev.gpuwarden.checks.gpu.GpuResultsCheck;
import dev.gpuwarden.checks.history.RateFile;
import dev.gpuwarden.core.check.BoardLimits;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.GpuAccess;
import dev.gpuwarden.core.check.GpuAccess.Grant;
import dev.gpuwarden.core.check.GpuAccess.OpenGrant;
import dev.gpuwarden.core.check.GpuAccess.Refusal;
import dev.gpuwarden.core.check.GpuLoad;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.check.RateHistory;
import dev.gpuwarden.core.check.RunListener;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The contract of every check with a load on GPUs: several runs in the daemon's process and several runs in child processes have the same
 * verdicts. The child's side runs in this process, with nothing of the daemon's but what passes between the two.
 */
class IsolationContractTest {

    private static final String NODE = """
            driver: 550
            gpus: [{profile: l4, count: 2}]
            """;

    private static final Map<String, List<String>> KNOWN = Map.of(
            "gpumem", wrongTwice("gpu-memory-good"),
            "gpu-results", wrongTwice("gpu-results-right"),
            "nccl-loopback", List.of("GPU 0 PASS nccl-loopback-good", "GPU 1 PASS nccl-loopback-good"));

    @TempDir
    Path folder;

    private static List<String> wrongTwice(String good) {
        return List.of(
                "GPU 0 PASS " + good, "GPU 1 WARN wrong-result-once", "GPU 0 PASS " + good, "GPU 1 FAIL wrong-result");
    }

    static List<HealthCheck> checks() {
        return ServiceLoader.load(HealthCheck.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(check -> check.load() != GpuLoad.NONE)
                .toList();
    }

    private SimulatedNode start() throws IOException {
        return SimulatedNode.start(
                Files.writeString(folder.resolve("node.yaml"), NODE).toString());
    }

    private static CheckEnvironment environment(SimulatedNode node, RateHistory rates) {
        return CheckContexts.environment(
                node, CheckContexts.snapshot(node), BoardLimits.shipped(), rates, GpuAccess.OPEN);
    }

    /** Runs the child's side of the command line with an environment without notes. */
    private static ProgramRunner children(HealthCheck check, SimulatedNode node) {
        return (command, cwd, variables, timeout, stop) -> {
            String option = command.stream()
                    .filter(word -> word.startsWith(ChildCheck.OPTION))
                    .findFirst()
                    .orElseThrow();
            StringBuilder out = new StringBuilder();
            try {
                ChildReport report = ChildReport.of(
                        check.info().id(),
                        Path.of(option.substring(ChildCheck.OPTION.length() + 1)),
                        environment(node, RateHistory.NONE),
                        line -> out.append(line).append('\n'));
                report.end(run(check, report.environment()));
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
            return new ChildRun(new ChildRun.End.Exited(0), out.toString(), "");
        };
    }

    private static CheckResult run(HealthCheck check, CheckEnvironment around) {
        return CheckRunner.once(CheckPlan.of(List.of(check)), around, RunListener.NONE)
                .get(0);
    }

    private static HealthCheck isolated(HealthCheck check, SimulatedNode node, Isolation.Mode mode) {
        return isolated(check, mode, children(check, node), new InMemoryEvents());
    }

    private static HealthCheck isolated(
            HealthCheck check, Isolation.Mode mode, ProgramRunner children, InMemoryEvents events) {
        return new IsolatedCheck(
                check,
                new Isolation(mode, () -> false, () -> Reading.absent(Absence.NO_DATA)),
                new ChildCheck(List::of, children),
                new CrashedChecks(events, events, "node-1", Clock.systemUTC()));
    }

    private static String judged(Finding finding) {
        return finding.subject().label().substring(0, 5) + " " + finding.outcome() + " " + finding.code();
    }

    /** Returns the verdicts of some runs; in each of them GPU 1 computes wrong once. */
    private List<String> verdicts(HealthCheck check, Isolation.Mode mode, int runs) throws IOException {
        try (SimulatedNode node = start()) {
            CheckEnvironment around = environment(node, RateFile.open(Optional.empty()));
            HealthCheck isolated = isolated(check, node, mode);
            List<String> verdicts = new ArrayList<>();
            for (int run = 0; run < runs; run++) {
                node.set("gpu.1.cuda.wrong.pattern", "bit");
                node.set("gpu.1.cuda.wrong.times", "1");
                node.set("gpu.1.cuda.wrong.kernel", check.info().id().equals("gpumem") ? "daxpy" : "wmma_product");
                run(isolated, around).findings().forEach(finding -> verdicts.add(judged(finding)));
            }
            return verdicts;
        }
    }

    /** The verdicts of the daemon's process are known for the checks that take long, and determined for each other one. */
    @ParameterizedTest
    @MethodSource("checks")
    void childAndProcessHaveTheSameVerdictsOverSeveralRuns(HealthCheck check) throws IOException {
        List<String> known = KNOWN.getOrDefault(check.info().id(), List.of());
        int runs = known.isEmpty() ? 2 : known.size() / 2;
        List<String> process = known.isEmpty() ? verdicts(check, Isolation.Mode.process, runs) : known;
        assertThat(verdicts(check, Isolation.Mode.child, runs)).isEqualTo(process);
    }

    /** A check that keeps something of each kind. */
    private static final class Rememberer implements HealthCheck {

        @Override
        public CheckInfo info() {
            return CheckInfo.of("remembers", "GPU", "Remembers.").every(Duration.ofHours(1));
        }

        @Override
        public GpuLoad load() {
            return GpuLoad.INVASIVE;
        }

        @Override
        public List<Finding> run(CheckContext context) {
            List<Finding> findings = new ArrayList<>();
            context.node().gpus().forEach(gpu -> {
                String uuid = gpu.identity().selector();
                long runs = context.notes().merge(uuid + " runs", 1L, Long::sum);
                long boot = context.bootNotes().merge(uuid + " runs", 2L, Long::sum);
                boolean seen = LastingState.isSeen(context.notes(), uuid);
                if (seen) {
                    LastingState.over(context.notes(), uuid);
                } else {
                    var unused = LastingState.seen(context.notes(), uuid, context.now(), info().every());
                }
                List<Double> earlier = context.rates().earlier(uuid, "work", "settings");
                context.rates().keep(uuid, "work", "settings", runs);
                Subject subject = Subject.of(gpu.identity());
                String text = runs + " " + boot + " " + seen + " " + earlier + " " + context.young();
                context.proven(Finding.warn("proven", subject, "proven", ""));
                findings.add(
                        runs < 3
                                ? Finding.pass("kept", subject, text)
                                : Finding.fail("kept", subject, text, "", RecommendedAction.NONE));
            });
            return findings;
        }
    }

    private List<String> texts(Isolation.Mode mode) throws IOException {
        try (SimulatedNode node = start()) {
            CheckEnvironment around = environment(node, RateFile.open(Optional.empty()));
            HealthCheck isolated = isolated(new Rememberer(), node, mode);
            List<String> texts = new ArrayList<>();
            for (int run = 0; run < 3; run++) {
                run(isolated, around)
                        .findings()
                        .forEach(finding -> texts.add(finding.outcome() + " "
                                + finding.message().replace(" (in a child process: --check.isolation=child)", "")));
            }
            return texts;
        }
    }

    @Test
    void everythingThatACheckKeepsSurvivesTheChild() throws IOException {
        List<String> process = texts(Isolation.Mode.process);
        assertThat(process)
                .containsExactly(
                        "WARN proven",
                        "WARN proven",
                        "WARN proven",
                        "WARN proven",
                        "FAIL 3 6 false [1.0, 2.0] Optional.empty; proven",
                        "FAIL 3 6 false [1.0, 2.0] Optional.empty; proven");
        assertThat(texts(Isolation.Mode.child)).isEqualTo(process);
    }

    /** A pod takes a GPU during the first child, and the second one crashes on the other GPU alone. */
    @Test
    void crashIsOfTheGpusOfTheLastChild() throws IOException {
        AtomicInteger children = new AtomicInteger();
        Refusal held = new Refusal("gpu-held", "a pod has it");
        GpuAccess access = (check, load, gpus) -> List.of(
                new Grant() {
                    @Override
                    public Optional<Refusal> withdrawn() {
                        return children.get() == 0 ? Optional.empty() : Optional.of(held);
                    }

                    @Override
                    public void close() {}
                },
                new OpenGrant());
        InMemoryEvents events = new InMemoryEvents();
        try (SimulatedNode node = start()) {
            CheckEnvironment around = environment(node, RateHistory.NONE);
            HealthCheck isolated = isolated(
                    new GpuResultsCheck(),
                    Isolation.Mode.child,
                    (command, cwd, variables, timeout, stop) -> new ChildRun(
                            children.incrementAndGet() == 1 ? new CutOff("was stopped") : new Exited(134), "", ""),
                    events);
            assertThat(run(isolated, around.with(around.sources().with(GpuAccess.class, () -> Reading.of(access))))
                            .findings())
                    .extracting(Finding::code)
                    .containsExactly("gpu-held", "child-crashed");
        }
        assertThat(events.faults()).hasSize(1);
    }

    /** An input that a child process cannot have is refused in each process, so that a new check does not come to rely on it. */
    @Test
    void aCheckWithALoadCannotRelyOnWhatAChildHasNot() throws IOException {
        HealthCheck relies = new HealthCheck() {
            @Override
            public CheckInfo info() {
                return CheckInfo.of("relies", "GPU", "Relies.");
            }

            @Override
            public GpuLoad load() {
                return GpuLoad.LIGHT;
            }

            @Override
            public List<Finding> run(CheckContext context) {
                var unused = context.increase("counter", 1, Duration.ofMinutes(1));
                return List.of();
            }
        };
        try (SimulatedNode node = start()) {
            CheckResult result = run(relies, environment(node, RateHistory.NONE));
            assertThat(result.findings()).extracting(Finding::code).containsExactly("check-failed");
            assertThat(result.findings().get(0).message()).contains("increases of counters");
        }
    }
}
