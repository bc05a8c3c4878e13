package dev.gpuwarden.core.compute;

import java.util.OptionalLong;

/**
 * The comparison, on the host, of data that the host wrote and that came back by copies.
 *
 * @param bytes that were compared
 * @param wrongWords 8-byte words with another content
 * @param first byte of the first such word; empty if there is none
 */
public record CopiedData(long bytes, long wrongWords, OptionalLong first) {

    public boolean isRight() {
        return wrongWords == 0;
    }
}
