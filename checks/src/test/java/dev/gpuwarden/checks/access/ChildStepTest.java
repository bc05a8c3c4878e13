package dev.gpuwarden.checks.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.checks.CheckContexts;
import dev.gpuwarden.checks.access.ChildStep.NewRate;
import dev.gpuwarden.checks.child.ChildRun;
import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.check.RateHistory.Series;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The lines between the daemon and the child process of a check: each arrives as it was, or not at all. */
class ChildStepTest {

    private static final String GPU = "GPU-1";
    private static final Subject SUBJECT = new Subject("GPU 0", List.of(Entity.gpu(GPU)));
    private static final Finding FAULT = new Finding(
            Outcome.FAIL,
            "wrong-result",
            SUBJECT,
            "GPU 0: \u001b[31m wrong\n\u00e9",
            "replace it",
            RecommendedAction.RUN_FIELDDIAG,
            List.of(new Measurement("rate", 1.5, "at least 2")));
    private static final ChildStep STEP = new ChildStep(
            "gpumem",
            List.of(FAULT),
            Map.of("at cuda", Optional.of(7L), "gone", Optional.empty()),
            Map.of(GPU + " wrong", Optional.of(1L)),
            List.of(new NewRate(GPU, "DAXPY GB/s", "driver 580", 240.1)),
            false);

    private static CheckContext context() {
        Path none = Path.of("/nonexistent");
        return CheckContexts.context(
                new NodeSnapshot(new DriverState.Opening(), Reading.of(List.of()), List.of()),
                NodePaths.of(none, none, none),
                Limits.NONE);
    }

    @Test
    void stateAndStepsArriveAsTheyWere() throws IOException {
        assertThat(ChildStep.parse("gpumem", STEP.json())).isEqualTo(STEP);
        assertThat(STEP.json()).doesNotContain("\n");
        KeptState state = new KeptState(
                Map.of("a", Long.MIN_VALUE),
                Map.of("b", 2L),
                Optional.of("the node started"),
                List.of(new Series(GPU, "DGEMM TFLOP/s", "driver 580", List.of(0.1, 120.0))));
        assertThat(KeptState.parse(state.json())).isEqualTo(state);
        KeptState empty = new KeptState(Map.of(), Map.of(), Optional.empty(), List.of());
        assertThat(KeptState.parse(empty.json())).isEqualTo(empty);
    }

