package dev.gpuwarden.daemon.command;

import dev.gpuwarden.api.v1.Reservation;
import dev.gpuwarden.core.util.Mib;
import java.time.Instant;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * One state of a request for GPU memory, in words and as JSON.
 *
 * @param bytes requested amount
 */
record ReservationView(Reservation state, long bytes) {

    String text() {
        String amount = Mib.text(bytes);
        String gpu = "GPU " + state.getGpu().getIndex() + " (" + state.getGpu().getUuid() + ")";
        return switch (state.getState()) {
            case WAITING ->
                "waiting for " + amount + " for " + state.getTenant()
                        + (state.getReason().isEmpty() ? "" : ": " + state.getReason());
            case GRANTED ->
                amount + " of " + gpu + " are reserved for " + state.getTenant() + " until "
                        + ClientTimes.local(until(), ZoneId.systemDefault());
            case EXPIRED ->
                state.hasGpu()
                        ? "the reservation of " + amount + " of " + gpu + " has ended"
                        : "the wait for " + amount + " has ended";
            default -> "a state of a newer version";
        };
    }

    private Instant until() {
        return Instant.ofEpochSecond(state.getUntil().getSeconds());
    }

    Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("state", state.getState().name().toLowerCase(Locale.ROOT));
        tree.put("tenant", state.getTenant());
        tree.put("bytes", bytes);
        if (state.hasGpu()) {
            Map<String, Object> gpu = new LinkedHashMap<>();
            gpu.put("index", state.getGpu().getIndex());
            gpu.put("uuid", state.getGpu().getUuid());
            tree.put("gpu", gpu);
            tree.put("unusedBytes", state.getUnusedBytes());
        }
        if (!state.getReason().isEmpty()) {
            tree.put("reason", state.getReason());
        }
        tree.put("until", until().toString());
        return tree;
    }
}
