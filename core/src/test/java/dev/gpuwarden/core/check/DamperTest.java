package dev.gpuwarden.core.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.check.FaultChange.Kind;
import dev.gpuwarden.core.check.FaultChange.Meaning;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Subject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DamperTest {

    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
    private static final Subject GPU = gpu("0000:10:00", "GPU-a");
    private static final CheckInfo SURE = CheckInfo.of("gpu-state", "GPU", "Answers.");

    private final Damper damper = new Damper();
    private final List<String> told = new ArrayList<>();
    private Instant now = START;

    private static Subject gpu(String pci, String uuid) {
        return new Subject(uuid, List.of(new Entity(Entity.PCI, pci), Entity.gpu(uuid)));
    }

    private static Finding finding(char letter, Subject subject) {
        return switch (letter) {
            case 'P' -> Finding.pass("fine", subject, "fine");
            case 'W' -> Finding.warn("hot", subject, "warm", "");
            case 'F' -> Finding.fail("lost", subject, "lost", "", RecommendedAction.RESTART_BM);
            case 'H' -> Finding.fail("hot", subject, "hot", "", RecommendedAction.COMPONENT_RESET);
            case 'U' -> Finding.unknown("stale", subject, "stale", "");
            case 'S' -> Finding.skipped("none", subject, "none");
            default -> throw new IllegalArgumentException(String.valueOf(letter));
        };
    }

    private void look(CheckInfo check, Finding... findings) {
        damper.look(CheckResult.of(check, now, Duration.ZERO, List.of(findings)))
                .forEach(change ->
                        told.add(change.kind() + " " + change.meaning().code()));
        now = now.plus(check.every());
    }

    private void looks(CheckInfo check, String letters) {
        letters.chars().forEach(letter -> look(check, finding((char) letter, GPU)));
    }

    /** Runs of a check in order, and the parts between healthy and faulty after them. */
    @ParameterizedTest
    @CsvSource({
        "P, ''",
        "F, 'failing, 1 of 3'",
        "FF, 'failing, 2 of 3'",
        "FFF, ''",
        "FFFP, 'recovering, 1 of 4 passes'",
        "FFFPP, 'recovering, 2 of 4 passes'",
        "FFFPPU, 'recovering, 0 of 4 passes'",
        "FFFPPUP, 'recovering, 1 of 4 passes'",
        "FFFPPF, ''",
        "FFFPPPP, ''",
        "FFFPPPPFFFPPPP, 'held, since it came and went: over after 10 min of passes'"
    })
    void progressBetweenHealthyAndFaultyIsReported(String looks, String between) {
        looks(SURE.damped(3, 4), looks);
        assertThat(damper.damping().stream().map(Damping::text).toList())
                .isEqualTo(between.isEmpty() ? List.of() : List.of(between));
    }

    /** Runs in order, and the changes that each reports. */
    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "1, 2, P, ''",
                "1, 2, F, RAISED lost",
                "1, 2, FFFF, RAISED lost",
                "1, 2, FP, RAISED lost",
                "1, 2, FPP, RAISED lost/LIFTED lost",
                "1, 2, FPUP, RAISED lost",
                "1, 2, FPSP, RAISED lost",
                "1, 2, FPUPP, RAISED lost/LIFTED lost",
                "1, 1, FP, RAISED lost/LIFTED lost",
                "3, 2, FF, ''",
                "3, 2, FFPF, ''",
                "3, 2, FFUF, RAISED lost",
                "3, 2, FFSUF, RAISED lost",
                "3, 2, FWF, ''",
                "2, 2, WW, RAISED hot",
                "2, 2, WWHH, RAISED hot/CHANGED hot",
                "2, 2, WWHW, RAISED hot",
                "2, 2, WWFWF, RAISED hot",
                "2, 2, WWFF, RAISED hot/LIFTED hot/RAISED lost",
                "2, 2, UUUU, ''",
                "2, 2, SSSS, ''",
                "1, 3, FUUUU, RAISED lost",
            })
    void faultIsRaisedByConfirmationAndClearedByProof(int confirm, int proof, String looks, String expected) {
        looks(SURE.damped(confirm, proof), looks);
        assertThat(String.join("/", told)).isEqualTo(expected);
    }

    @Test
    void frequentRunsDoNotCountAgain() {
        CheckInfo damped = SURE.damped(3, 3);
        for (int i = 0; i < 20; i++) {
            look(damped, finding('F', GPU));
            now = START.plusMillis(i);
        }
        assertThat(told).isEmpty();
        looks(damped, "FFF");
        assertThat(told).containsExactly("RAISED lost");
    }

    @Test
    void flappingFaultIsHeldForTenHealthyMinutes() {
        looks(SURE, "FPPFPP"); // raised, lifted, raised: the fourth change would be a lift
        assertThat(told).containsExactly("RAISED lost", "LIFTED lost", "RAISED lost", "HELD lost");
        looks(SURE, "FPP".repeat(100));
        assertThat(told).hasSize(204).doesNotContainSequence("LIFTED lost", "CHANGED lost");
        looks(SURE, "P".repeat(37));
        assertThat(told).hasSize(204).endsWith("CHANGED lost", "HELD lost");
        looks(SURE, "PP");
        assertThat(told).hasSize(205).endsWith("LIFTED lost");
    }

    /** Receivers act on a fault that fails, and not on one that is held: each change between them is news, once. */
    @Test
    void heldFaultThatFailsAgainIsReported() {
        looks(SURE, "FPPFPP");
        assertThat(told).endsWith("HELD lost");
        looks(SURE, "F");
        assertThat(told).endsWith("HELD lost", "CHANGED lost");
        looks(SURE, "FFUFP");
        assertThat(told).endsWith("HELD lost", "CHANGED lost");
        looks(SURE, "PPPP");
        assertThat(told).endsWith("CHANGED lost", "HELD lost");
        looks(SURE, "H");
        assertThat(told).endsWith("HELD lost", "LIFTED lost", "RAISED hot");
    }

    @Test
    void restartKeepsAHeldFaultHeld() {
        damper.restore(SURE, GPU, new Meaning("lost", true, RecommendedAction.RESTART_BM), true);
        looks(SURE, "PPP");
        assertThat(told).isEmpty();
        looks(SURE, "F");
        assertThat(told).containsExactly("CHANGED lost");
        looks(SURE, "P".repeat(42));
        assertThat(told).containsExactly("CHANGED lost", "HELD lost", "LIFTED lost");
    }

    @Test
    void unknownRunRestartsTheTenMinutes() {
        looks(SURE, "FPPFPP" + "P".repeat(30) + "U" + "P".repeat(38));
        assertThat(told).endsWith("HELD lost");
        looks(SURE, "PPP");
        assertThat(told).endsWith("LIFTED lost");
    }

    @Test
    void slowChangesAreNotFlapping() {
        for (int i = 0; i < 5; i++) {
            looks(SURE, "FPP");
            now = now.plus(Duration.ofMinutes(11));
        }
        assertThat(told).hasSize(10).doesNotContain("HELD lost");
    }

    @Test
    void restartNeitherRepeatsNorClearsAFault() {
        damper.restore(SURE, GPU, new Meaning("lost", true, RecommendedAction.RESTART_BM), false);
        looks(SURE, "FFUP");
        assertThat(told).isEmpty();
        looks(SURE, "P");
        assertThat(told).containsExactly("LIFTED lost");
    }

    @Test
    void faultClearedElsewhereIsRaisedAgainIfItPersists() {
        looks(SURE, "F");
        damper.told().forEach(damper::forget);
        assertThat(damper.told()).isEmpty();
        looks(SURE, "F");
        assertThat(told).containsExactly("RAISED lost", "RAISED lost");
    }

    @Test
    void partWithoutFindingKeepsItsFault() {
        Subject other = gpu("0000:20:00", "GPU-b");
        look(SURE, finding('F', GPU), finding('P', other));
        for (int i = 0; i < 100; i++) {
            look(SURE, finding('P', other));
        }
        assertThat(told).containsExactly("RAISED lost");
    }

    @Test
    void replacementInTheSlotClearsTheFault() {
        look(SURE, finding('F', GPU));
        Subject replacement = gpu("0000:10:00", "GPU-new");
        look(SURE, finding('P', replacement));
        look(SURE, finding('P', replacement));
        assertThat(told).containsExactly("RAISED lost", "LIFTED lost");
    }

    @Test
    void movedGpuKeepsItsProof() {
        look(SURE, finding('F', GPU));
        Subject moved = gpu("0000:90:00", "GPU-a");
        look(SURE, finding('P', moved));
        look(SURE, finding('P', moved));
        assertThat(told).containsExactly("RAISED lost", "LIFTED lost");
    }

    @Test
    void nodePassClearsFaultsWithoutFindings() {
        look(SURE, finding('F', GPU));
        look(SURE, finding('P', Subject.NODE), finding('U', gpu("0000:20:00", "GPU-b")));
        look(SURE, finding('P', Subject.NODE), finding('W', gpu("0000:20:00", "GPU-b")));
        assertThat(told).containsExactly("RAISED lost", "RAISED hot");
        told.clear();
        look(SURE, finding('P', Subject.NODE));
        look(SURE, finding('P', Subject.NODE));
        assertThat(told).containsExactlyInAnyOrder("LIFTED lost", "LIFTED hot");
    }

    @Test
    void unnamedGpuIsHealthyWhenAllNamedOnesAre() {
        Subject anonymous = new Subject("GPU 0", List.of(Entity.gpuIndex(0)));
        look(SURE, finding('F', anonymous));
        look(SURE, finding('P', GPU), finding('F', gpu("0000:20:00", "GPU-b")));
        look(SURE, finding('P', GPU), finding('F', gpu("0000:20:00", "GPU-b")));
        assertThat(told).containsExactly("RAISED lost", "RAISED lost");
        told.clear();
        look(SURE, finding('P', GPU), finding('P', gpu("0000:20:00", "GPU-b")));
        look(SURE, finding('P', GPU), finding('P', gpu("0000:20:00", "GPU-b")));
        assertThat(told).containsExactlyInAnyOrder("LIFTED lost", "LIFTED lost");
    }

    @Test
    void checksDoNotMixUp() {
        look(SURE, finding('F', GPU));
        CheckInfo other = CheckInfo.of("gpu-ecc", "GPU", "Memory.");
        looks(other, "PPPP");
        assertThat(told).containsExactly("RAISED lost");
    }

    @Test
    void partsAreBounded() {
        CheckInfo damped = SURE.damped(2, 2);
        for (int i = 0; i < 2 * Damper.MOST_PARTS; i++) {
            look(damped, finding('F', Subject.of(new Entity("NIC", "nic" + i))));
        }
        look(damped, finding('F', Subject.of(new Entity("NIC", "nic0"))));
        look(damped, finding('F', Subject.of(new Entity("NIC", "nic9999"))));
        look(damped, finding('F', Subject.of(new Entity("NIC", "nic9999"))));
        assertThat(told).containsExactly("RAISED lost");
    }

    /** Random runs: no fault without confirmation, none cleared without proof, and faults are as reported. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void invariantsHoldForRandomRuns(long seed) {
        Random random = new Random(seed);
        CheckInfo check = SURE.damped(1 + random.nextInt(3), 1 + random.nextInt(3));
        List<Subject> subjects = List.of(GPU, gpu("0000:20:00", "GPU-b"), gpu("0000:30:00", "GPU-c"));
        Map<Subject, String> history = new HashMap<>();
        Map<Subject, Meaning> faults = new HashMap<>();
        for (int i = 0; i < 20_000; i++) {
            List<Finding> findings = new ArrayList<>();
            for (Subject subject : subjects) {
                if (random.nextInt(10) > 0) {
                    char letter = "PPPPPFFFWHUS".charAt(random.nextInt(12));
                    findings.add(finding(letter, subject));
                    history.merge(subject, String.valueOf(letter), String::concat);
                } else {
                    history.merge(subject, "-", String::concat);
                }
            }
            CheckResult result = CheckResult.of(check, now, Duration.ZERO, findings);
            for (FaultChange change : damper.look(result)) {
                String looks = history.get(change.subject());
                Meaning before = faults.get(change.subject());
                switch (change.kind()) {
                    case RAISED, CHANGED -> {
                        assertThat(confirmed(looks, change.meaning(), check.confirm()))
                                .as(looks)
                                .isTrue();
                        assertThat(before == null).as(looks).isEqualTo(change.kind() == Kind.RAISED);
                        faults.put(change.subject(), change.meaning());
                    }
                    case HELD -> assertThat(before).isEqualTo(change.meaning());
                    case LIFTED -> {
                        assertThat(before).isEqualTo(change.meaning());
                        boolean replaced = change.finding().outcome() != Outcome.PASS;
                        assertThat(replaced || looks.endsWith("P".repeat(check.proof())))
                                .as(looks)
                                .isTrue();
                        faults.remove(change.subject());
                    }
                }
            }
            now = now.plus(check.every());
        }
        assertThat(history.values().stream().collect(Collectors.joining())).contains("F", "P", "U");
    }

    /** Returns whether the last runs with a result all had this meaning, so many in a row. */
    private static boolean confirmed(String looks, Meaning meaning, int confirm) {
        int bad = 0;
        for (int i = looks.length() - 1; i >= 0 && bad < confirm; i--) {
            char letter = looks.charAt(i);
            if (letter == 'U' || letter == 'S' || letter == '-') {
                continue;
            }
            if (letter == 'P' || !Meaning.of(finding(letter, GPU)).equals(meaning)) {
                return false;
            }
            bad++;
        }
        return bad >= confirm;
    }
}
