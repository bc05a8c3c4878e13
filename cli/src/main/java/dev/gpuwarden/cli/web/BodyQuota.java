package dev.gpuwarden.cli.web;

import java.util.IdentityHashMap;
import java.util.Map;

/** The arrays that answers are written from; one that several clients get is held once. For the event loop's thread alone. */
final class BodyQuota {

    private final long most;
    private final Map<byte[], Integer> readers = new IdentityHashMap<>();
    private long bytes;

    BodyQuota(long most) {
        this.most = most;
    }

    /** False where there is no room; one that is larger than all room gets it when there is no other, a small one always. */
    boolean take(byte[] body) {
        if (body.length <= HttpConnection.PIECE_BYTES) {
            return true;
        }
        Integer others = readers.get(body);
        if (others == null) {
            if (bytes > 0 && bytes + body.length > most) {
                return false;
            }
            bytes += body.length;
        }
        readers.put(body, others == null ? 1 : others + 1);
        return true;
    }

    void give(byte[] body) {
        Integer held = readers.remove(body);
        if (held == null) {
            return;
        }
        if (held > 1) {
            readers.put(body, held - 1);
        } else {
            bytes -= body.length;
        }
    }

    long bytes() {
        return bytes;
    }
}
