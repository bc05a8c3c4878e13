package dev.gpuwarden.cli.web;

import java.util.IdentityHashMap;
import java.util.Map;

/**
 * The quota of memory for answers that are being written. An array that several clients receive counts once. For the
 * event loop's thread alone.
 */
final class BodyQuota {

    private final long most;
    private final Map<byte[], Integer> readers = new IdentityHashMap<>();
    private long bytes;

    BodyQuota(long most) {
        this.most = most;
    }

    /**
     * Takes memory from the quota. An array larger than the whole quota is accepted when it is the only one; a small
     * array always.
     *
     * @return false where there is no room
     */
    boolean take(byte[] body) {
        if (body.length <= AnswerWriter.PIECE_BYTES) {
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