    @Test
    void valueThatIsNoNumberCostsItselfAlone() throws IOException {
        Finding odd = Finding.unknown("odd", SUBJECT, "odd", "");
        Finding withNan = new Finding(
                odd.outcome(),
                odd.code(),
                odd.subject(),
                odd.message(),
                "",
                odd.action(),
                List.of(new Measurement("rate", Double.NaN, "")));
        ChildStep step = new ChildStep("gpumem", List.of(withNan), Map.of(), Map.of(), List.of(), true);
        assertThat(ChildStep.parse("gpumem", step.json()).findings()).containsExactly(odd);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "[]",
                "null",
                "{}",
                "{\"check\":\"gpu-results\",\"findings\":[],\"notes\":{},\"bootNotes\":{},\"rates\":[],\"last\":true}",
                "{\"check\":\"gpumem\",\"findings\":[],\"notes\":{\"a\":1.5},\"bootNotes\":{},\"rates\":[],\"last\":true}",
                "{\"check\":\"gpumem\",\"findings\":[],\"notes\":{\"a\":true},\"bootNotes\":{},\"rates\":[],\"last\":true}",
                "{\"check\":\"gpumem\",\"findings\":[],\"notes\":{\"\\t\":1},\"bootNotes\":{},\"rates\":[],\"last\":true}",
                "{\"check\":\"gpumem\",\"findings\":[],\"notes\":{\"a\":9007199254740993},\"bootNotes\":{},\"rates\":[]}",
                "{\"check\":\"gpumem\",\"findings\":[],\"notes\":{},\"bootNotes\":[],\"rates\":[],\"last\":true}",
                "{\"check\":\"gpumem\",\"findings\":[],\"notes\":{},\"bootNotes\":{},\"rates\":[7],\"last\":true}",
                "{\"check\":\"gpumem\",\"findings\":[{}],\"notes\":{},\"bootNotes\":{},\"rates\":[],\"last\":true}",
                "{\"check\":\"gpumem\",\"check\":\"gpumem\",\"findings\":[],\"notes\":{},\"bootNotes\":{},\"rates\":[]}",
            })
    void lineOfAnotherFormIsRefused(String line) {
        assertThatThrownBy(() -> ChildStep.parse("gpumem", line)).isInstanceOf(IOException.class);
    }

    @Test
    void aStepKeepsNoMoreThanACheckMay() {
        CheckContext context = context();
        for (int i = 0; i < 3; i++) {
            Map<String, Optional<Long>> many = new HashMap<>();
            for (int note = 0; note < 1000; note++) {
                many.put(i + " " + note, Optional.of(1L));
            }
            new ChildStep("gpumem", List.of(), many, Map.of(), List.of(), false).keep(context, List.of(GPU));
        }
        assertThat(context.notes()).hasSize(1024);
        context.notes().put("gone", 1L);
        STEP.keep(context, List.of("another GPU"));
        assertThat(context.notes()).doesNotContainKey("gone");
        assertThat(context.bootNotes()).containsExactly(Map.entry(GPU + " wrong", 1L));
    }

    /** A child that wrote this and then ended in any way, and the answer of which the daemon keeps a part. */
    private static ChildCheck.Answer answer(ChildRun.End end, String out) throws InterruptedException {
        ChildCheck child = new ChildCheck(List::of, (command, folder, environment, timeout, stop) -> {
            Path state = Path.of(command.stream()
                    .filter(word -> word.startsWith(ChildCheck.OPTION + "="))
                    .findFirst()
                    .orElseThrow()
                    .substring(ChildCheck.OPTION.length() + 1));
            assertThat(state).exists();
            assertThat(permissions(state)).isEqualTo("rw-------");
            return new ChildRun(end, out, "");
        });
        KeptState none = new KeptState(Map.of(), Map.of(), Optional.empty(), List.of());
        return child.run("gpumem", List.of(GPU), none, Duration.ofSeconds(1), () -> false);
    }

    /** A library that prints, and whose buffer ends within a line, changes no report. */
    @Test
    void textOfLibrariesIsNoPartOfTheReports() throws InterruptedException {
        String program = "echo NCCL version 2.18; printf '%s\\n' \"$1\" >" + ChildCheck.REPORTS
                + "; printf 'half of a line'; printf '%s\\n' \"$2\" >" + ChildCheck.REPORTS + "; echo; echo '{}'";
        ChildStep last = new ChildStep("gpumem", List.of(FAULT), Map.of(), Map.of(), List.of(), true);
        ChildCheck child = new ChildCheck(List::of, (command, folder, environment, timeout, stop) -> {
            List<String> run = new ArrayList<>(command.subList(0, 4));
            run.addAll(List.of("/bin/sh", "-c", program, "child", STEP.json(), last.json()));
            return ChildRun.of(run, folder, environment, timeout, stop);
        });
        KeptState none = new KeptState(Map.of(), Map.of(), Optional.empty(), List.of());
        ChildCheck.Answer answer = child.run("gpumem", List.of(GPU), none, Duration.ofSeconds(30), () -> false);
        assertThat(answer.steps()).containsExactly(STEP, last);
        assertThat(answer.result().asOptional()).contains(List.of(FAULT));
    }

    private static String permissions(Path file) {
        try {
            return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void proofsStandAfterEachEnd() throws InterruptedException {
        String proof = STEP.json() + "\n";
        String last = new ChildStep("gpumem", List.of(), Map.of(), Map.of(), List.of(), true).json() + "\n";
        ChildRun.End killed = new ChildRun.End.CutOff("was killed");
        ChildRun.End ended = new ChildRun.End.Exited(0);
        assertThat(answer(killed, proof + proof.substring(0, 40)).steps()).containsExactly(STEP);
        assertThat(answer(killed, proof + last).result().asOptional()).isEmpty();
        assertThat(answer(ended, proof).result().asOptional()).isEmpty();
        assertThat(answer(ended, proof + last).result().asOptional()).isPresent();
        assertThat(answer(ended, proof + last + last).result().asOptional()).isEmpty();
        assertThat(answer(ended, proof + "garbage\n" + last).steps()).containsExactly(STEP);
        assertThat(answer(ended, proof + "garbage\n" + last).result().asOptional())
                .isEmpty();
        assertThat(answer(new ChildRun.End.Exited(134), proof + last).result())
                .isInstanceOfSatisfying(
                        Reading.Absent.class, crash -> assertThat(crash.code()).isEqualTo(134));
    }

    /** -Dgpuwarden.answers=1000000 for more. */
    @Test
    void damagedAnswersAreTakenAsAWholeOrNotAtAll() {
        Random random = new Random(11);
        char[] whole = STEP.json().toCharArray();
        List<String> taken = new ArrayList<>();
        int rounds = Integer.getInteger("gpuwarden.answers", 20_000);
        for (int round = 0; round < rounds; round++) {
            char[] damaged = whole.clone();
            for (int i = random.nextInt(4); i >= 0; i--) {
                damaged[random.nextInt(damaged.length)] = (char) (32 + random.nextInt(95));
            }
            String line =
                    new String(damaged, 0, random.nextInt(4) == 0 ? random.nextInt(damaged.length) : damaged.length);
            try {
                ChildStep step = ChildStep.parse("gpumem", line);
                CheckContext context = context();
                step.keep(context, List.of(GPU));
                assertThat(context.notes().size()).isLessThanOrEqualTo(2);
                taken.add(line);
            } catch (IOException e) {
                // Refused as a whole.
            }
        }
        assertThat(taken.size()).isLessThan(rounds);
    }
}
