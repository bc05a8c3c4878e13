package dev.gpuwarden.aggregator.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.PageAuthorizer.Verdict;
import dev.gpuwarden.aggregator.ingest.AuthInterceptor.Caller;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Ahead;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Alive;
import dev.gpuwarden.aggregator.ingest.UplinkStep.AllFaults;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Ended;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Greeted;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Happened;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Named;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Reason;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Received;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Refused;
import dev.gpuwarden.api.AccessCodec;
import dev.gpuwarden.api.UplinkCodec;
import dev.gpuwarden.api.v1.GpuName;
import dev.gpuwarden.api.v1.GpuNames;
import dev.gpuwarden.api.v1.Hello;
import dev.gpuwarden.api.v1.Holdings;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.NodeReport.ReportCase;
import dev.gpuwarden.core.event.Fault;
import io.grpc.Status;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The order of the messages that a node may send, and the step that follows from each. */
class UplinkProtocolTest {

    private static final Caller CALLER = Caller.node(Set.of("n1"), "token of pod p");

    private static final NodeMessageKind REVIEWS =
            new AccessReviews((token, node) -> new Verdict(false, ""), new IngestMetrics(), System::nanoTime);
    private static final Map<ReportCase, NodeMessageKind> KINDS = Map.of(ReportCase.ACCESS_REVIEW, REVIEWS);

    private static final String TOKEN = "e30.e30.c2ln";

    private static final NodeReport NAMES = NodeReport.newBuilder()
            .setGpuNames(GpuNames.newBuilder()
                    .addGpus(GpuName.newBuilder().setIndex(3).setPciAddress("0000:3b:00.0")))
            .build();

    private static NodeReport hello(String node) {
        return UplinkCodec.report(UplinkCodec.hello(Instant.EPOCH)
                .setNodeName(node)
                .setVersion("1")
                .build());
    }

    private static NodeReport page(long generation, long asOf, boolean last, Fault... faults) {
        NodeReport page = UplinkCodec.pages(generation, asOf, List.of(faults)).next();
        return page.toBuilder()
                .setFaults(page.getFaults().toBuilder().setLast(last))
                .build();
    }

    private static NodeReport event(long sequence) {
        return UplinkCodec.report(TestFaults.stored(sequence, TestFaults.xid("n1", "79")));
    }

    private static NodeReport ahead(long sequence, String code) {
        Fault fault = TestFaults.fault("n1", code);
        return UplinkCodec.ahead(
                new Fault(fault.key(), fault.cause(), sequence, fault.since(), fault.lastSeen(), fault.occurrences()));
    }

    private static Fault fault(String node) {
        return TestFaults.fault(node, "79");
    }

