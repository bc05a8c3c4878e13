package dev.gpuwarden.daemon.grpc;

import com.google.protobuf.Timestamp;
import dev.gpuwarden.api.FaultCodec;
import dev.gpuwarden.api.v1.ListEventsRequest;
import dev.gpuwarden.api.v1.ListEventsResponse;
import dev.gpuwarden.core.event.EventFilter;
import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.event.StoredEvent;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Pages of events for ListEvents. Reads the store. */
record EventPager(EventReader book) {

    private static final int DEFAULT_SIZE = 100;
    private static final int MAX_SIZE = 1000;
    /** Events that one step reads into memory. */
    private static final int STEP = 50;
    /** The size after which a page ends, so that a page of long messages stays within gRPC's default message size. */
    private static final int MAX_BYTES = 1 << 20;

    /** @throws StatusRuntimeException INVALID_ARGUMENT if the request is not valid */
    ListEventsResponse page(ListEventsRequest request) {
        int size = size(request.getPageSize());
        long after = after(request.getPageToken());
        ListEventsResponse.Builder page = ListEventsResponse.newBuilder();
        int bytes = 0;
        while (true) {
            int step = Math.min(STEP, size - page.getEventsCount());
            List<StoredEvent> events = book.events(filter(request, after, step));
            for (StoredEvent event : events) {
                dev.gpuwarden.api.v1.StoredEvent wire = FaultCodec.toWire(event);
                page.addEvents(wire);
                after = event.sequence();
                bytes += wire.getSerializedSize();
                if (bytes >= MAX_BYTES) {
                    return page.setNextPageToken(Long.toString(after)).build();
                }
            }
            if (events.size() < step) {
                return page.build();
            }
            if (page.getEventsCount() == size) {
                return page.setNextPageToken(Long.toString(after)).build();
            }
        }
    }

    private static int size(int asked) {
        if (asked < 0) {
            throw invalid("page_size: " + asked + ", expected 0 or more");
        }
        return asked == 0 ? DEFAULT_SIZE : Math.min(asked, MAX_SIZE);
    }

    private static long after(String token) {
        if (token.isEmpty()) {
            return 0;
        }
        try {
            long sequence = Long.parseLong(token);
            if (sequence > 0) {
                return sequence;
            }
        } catch (NumberFormatException e) {
            // Refused below, as any other text that is no page token.
        }
        throw invalid("page_token: expected one from an earlier answer");
    }

    private static EventFilter filter(ListEventsRequest request, long after, int limit) {
        return new EventFilter(
                List.copyOf(request.getAgentsList()),
                List.copyOf(request.getCheckNamesList()),
                List.copyOf(request.getErrorCodesList()),
                Optional.of(request.getEntityValue()).filter(value -> !value.isEmpty()),
                request.hasIsFatal() ? Optional.of(request.getIsFatal()) : Optional.empty(),
                request.hasIsHealthy() ? Optional.of(request.getIsHealthy()) : Optional.empty(),
                request.hasFrom() ? Optional.of(instant("from", request.getFrom())) : Optional.empty(),
                request.hasUntil() ? Optional.of(instant("until", request.getUntil())) : Optional.empty(),
                after,
                request.getNewestFirst(),
                limit);
    }

    private static Instant instant(String field, Timestamp time) {
        try {
            return Instant.ofEpochSecond(time.getSeconds(), time.getNanos());
        } catch (DateTimeException | ArithmeticException e) {
            throw invalid(field + ": no time");
        }
    }

    private static StatusRuntimeException invalid(String why) {
        return NodeService.status(Status.INVALID_ARGUMENT, why);
    }
}
