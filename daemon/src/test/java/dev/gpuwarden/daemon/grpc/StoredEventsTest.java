package dev.gpuwarden.daemon.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Timestamp;
import dev.gpuwarden.api.FaultCodec;
import dev.gpuwarden.api.v1.GetEventRequest;
import dev.gpuwarden.api.v1.GetEventResponse;
import dev.gpuwarden.api.v1.ListEventsRequest;
import dev.gpuwarden.api.v1.ListEventsResponse;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pages, conditions and recordings of stored events over a real socket. */
class StoredEventsTest extends NodeServiceFixture {

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void eventsComePageByPageInBothDirectionsAndNoneTwice(boolean newestFirst) {
        IntStream.rangeClosed(1, 130)
                .forEach(i -> node.store.accept(ServedNode.xid("c" + i).build()));
        List<Long> sequences = new ArrayList<>();
        List<Integer> sizes = new ArrayList<>();
        ListEventsRequest request = ListEventsRequest.newBuilder()
                .setNewestFirst(newestFirst)
                .setPageSize(60)
                .build();
        while (true) {
            ListEventsResponse page = ask().listEvents(request);
            page.getEventsList().forEach(event -> sequences.add(event.getSequence()));
            sizes.add(page.getEventsCount());
            if (page.getNextPageToken().isEmpty()) {
                break;
            }
            request = request.toBuilder().setPageToken(page.getNextPageToken()).build();
        }
        assertThat(sizes).containsExactly(60, 60, 10);
        assertThat(sequences)
                .doesNotHaveDuplicates()
                .isSortedAccordingTo((a, b) -> newestFirst ? Long.compare(b, a) : Long.compare(a, b));
    }

    @Test
    void aPageOfLongMessagesEndsEarlyAndGoesOn() {
        IntStream.rangeClosed(1, 100)
                .forEach(i -> node.store.accept(
                        ServedNode.xid("c" + i).message("x".repeat(15_000)).build()));
        ListEventsResponse first = ask().listEvents(
                        ListEventsRequest.newBuilder().setPageSize(1000).build());
        assertThat(first.getSerializedSize()).isBetween(1 << 20, (1 << 20) + 32_768);
        ListEventsResponse second = ask().listEvents(ListEventsRequest.newBuilder()
                .setPageSize(1000)
                .setPageToken(first.getNextPageToken())
                .build());
        assertThat(first.getEventsCount() + second.getEventsCount()).isEqualTo(100);
        assertThat(second.getNextPageToken()).isEmpty();
    }

    @Test
    void eventsAreListedUnderConditions() {
        node.store.accept(ServedNode.xid("79").build());
        node.store.accept(ServedNode.xid("13").fatal(false).build());
        node.store.accept(ServedNode.xid("79").fatal(false).healthy(true).build());
        assertThat(codes(ListEventsRequest.newBuilder().addErrorCodes("79"))).isEqualTo("79 79");
        assertThat(codes(ListEventsRequest.newBuilder().setIsHealthy(false))).isEqualTo("79 13");
        assertThat(codes(ListEventsRequest.newBuilder().setIsFatal(true))).isEqualTo("79");
        assertThat(codes(ListEventsRequest.newBuilder().addCheckNames("other"))).isEmpty();
        assertThat(codes(ListEventsRequest.newBuilder().setEntityValue("GPU-1")))
                .isEqualTo("79 13 79");
        assertThat(codes(ListEventsRequest.newBuilder()
                        .setUntil(Timestamp.newBuilder().setSeconds(1))))
                .isEmpty();
        assertThat(codes(ListEventsRequest.newBuilder()
                        .setFrom(Timestamp.newBuilder().setSeconds(1))
                        .setPageSize(1)))
                .isEqualTo("79");
        refused(
                Status.Code.INVALID_ARGUMENT,
                "page_token",
                () -> codes(ListEventsRequest.newBuilder().setPageToken("'; DROP TABLE events")));
        refused(
                Status.Code.INVALID_ARGUMENT,
                "page_size",
                () -> codes(ListEventsRequest.newBuilder().setPageSize(-1)));
        refused(
                Status.Code.INVALID_ARGUMENT,
                "from: no time",
                () -> codes(ListEventsRequest.newBuilder()
                        .setFrom(Timestamp.newBuilder().setSeconds(Long.MAX_VALUE))));
    }

    private String codes(ListEventsRequest.Builder request) {
        return ask().listEvents(request.build()).getEventsList().stream()
                .map(stored -> String.join(",", stored.getEvent().getErrorCodeList()))
                .reduce((a, b) -> a + " " + b)
                .orElse("");
    }

    @Test
    void anEventComesWithItsRecordingWhereThatIsAskedFor() {
        node.store.accept(ServedNode.xid("79").id("the-id").build());
        long sequence = node.store.event("the-id").orElseThrow().sequence();
        assertThat(node.store.attach(sequence, new byte[] {1, 2, 3})).isTrue();
        GetEventRequest plain = GetEventRequest.newBuilder().setId("the-id").build();
        GetEventResponse without = ask().getEvent(plain);
        assertThat(FaultCodec.fromWire(without.getEvent()))
                .isEqualTo(node.store.event("the-id").orElseThrow());
        assertThat(without.hasRecording()).isFalse();
        GetEventResponse with =
                ask().getEvent(plain.toBuilder().setWithRecording(true).build());
        assertThat(with.getRecording().toByteArray()).containsExactly(1, 2, 3);
        refused(
                Status.Code.NOT_FOUND,
                "no event with that id",
                () -> ask().getEvent(GetEventRequest.newBuilder().setId("none").build()));
    }
}