    static Stream<Arguments> ends() {
        NodeReport hello = hello("n1");
        NodeReport all = page(1, 0, true);
        return Stream.of(
                Arguments.of("an event first", Status.Code.INVALID_ARGUMENT, Reason.ORDER, List.of(event(1))),
                Arguments.of("faults first", Status.Code.INVALID_ARGUMENT, Reason.ORDER, List.of(all)),
                Arguments.of("Hello twice", Status.Code.INVALID_ARGUMENT, Reason.ORDER, List.of(hello, hello)),
                Arguments.of(
                        "another node's name", Status.Code.PERMISSION_DENIED, Reason.OTHER_NODE, List.of(hello("n2"))),
                Arguments.of("no name", Status.Code.PERMISSION_DENIED, Reason.OTHER_NODE, List.of(hello(""))),
                Arguments.of(
                        "another protocol",
                        Status.Code.INVALID_ARGUMENT,
                        Reason.PROTOCOL,
                        List.of(hello.toBuilder()
                                .setHello(Hello.newBuilder(hello.getHello()).setProtocolVersion(2))
                                .build())),
                Arguments.of(
                        "a version that no terminal should see",
                        Status.Code.INVALID_ARGUMENT,
                        Reason.LIMIT,
                        List.of(hello.toBuilder()
                                .setHello(Hello.newBuilder(hello.getHello()).setVersion("\u001b[31m"))
                                .build())),
                Arguments.of(
                        "an event before the faults",
                        Status.Code.INVALID_ARGUMENT,
                        Reason.ORDER,
                        List.of(hello, event(1))),
                Arguments.of(
                        "an event between pages",
                        Status.Code.INVALID_ARGUMENT,
                        Reason.ORDER,
                        List.of(hello, all, page(2, 0, false), event(1))),
                Arguments.of(
                        "an event twice",
                        Status.Code.INVALID_ARGUMENT,
                        Reason.ORDER,
                        List.of(hello, all, event(3), event(3))),
                Arguments.of(
                        "a complete generation again",
                        Status.Code.INVALID_ARGUMENT,
                        Reason.ORDER,
                        List.of(hello, all, all)),
                Arguments.of(
                        "a fault ahead of its event between pages",
                        Status.Code.INVALID_ARGUMENT,
                        Reason.ORDER,
                        List.of(hello, all, page(2, 0, false), ahead(9, "79"))),
                Arguments.of(
                        "another node's fault ahead of its event",
                        Status.Code.PERMISSION_DENIED,
                        Reason.OTHER_NODE,
                        List.of(hello, all, UplinkCodec.ahead(fault("n2")))),
                Arguments.of(
                        "a fault ahead of its event that could wait for it",
                        Status.Code.INVALID_ARGUMENT,
                        Reason.LIMIT,
                        List.of(hello, all, UplinkCodec.ahead(TestFaults.hugeFault("n1", 1)))),
                Arguments.of(
                        "more faults ahead of their events than may be",
                        Status.Code.INVALID_ARGUMENT,
                        Reason.LIMIT,
                        Stream.concat(
                                        Stream.of(hello, all),
                                        IntStream.rangeClosed(0, UplinkCodec.MOST_AHEAD)
                                                .mapToObj(i -> ahead(9, Integer.toString(i))))
                                .toList()),
                Arguments.of(
                        "a token before Hello",
                        Status.Code.INVALID_ARGUMENT,
                        Reason.ORDER,
                        List.of(AccessCodec.report("1", TOKEN))),
                Arguments.of(
                        "a token that is none",
                        Status.Code.INVALID_ARGUMENT,
                        Reason.LIMIT,
                        List.of(hello, AccessCodec.report("1", "secret"))),
                Arguments.of(
                        "a token that is too long",
                        Status.Code.INVALID_ARGUMENT,
                        Reason.LIMIT,
                        List.of(hello, AccessCodec.report("1", TOKEN + "x".repeat(8192)))),
                Arguments.of(
                        "a token without the question's name",
                        Status.Code.INVALID_ARGUMENT,
                        Reason.LIMIT,
                        List.of(hello, AccessCodec.report("", TOKEN))),
                Arguments.of("names of GPUs before Hello", Status.Code.INVALID_ARGUMENT, Reason.ORDER, List.of(NAMES)),
                Arguments.of(
                        "a GPU without a place in the driver's order",
                        Status.Code.INVALID_ARGUMENT,
                        Reason.LIMIT,
                        List.of(
                                hello,
                                NodeReport.newBuilder()
                                        .setGpuNames(GpuNames.newBuilder()
                                                .addGpus(GpuName.newBuilder().setIndex(-1)))
                                        .build())),
                Arguments.of(
                        "another as_of within a generation",
                        Status.Code.INVALID_ARGUMENT,
                        Reason.ORDER,
                        List.of(hello, page(1, 5, false), page(1, 6, true))),
                Arguments.of(
                        "a fault of another node",
                        Status.Code.PERMISSION_DENIED,
                        Reason.OTHER_NODE,
                        List.of(hello, page(1, 0, true, fault("n2")))),
                Arguments.of(
                        "a fault with 100,000 entities",
                        Status.Code.INVALID_ARGUMENT,
                        Reason.LIMIT,
                        List.of(hello, page(1, 0, true, TestFaults.hugeFault("n1", 100_000)))),
                Arguments.of(
                        "more faults than a node can have",
                        Status.Code.INVALID_ARGUMENT,
                        Reason.LIMIT,
                        Stream.concat(Stream.of(hello), IntStream.range(0, 5).mapToObj(i -> manyFaults()))
                                .toList()));
    }

