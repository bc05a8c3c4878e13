package dev.gpuwarden.daemon.uplink;

import static dev.gpuwarden.api.v1.AccessOutcome.ACCESS_OUTCOME_DENIED;
import static dev.gpuwarden.api.v1.AccessOutcome.ACCESS_OUTCOME_UNKNOWN;
import static dev.gpuwarden.api.v1.AccessOutcome.ACCESS_OUTCOME_UNSPECIFIED;
import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.AccessCodec;
import dev.gpuwarden.api.HoldingsCodec;
import dev.gpuwarden.api.v1.Holdings;
import dev.gpuwarden.api.v1.Signalled;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.holder.GpuHolder;
import dev.gpuwarden.core.holder.GpuHolder.Kind;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.checkpoint.PodSignals;
import dev.gpuwarden.daemon.page.TokenReviewer.Outcome;
import dev.gpuwarden.daemon.page.TokenReviewer.Verdict;
import dev.gpuwarden.daemon.store.EventStore;
import dev.gpuwarden.daemon.store.StoreSettings;
import dev.gpuwarden.daemon.uplink.TestAggregator.Connection;
import dev.gpuwarden.daemon.uplink.TestAggregator.Kept;
import dev.gpuwarden.daemon.vram.kube.VramRequests;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Requests of an aggregator to a node over the stream on which the node reports. */
class UplinkQuestionsTest {

    private static final String TOKEN = "e30.e30.c2ln";

    @TempDir
    Path folder;

    private final Kept kept = new Kept();
    private Supplier<Reading<GpuHolders>> holders = () -> Reading.absent(Absence.NO_DATA);
    private UplinkNode.SignalSender signals = (id, uid, signal) -> new PodSignals.Answer(0, "off");
    private final TokenReviewRequests access = new TokenReviewRequests();
    private EventStore store;

    @BeforeEach
    void open() {
        store = EventStore.open(StoreSettings.at(folder.resolve("events.db")), Clock.systemUTC());
    }

    @AfterEach
    void close() {
        store.close();
        assertThat(kept.violations).isEmpty();
    }

    private TestAggregator aggregator(int port) throws Exception {
        return new TestAggregator(kept, port, null);
    }

    private Uplink uplink(int port, Uplink.Timeouts patience) {
        UplinkOptions options = new UplinkOptions();
        options.insecure = true;
        UplinkNode node = new UplinkNode(
                "node-1",
                "boot-1",
                "1.2.3",
                store,
                store,
                Clock.systemUTC(),
                List::of,
                holders,
                signals,
                access,
                new VramRequests(""));
        return Uplink.start(node, UplinkAddress.of(options, "127.0.0.1:" + port), patience);
    }

    private void report(String... ids) {
        for (String id : ids) {
            store.accept(HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                    .id(id)
                    .errorCodes(List.of("79"))
                    .entities(List.of(Entity.gpu("GPU-" + id)))
                    .build());
        }
    }

    private Connection last() {
        return kept.connections.get(kept.connections.size() - 1);
    }

    private boolean reported(int connections) {
        return kept.connections.size() >= connections && !last().tellings.isEmpty();
    }

    @Test
    void gpuHoldersAreReadWhenTheAggregatorRequestsThem() throws Exception {
        Instant asOf = Instant.parse("2026-11-22T13:00:00Z");
        GpuHolder holder = new GpuHolder("ml", "train-0", "main", "GPU-1", Kind.SHARED, "GPU-1::3");
        AtomicInteger looks = new AtomicInteger();
        holders = () -> {
            looks.incrementAndGet();
            return Reading.of(new GpuHolders(asOf, List.of(holder), List.of(), 0));
        };
        try (TestAggregator aggregator = aggregator(0);
                Uplink uplink = uplink(aggregator.port(), Uplink.Timeouts.USUAL)) {
            until(() -> reported(1));
            assertThat(last().hello.getAnswersLookups()).isTrue();
            assertThat(looks).hasValue(0);
            last().lookup("q-1");
            until(() -> last().holdings.size() == 1);
            Holdings said = last().holdings.get(0);
            assertThat(said.getId()).isEqualTo("q-1");
            assertThat(HoldingsCodec.parse(said))
                    .isEqualTo(Reading.of(new GpuHolders(asOf, List.of(holder), List.of(), 0)));
            report("a");
            until(() -> uplink.stats().sent() == 1);
        }
    }

