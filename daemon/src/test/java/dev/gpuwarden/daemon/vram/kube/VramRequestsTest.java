package dev.gpuwarden.daemon.vram.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.BudgetedPod;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.Removal;
import dev.gpuwarden.api.v1.Welcome;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.util.Wakeup;
import dev.gpuwarden.daemon.vram.kube.VramRequests.Answer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class VramRequestsTest {

    private static final String RESOURCE = "gpuwarden.dev/vram-mib";

    private final VramRequests requests = new VramRequests(RESOURCE);
    private final Wakeup session = new Wakeup();

    private static BudgetedPod pod(String name) {
        return BudgetedPod.newBuilder()
                .setUid("uid-" + name)
                .setNamespace("ml")
                .setName(name)
                .build();
    }

    private static Welcome offering(String resource) {
        return Welcome.newBuilder().setVramResource(resource).build();
    }

    private void receive(List<Acknowledgement> pages) {
        pages.forEach(page -> requests.received(page));
    }

    private void answer(NodeReport report, boolean accepted, String text) {
        String id = report.hasEvict()
                ? report.getEvict().getId()
                : report.getAdvertise().getId();
        requests.received(VramCodec.answer(id, accepted, text));
    }

    private CompletableFuture<Answer> evict(String pod) {
        return requests.evict(pod(pod), "over its budget", Duration.ofSeconds(5), Removal.REMOVAL_EVICT);
    }

    private static String cause(Reading<Pods> pods) {
        return ((Reading.Absent<Pods>) pods).text();
    }

    @Test
    void aListReplacesTheOneBeforeAndStaysWithoutConnection() {
        assertThat(cause(requests.pods())).contains("has not sent the budgets");
        requests.welcome(offering(RESOURCE), session);
        List<BudgetedPod> many =
                IntStream.range(0, 300).mapToObj(i -> pod("p" + i)).toList();
        List<Acknowledgement> pages = VramCodec.pages(1, many);
        receive(pages.subList(0, 2));
        assertThat(requests.pods()).as("incomplete").isInstanceOf(Reading.Absent.class);
        receive(pages.subList(2, 3));
        assertThat(requests.pods().map(pods -> pods.byUid().size())).isEqualTo(Reading.of(300));

        receive(VramCodec.pages(2, many).subList(0, 1));
        receive(VramCodec.pages(3, List.of(pod("one"))));
        assertThat(requests.pods().map(Pods::byUid).asOptional().orElseThrow()).containsOnlyKeys("uid-one");
        requests.end();
        assertThat(requests.pods()).isInstanceOf(Reading.Present.class);
    }

    @Test
    void aListBeyondItsLimitsIsNotUsed() {
        requests.welcome(offering(RESOURCE), session);
        receive(VramCodec.pages(1, List.of(pod("a/b"))));
        assertThat(cause(requests.pods())).contains("exceeds the limits");
        List<BudgetedPod> page =
                IntStream.range(0, 128).mapToObj(i -> pod("p" + i)).toList();
        for (int i = 0; i < 9; i++) {
            requests.received(Acknowledgement.newBuilder()
                    .setBudgetedPods(VramCodec.pages(2, page).get(0).getBudgetedPods().toBuilder()
                            .setLast(false))
                    .build());
        }
        assertThat(cause(requests.pods())).contains("exceeds the limits");
        requests.received(VramCodec.unknown(3, "no \u001b room"));
        assertThat(cause(requests.pods())).contains("no \uFFFD room");
    }

    @Test
    void aValueIsSentOnceAndAgainOnTheNextConnection() {
        requests.advertise(OptionalLong.of(14000));
        assertThat(requests.next()).isEmpty();
        assertThat(requests.advertising.text()).isEqualTo("the aggregator has not answered yet");
        requests.welcome(offering(RESOURCE), session);
        NodeReport sent = requests.next().orElseThrow();
        assertThat(sent.getAdvertise().getMib()).isEqualTo(14000);
        requests.advertise(OptionalLong.of(14000));
        assertThat(requests.next()).isEmpty();
        answer(sent, true, "the Node has it");
        assertThat(requests.advertising).isEqualTo(new Answer(true, "the Node has it"));
        answer(sent, false, "another writer");
        assertThat(requests.advertising.accepted())
                .as("the outcome has changed")
                .isFalse();

        requests.end();
        requests.welcome(offering(RESOURCE), session);
        assertThat(requests.next().map(again -> again.getAdvertise().getMib())).isEqualTo(Optional.of(14000L));
        answer(sent, true, "an answer to an older message");
        assertThat(requests.advertising.accepted()).isFalse();
        requests.advertise(OptionalLong.of(14000), OptionalLong.of(8000));
        assertThat(requests.next().orElseThrow().getAdvertise().getLargestCardMib())
                .as("another card with the same sum")
                .isEqualTo(8000);
        requests.advertise(OptionalLong.empty());
        assertThat(requests.next().orElseThrow().getAdvertise().hasMib()).isFalse();
    }

    @Test
    void podsAboveTheirBudgetsAreSentOnceAndAgainOnTheNextConnection() {
        requests.overBudget(VramCodec.overBudgetUnknown());
        requests.overBudget(VramCodec.overBudget(Map.of("u1", 128L)));
        assertThat(requests.next()).isEmpty();
        requests.welcome(offering(RESOURCE), session);
        assertThat(requests.next().orElseThrow().getOverBudget().getPods(0).getPodUid())
                .isEqualTo("u1");
        requests.overBudget(VramCodec.overBudget(Map.of("u1", 128L)));
        assertThat(requests.next()).isEmpty();
        requests.overBudget(VramCodec.overBudget(Map.of("u1", 256L)));
        requests.overBudget(VramCodec.overBudget(Map.of("u1", 384L)));
        assertThat(requests.next().orElseThrow().getOverBudget().getPods(0).getOverMib())
                .isEqualTo(384);
        assertThat(requests.next())
                .as("the newest replaces one that was not sent")
                .isEmpty();
        requests.end();
        requests.welcome(offering(RESOURCE), session);
        assertThat(requests.next().orElseThrow().hasOverBudget()).isTrue();
    }

    @Test
    void anEvictionNeedsAConnectionAndEndsWithIt() {
        assertThat(evict("a").join().text()).contains("no connection");
        requests.welcome(offering(RESOURCE), session);
        CompletableFuture<Answer> waits = evict("a");
        NodeReport sent = requests.next().orElseThrow();
        assertThat(sent.getEvict().getPodUid()).isEqualTo("uid-a");
        answer(sent, true, "the pod is evicted");
        assertThat(waits.join()).isEqualTo(new Answer(true, "the pod is evicted"));

        CompletableFuture<Answer> left = evict("b");
        requests.end();
        assertThat(left.join().text()).contains("no connection");
        assertThat(requests.next()).as("it is not sent to the next aggregator").isEmpty();
    }

    @Test
    void onlySomeEvictionsAreOpen() {
        requests.welcome(offering(RESOURCE), session);
        List<CompletableFuture<Answer>> open =
                IntStream.range(0, 4).mapToObj(i -> evict("p" + i)).toList();
        assertThat(evict("more").join().text()).contains("too many requests");
        assertThat(open).noneMatch(CompletableFuture::isDone);
    }

    @Test
    void anAggregatorWithAnotherResourceOrNoneIsReported() {
        requests.welcome(offering(""), session);
        assertThat(cause(requests.pods())).contains("its version has none, or its --vram.evictions is off");
        requests.welcome(offering("viktorbarzin.me/gpumem"), session);
        assertThat(cause(requests.pods())).contains("'viktorbarzin.me/gpumem'").contains("'" + RESOURCE + "'");
        assertThat(evict("a").join().accepted()).isFalse();
        VramRequests none = new VramRequests("");
        none.advertise(OptionalLong.of(5));
        none.welcome(offering(RESOURCE), session);
        assertThat(none.next()).isEmpty();
    }
}