    private static NodeReport manyFaults() {
        return page(
                1, 0, false, IntStream.range(0, 500).mapToObj(i -> fault("n1")).toArray(Fault[]::new));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("ends")
    void firstMessageAgainstTheContractEndsTheStream(
            String name, Status.Code code, Reason reason, List<NodeReport> reports) {
        UplinkProtocol conversation = new UplinkProtocol(CALLER, KINDS);
        for (NodeReport report : reports.subList(0, reports.size() - 1)) {
            assertThat(conversation.receive(report)).as(name).isNotInstanceOf(Ended.class);
        }
        UplinkStep last = conversation.receive(reports.get(reports.size() - 1));
        assertThat(last).isInstanceOfSatisfying(Ended.class, ended -> {
            assertThat(ended.status().getCode()).isEqualTo(code);
            assertThat(ended.status().getDescription()).isNotBlank();
            assertThat(ended.reason()).isEqualTo(reason);
        });
    }

    @Test
    void namesOfGpusAreAcceptedBeforeAndAfterTheFaults() {
        UplinkProtocol conversation = new UplinkProtocol(CALLER, KINDS);
        assertThat(conversation.receive(hello("n1"))).isInstanceOf(Greeted.class);
        for (int i = 0; i < 2; i++) {
            assertThat(conversation.receive(NAMES))
                    .isInstanceOfSatisfying(
                            Named.class,
                            step -> assertThat(step.gpus()
                                            .names()
                                            .of(fault("n1").cause().entities()))
                                    .isEqualTo("GPU 3 (0000:3b:00.0)"));
            assertThat(conversation.receive(page(1 + i, 0, true))).isInstanceOf(AllFaults.class);
        }
    }

    @Test
    void messagesInOrderAreAccepted() {
        UplinkProtocol conversation = new UplinkProtocol(CALLER, KINDS);
        assertThat(conversation.receive(hello("n1"))).isInstanceOf(Greeted.class);
        assertThat(conversation.receive(page(7, 4, false, fault("n1")))).isInstanceOf(Alive.class);
        assertThat(conversation.receive(page(7, 4, true, TestFaults.fault("n1", "48"))))
                .isInstanceOfSatisfying(AllFaults.class, step -> {
                    assertThat(step.generation()).isEqualTo(7);
                    assertThat(step.faults()).hasSize(2);
                });
        assertThat(conversation.receive(event(4)))
                .isInstanceOfSatisfying(
                        Happened.class, event -> assertThat(event.history()).isTrue());
        assertThat(conversation.receive(event(5)))
                .isInstanceOfSatisfying(
                        Happened.class, event -> assertThat(event.history()).isFalse());
        assertThat(conversation.receive(UplinkCodec.heartbeat(Instant.EPOCH, 0)))
                .isInstanceOf(Alive.class);
        assertThat(conversation.receive(NodeReport.getDefaultInstance())).isInstanceOf(Alive.class);
    }

    @Test
    void faultAheadIsAcceptedUnlessItsEventOrThePagesHaveIt() {
        UplinkProtocol conversation = new UplinkProtocol(CALLER, KINDS);
        conversation.receive(hello("n1"));
        conversation.receive(page(1, 4, true));
        assertThat(conversation.receive(ahead(4, "79"))).isInstanceOf(Alive.class);
        assertThat(conversation.receive(ahead(6, "79")))
                .isInstanceOfSatisfying(
                        Ahead.class, step -> assertThat(step.fault().sequence()).isEqualTo(6));
        assertThat(conversation.receive(event(7))).isInstanceOf(Happened.class);
        assertThat(conversation.receive(ahead(7, "79"))).isInstanceOf(Alive.class);
        for (int i = 0; i < 3 * UplinkCodec.MOST_AHEAD; i++) {
            assertThat(conversation.receive(ahead(8 + i, Integer.toString(i)))).isInstanceOf(Ahead.class);
            assertThat(conversation.receive(event(8 + i))).isInstanceOf(Happened.class);
        }
    }

    @Test
    void newGenerationDiscardsTheUnfinishedOne() {
        UplinkProtocol conversation = new UplinkProtocol(CALLER, KINDS);
        conversation.receive(hello("n1"));
        conversation.receive(page(1, 0, false, fault("n1")));
        assertThat(conversation.receive(page(2, 0, true)))
                .isInstanceOfSatisfying(
                        AllFaults.class, step -> assertThat(step.faults()).isEmpty());
    }

    @Test
    void invalidEventIsRefusedAndTheNextIsAccepted() {
        UplinkProtocol conversation = new UplinkProtocol(CALLER, KINDS);
        conversation.receive(hello("n1"));
        conversation.receive(page(1, 0, true));
        assertThat(conversation.receive(UplinkCodec.report(TestFaults.stored(1, TestFaults.xid("n2", "79")))))
                .isInstanceOfSatisfying(
                        Refused.class, refused -> assertThat(refused.reason()).isEqualTo(Reason.OTHER_NODE));
        assertThat(conversation.receive(UplinkCodec.report(
                        TestFaults.stored(2, TestFaults.hugeFault("n1", 100_000).cause()))))
                .isInstanceOfSatisfying(
                        Refused.class, refused -> assertThat(refused.reason()).isEqualTo(Reason.LIMIT));
        assertThat(conversation.receive(event(3))).isInstanceOf(Happened.class);
    }

    @Test
    void invalidNodeNameIsRefusedAlsoWithACertificate() {
        UplinkProtocol conversation =
                new UplinkProtocol(Caller.node(Set.of("../secrets"), "client certificate"), KINDS);
        assertThat(conversation.receive(hello("../secrets"))).isInstanceOf(Ended.class);
    }

    @Test
    void messageOfAKindThatIsOffIsASignOfLife() {
        NodeReport holdings = NodeReport.newBuilder()
                .setHoldings(Holdings.newBuilder().setId("q"))
                .build();
        assertThat(new UplinkProtocol(CALLER, KINDS).receive(holdings)).isInstanceOf(Ended.class);
        UplinkProtocol conversation = new UplinkProtocol(CALLER, KINDS);
        conversation.receive(hello("n1"));
        assertThat(conversation.receive(holdings)).isInstanceOf(Alive.class);
    }

    @Test
    void messageOfAnotherKindIsAcceptedAtAnyTimeAfterHelloAndHidesItsContent() {
        NodeReport review = AccessCodec.report("1", TOKEN);
        UplinkProtocol conversation = new UplinkProtocol(CALLER, KINDS);
        conversation.receive(hello("n1"));
        assertThat(conversation.receive(review)).isEqualTo(new Received(REVIEWS, review));
        conversation.receive(page(1, 0, false));
        assertThat(conversation.receive(review).toString()).isEqualTo("Received[ACCESS_REVIEW]");
        assertThat(conversation.receive(page(1, 0, true))).isInstanceOf(AllFaults.class);
    }
}