    @Test
    void aSlowLookupDelaysNothingElseAndTheNewestRequestIsAnswered() throws Exception {
        CountDownLatch may = new CountDownLatch(1);
        AtomicInteger looks = new AtomicInteger();
        holders = () -> {
            looks.incrementAndGet();
            try {
                may.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return Reading.absent(Absence.NO_PERMISSION, 0, "kubelet.sock");
        };
        try (TestAggregator aggregator = aggregator(0);
                Uplink uplink = uplink(aggregator.port(), Uplink.Timeouts.USUAL)) {
            until(() -> reported(1));
            last().lookup("q-1");
            until(() -> looks.get() == 1);
            last().lookup("q-2");
            last().lookup("q-3");
            report("a", "b");
            until(() -> uplink.stats().sent() == 2);
            assertThat(last().holdings).isEmpty();
            may.countDown();
            until(() -> last().holdings.size() == 2);
            assertThat(last().holdings).extracting(Holdings::getId).containsExactly("q-1", "q-3");
            assertThat(last().holdings.get(1).getError()).isEqualTo("kubelet.sock: no permission");
            assertThat(looks).hasValue(2);
        }
    }

    @Test
    void signalsAreSentInTheOrderInWhichTheAggregatorAsks() throws Exception {
        List<String> sent = new CopyOnWriteArrayList<>();
        signals = (id, uid, signal) -> {
            sent.add(uid + " " + signal);
            if (uid.equals("bug")) {
                throw new IllegalStateException("a bug");
            }
            return new PodSignals.Answer(2, "");
        };
        try (TestAggregator aggregator = aggregator(0);
                Uplink uplink = uplink(aggregator.port(), Uplink.Timeouts.USUAL)) {
            until(() -> reported(1));
            assertThat(last().hello.getAnswersSignals()).isTrue();
            last().signal("s-1", "pod-1", "SIGUSR1");
            last().signal("s-2", "bug", "SIGUSR2");
            last().signal("s-3", "pod-3", "SIGTERM");
            until(() -> last().signalled.size() == 3);
            assertThat(sent).containsExactly("pod-1 SIGUSR1", "bug SIGUSR2", "pod-3 SIGTERM");
            assertThat(last().signalled).extracting(Signalled::getId).containsExactly("s-1", "s-2", "s-3");
            assertThat(last().signalled).extracting(Signalled::getProcesses).containsExactly(2, 0, 2);
            assertThat(last().signalled.get(1).getError()).contains("a bug");
            assertThat(uplink.stats().lastError()).isEmpty();
        }
    }

    private Verdict asked(String token) throws Exception {
        return access.ask(token).get(20, TimeUnit.SECONDS);
    }

    @Test
    void aPersonsTokenIsJudgedByTheAggregatorBeforeItTakesAnything() throws Exception {
        kept.acknowledges = false;
        assertThat(asked(TOKEN).why()).isEqualTo("the node has no connection to its aggregator");
        try (TestAggregator aggregator = aggregator(0);
                Uplink uplink = uplink(aggregator.port(), Uplink.Timeouts.USUAL)) {
            until(() -> reported(1));
            report("a");
            until(() -> last().ids.size() == 1);
            assertThat(asked(TOKEN)).isEqualTo(new Verdict(Outcome.ALLOWED, ""));
            for (int i = 0; i < AccessCodec.MOST_OPEN; i++) {
                assertThat(asked(TOKEN).outcome())
                        .as("answered questions leave room")
                        .isEqualTo(Outcome.ALLOWED);
            }
            kept.access = ACCESS_OUTCOME_DENIED;
            assertThat(asked(TOKEN)).isEqualTo(new Verdict(Outcome.DENIED, "no \ufffd[31m"));
            assertThat(last().tokens).hasSize(2 + AccessCodec.MOST_OPEN).containsOnly(TOKEN);

            // Answers without a request.
            last().verdict("other");
            kept.access = ACCESS_OUTCOME_UNKNOWN;
            assertThat(asked(TOKEN).outcome()).isEqualTo(Outcome.UNKNOWN);
            assertThat(uplink.stats().lastError()).isEmpty();
        }
    }

    @Test
    void questionsAreFewAndEndWithTheConnection() throws Exception {
        kept.access = ACCESS_OUTCOME_UNSPECIFIED;
        List<CompletableFuture<Verdict>> open = new ArrayList<>();
        try (TestAggregator aggregator = aggregator(0);
                Uplink uplink = uplink(aggregator.port(), Uplink.Timeouts.USUAL)) {
            until(() -> reported(1));
            for (int i = 0; i < AccessCodec.MOST_OPEN; i++) {
                open.add(access.ask(TOKEN));
            }
            until(() -> last().tokens.size() == AccessCodec.MOST_OPEN);
            assertThat(asked(TOKEN).why()).contains("too many tokens");
            assertThat(uplink.stats().lastError()).isEmpty();
        }
        assertThat(open)
                .allSatisfy(one -> assertThat(one.getNow(null).outcome()).isEqualTo(Outcome.UNKNOWN));
        assertThat(asked(TOKEN).why()).contains("no connection");
    }

    @Test
    void anAggregatorThatChecksNoTokensGetsNone() throws Exception {
        kept.answersAccessReviews = false;
        try (TestAggregator aggregator = aggregator(0);
                Uplink uplink = uplink(aggregator.port(), Uplink.Timeouts.USUAL)) {
            until(() -> reported(1));
            assertThat(asked(TOKEN)).isEqualTo(Verdict.unknown("the aggregator's version cannot check tokens"));
            assertThat(last().tokens).isEmpty();
            assertThat(uplink.stats().lastError()).isEmpty();
        }
    }

    @Test
    void aFailedLookupIsAnswered() throws Exception {
        holders = () -> {
            throw new IllegalStateException("a bug");
        };
        try (TestAggregator aggregator = aggregator(0);
                Uplink uplink = uplink(aggregator.port(), Uplink.Timeouts.USUAL)) {
            until(() -> reported(1));
            last().lookup("q-1");
            until(() -> last().holdings.size() == 1);
            assertThat(last().holdings.get(0).getError()).contains("a bug");
            assertThat(uplink.stats().lastError()).isEmpty();
        }
    }

    @Test
    void unknownMessagesOfANewerAggregatorAreIgnored() throws Exception {
        try (TestAggregator aggregator = aggregator(0);
                Uplink uplink = uplink(aggregator.port(), Uplink.Timeouts.USUAL)) {
            until(() -> reported(1));
            last().sendOfALaterVersion();
            report("a");
            until(() -> uplink.stats().sent() == 1);
            assertThat(kept.connections).hasSize(1);
        }
    }
}
