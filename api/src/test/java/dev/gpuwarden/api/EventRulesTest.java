package dev.gpuwarden.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Timestamp;
import dev.gpuwarden.api.EventRules.Judgement;
import dev.gpuwarden.api.EventRules.Refused;
import dev.gpuwarden.api.EventRules.Taken;
import dev.gpuwarden.api.datamodels.Entity;
import dev.gpuwarden.api.datamodels.HealthEvent;
import dev.gpuwarden.api.datamodels.HealthEvents;
import dev.gpuwarden.core.event.HealthEvent.EventLimits;
import dev.gpuwarden.core.event.Reporter;
import dev.gpuwarden.core.event.StoredEvent;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class EventRulesTest {

    private static final Instant NOW = Instant.parse("2026-11-21T10:00:00Z");
    private static final Reporter REPORTER = new Reporter("namespace ml", "pod ml/train-0, user 7");

    static Stream<Arguments> refusals() {
        return Stream.of(
                refusal("agent: empty", e -> e.setAgent(" ")),
                refusal("componentClass: empty", HealthEvent.Builder::clearComponentClass),
                refusal("checkName: empty", HealthEvent.Builder::clearCheckName),
                refusal("checkName: 257 bytes, at most 256", e -> e.setCheckName("x".repeat(257))),
                refusal("agent: 258 bytes, at most 256", e -> e.setAgent("ä".repeat(129))),
                refusal("agent: character 1 is U+001B, which cannot be printed", e -> e.setAgent("a\u001b[2J")),
                refusal("agent: character 0 is U+202E, which cannot be printed", e -> e.setAgent("\u202eevil")),
                refusal("checkName: character 1 is U+000A, which cannot be printed", e -> e.setCheckName("a\nb")),
                refusal("id: character 0 is U+0000, which cannot be printed", e -> e.setId("\0")),
                refusal("errorCode: 65, at most 64", e -> fill(65, i -> e.addErrorCode("c" + i))),
                refusal("entitiesImpacted: 65, at most 64", e -> fill(65, i -> e.addEntitiesImpacted(entity("v" + i)))),
                refusal(
                        "generatedTimestamp: outside of the years 1 to 9999",
                        e -> e.setGeneratedTimestamp(Timestamp.newBuilder().setNanos(-1))));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("refusals")
    void oneBadEventRefusesTheCallAndIsNamed(String why, Consumer<HealthEvent.Builder> change) {
        HealthEvent.Builder bad = event();
        change.accept(bad);
        Judgement judgement = judge(event(), bad);
        assertThat(judgement).isEqualTo(new Refused(false, "events[1]." + why));
    }

    @Test
    void anotherNodesNameIsAnotherKindOfRefusal() {
        assertThat(judge(event().setNodeName("node-2")))
                .isEqualTo(new Refused(true, "events[0].nodeName: another node's name; this is 'node-1'"));
    }

    @Test
    void noReporterUsesTheNameOfThisNodesChecks() {
        assertThat(judge(event().setAgent("gpuwarden")))
                .isEqualTo(new Refused(
                        true,
                        "events[0].agent: expected the reporter's own name, seen 'gpuwarden', the name of this node's own"
                                + " checks"));
    }

    @Test
    void theReporterIsWhatTheDaemonFoundAndNotWhatTheSenderClaims() {
        Taken taken = (Taken) judge(event().putMetadata("gpuwarden.dev/reporter", "user 0")
                .putMetadata("gpuwarden.dev/reporter-kind", "")
                .putMetadata("gpuwarden.dev/requested-by", "uid 0")
                .putMetadata("gpuwarden.dev/reason", "board replaced")
                .putMetadata("mine", "kept"));
        assertThat(taken.events().get(0).metadata())
                .isEqualTo(Map.of(
                        "gpuwarden.dev/reporter",
                        "pod ml/train-0, user 7",
                        "gpuwarden.dev/reporter-kind",
                        "namespace ml",
                        "mine",
                        "kept",
                        EventRules.METADATA_CUT,
                        "4"));
        assertThat(taken.events().get(0).keys().get(0).reporter()).isEqualTo("namespace ml");
    }

    @Test
    void tooManyEventsAreRefusedBeforeTheyAreRead() {
        HealthEvents.Builder call = HealthEvents.newBuilder();
        fill(1001, i -> call.addEvents(HealthEvent.getDefaultInstance()));
        assertThat(EventRules.judge(call.build(), "node-1", REPORTER, NOW))
                .isEqualTo(new Refused(false, "events: 1001, at most 1000 in one call"));
    }

    @Test
    void aFewEventsCannotRaiseAnyNumberOfFaults() {
        HealthEvent.Builder wide = event();
        fill(8, i -> wide.addErrorCode("c" + i));
        fill(64, i -> wide.addEntitiesImpacted(entity("v" + i)));
        HealthEvent.Builder[] calls = new HealthEvent.Builder[9];
        java.util.Arrays.fill(calls, wide);
        assertThat(judge(java.util.Arrays.copyOf(calls, 8))).isInstanceOf(Taken.class);
        assertThat(judge(calls))
                .isEqualTo(new Refused(false, "events[8]: pairs of entity and code: more than 4096 in one call"));
        assertThat(judge(wide.addErrorCode("one more")))
                .isEqualTo(new Refused(
                        false,
                        "events[0]: expected at most 512 pairs of entity and error code, but there are 64 entities and"
                                + " 9 codes"));
    }

    @Test
    void messageIsTruncatedToFitBesideOtherTexts() {
        HealthEvent.Builder full = event().setMessage("m".repeat(16 * 1024));
        fill(10, i -> full.putMetadata("k" + i, "v".repeat(1000)));
        dev.gpuwarden.core.event.HealthEvent kept =
                ((Taken) judge(full)).events().get(0);
        assertThat(kept.message()).hasSizeBetween(6000, 6400);
        assertThat(kept.characters()).isLessThanOrEqualTo(EventLimits.CHARACTERS);
        assertThat(kept.metadata()).containsEntry(EventRules.MESSAGE_CUT, "16384");
        fill(20, i -> full.putMetadata("k" + i, "v".repeat(1000)));
        kept = ((Taken) judge(full)).events().get(0);
        assertThat(kept.message()).hasSizeBetween(4000, 5200);
        assertThat(kept.metadata()).containsKey(EventRules.METADATA_CUT);
        assertThat(kept.characters()).isLessThanOrEqualTo(EventLimits.CHARACTERS);
        fill(64, i -> full.addErrorCode("c".repeat(250) + i));
        fill(8, i -> full.addEntitiesImpacted(entity("v".repeat(250) + i)));
        assertThat(judge(full))
                .isInstanceOfSatisfying(
                        Refused.class,
                        refused -> assertThat(refused.why())
                                .startsWith("events[0]: expected at most 16384 characters of text"));
    }

    private static java.util.Map<String, String> metadata(Consumer<HealthEvent.Builder> change) {
        HealthEvent.Builder event = event();
        change.accept(event);
        Map<String, String> kept =
                new java.util.HashMap<>(((Taken) judge(event)).events().get(0).metadata());
        kept.keySet().removeIf(Reporter::isReserved);
        return kept;
    }

    /** Details of a fault are worth less than the fault. */
    @Test
    void unusableMetadataDoNotRefuseTheFault() {
        assertThat(metadata(e -> e.putMetadata("k", "v".repeat(5000)).putMetadata("short", "s")))
                .containsEntry("k", "v".repeat(1023))
                .containsEntry("short", "s")
                .containsEntry(EventRules.METADATA_CUT, "1");
        assertThat(metadata(
                        e -> e.putMetadata("", "v").putMetadata("\u0007", "v").putMetadata("x".repeat(1100), "v")))
                .containsExactly(java.util.Map.entry(EventRules.METADATA_CUT, "3"));
        assertThat(metadata(e -> e.putMetadata(StoredEvent.OCCURRENCES, "-1")))
                .containsExactly(java.util.Map.entry(EventRules.METADATA_CUT, "1"));
        assertThat(metadata(e -> {
                    fill(100, i -> e.putMetadata("k" + i, ""));
                    e.putMetadata(StoredEvent.OCCURRENCES, "7");
                }))
                .hasSize(65)
                .containsEntry(StoredEvent.OCCURRENCES, "7")
                .containsEntry(EventRules.METADATA_CUT, "37");
        assertThat(metadata(e -> e.putMetadata("k", "v"))).containsExactly(java.util.Map.entry("k", "v"));
    }

    /** Left out of a healthy event they would mean every code and every part. */
    @Test
    void emptyCodeOrPartHasItsOwnName() {
        for (boolean healthy : new boolean[] {false, true}) {
            dev.gpuwarden.core.event.HealthEvent kept = ((Taken)
                            judge(event().setIsHealthy(healthy).addErrorCode("").addEntitiesImpacted(entity(" "))))
                    .events()
                    .get(0);
            assertThat(kept.errorCodes()).containsExactly("(empty)");
            assertThat(kept.entities()).containsExactly(new dev.gpuwarden.core.event.Entity("PCI", "(empty)"));
        }
    }

    @Test
    void anEventIsKeptUnderThisNodesNameWithATime() {
        Taken taken = (Taken) judge(event(), event().setNodeName("node-1"));
        assertThat(taken.events()).hasSize(2).allSatisfy(event -> {
            assertThat(event.nodeName()).isEqualTo("node-1");
            assertThat(event.generated()).isEqualTo(NOW);
        });
    }

    @Test
    void longMessageIsTruncatedAndMarked() {
        String message = "x" + "€".repeat(6000);
        dev.gpuwarden.core.event.HealthEvent kept =
                ((Taken) judge(event().setMessage(message))).events().get(0);
        assertThat(message).startsWith(kept.message());
        assertThat(kept.message().getBytes(StandardCharsets.UTF_8)).hasSizeBetween(16_000, 16 * 1024);
        assertThat(kept.metadata()).containsEntry(EventRules.MESSAGE_CUT, "18001");
        String pairs = "😀".repeat(5000);
        String cut = ((Taken) judge(event().setMessage(pairs))).events().get(0).message();
        assertThat(cut.codePoints()).hasSizeBetween(4000, 4096).allMatch(point -> point == 0x1F600);
    }

    @Test
    void textThatWouldMoveACursorIsReplacedAndLineEndsStay() {
        dev.gpuwarden.core.event.HealthEvent kept = ((Taken)
                        judge(event().setMessage("a\u001b[2J\r\nb\t\u202e").putMetadata("k", "\u0000")))
                .events()
                .get(0);
        assertThat(kept.message()).isEqualTo("a\uFFFD[2J\uFFFD\nb\t\uFFFD");
        assertThat(kept.metadata()).containsEntry("k", "\uFFFD").doesNotContainKey(EventRules.MESSAGE_CUT);
    }

    @Test
    void healthIsNeverFatal() {
        assertThat(((Taken) judge(event().setIsHealthy(true).setIsFatal(true))).events())
                .singleElement()
                .matches(event -> event.healthy() && !event.fatal());
    }

    @Test
    void reporterForAnyNodeMustNameTheNode() {
        HealthEvents.Builder call =
                HealthEvents.newBuilder().addEvents(event().setNodeName("a")).addEvents(event().setNodeName("b.c"));
        assertThat(((Taken) EventRules.judgeOfAnyNode(call.build(), NOW)).events())
                .extracting(dev.gpuwarden.core.event.HealthEvent::nodeName)
                .containsExactly("a", "b.c");
        for (String name : new String[] {"", "../a", "A", "a/b"}) {
            assertThat(EventRules.judgeOfAnyNode(
                            call.setEvents(1, event().setNodeName(name)).build(), NOW))
                    .isEqualTo(new EventRules.Refused(false, "events[1].nodeName: expected the name of a Node"));
        }
    }

    @Test
    void aGpuHasOneNameWhateverCaseItsSenderUses() {
        HealthEvent.Builder odd = event().addEntitiesImpacted(Entity.newBuilder()
                .setEntityType("GPU_UUID")
                .setEntityValue("gpu-C1921A33-8AEC-4D6B-9C2F-0123456789AB"));
        assertThat(((Taken) judge(odd)).events().get(0).entities())
                .containsExactly(dev.gpuwarden.core.event.Entity.gpu("GPU-c1921a33-8aec-4d6b-9c2f-0123456789ab"));
        odd.setEntitiesImpacted(0, Entity.newBuilder().setEntityType("GPU_UUID").setEntityValue("Tesla-A"));
        assertThat(((Taken) judge(odd)).events().get(0).entities())
                .containsExactly(dev.gpuwarden.core.event.Entity.gpu("Tesla-A"));
    }

    private static HealthEvent.Builder event() {
        return HealthEvent.newBuilder()
                .setAgent("agent")
                .setComponentClass("GPU")
                .setCheckName("Check");
    }

    private static Entity entity(String value) {
        return Entity.newBuilder().setEntityType("PCI").setEntityValue(value).build();
    }

    private static Judgement judge(HealthEvent.Builder... events) {
        HealthEvents.Builder call = HealthEvents.newBuilder();
        for (HealthEvent.Builder event : events) {
            call.addEvents(event);
        }
        return EventRules.judge(call.build(), "node-1", REPORTER, NOW);
    }

    private static Arguments refusal(String why, Consumer<HealthEvent.Builder> change) {
        return Arguments.of(why, change);
    }

    private static void fill(int count, java.util.function.IntConsumer add) {
        for (int i = 0; i < count; i++) {
            add.accept(i);
        }
    }
}
