package dev.gpuwarden.nccl.plan;

import dev.gpuwarden.core.port.ElementType;

/**
 * The counts of one operation, in elements.
 *
 * @param sendCount elements of the send buffer
 * @param receiveCount elements of the receive buffer
 * @param count the count that the library receives
 * @param sendStep offset of the data to send in the receive buffer when it works in place, times the rank
 * @param receiveStep offset of the received data in it, times the rank
 */
public record Layout(ElementType type, long sendCount, long receiveCount, long count, long sendStep, long receiveStep) {

    /** Returns the size of the larger buffer, which is the size of a row. */
    public long bytes() {
        return Math.max(sendCount, receiveCount) * type.bytes();
    }

    /** Returns the offset of the data to send in the buffer that it is in, in bytes. */
    public long sendOffset(int rank, boolean inPlace) {
        return inPlace ? sendStep * rank * type.bytes() : 0;
    }

    /** Returns the offset of the received data in its buffer, in bytes. */
    public long receiveOffset(int rank, boolean inPlace) {
        return inPlace ? receiveStep * rank * type.bytes() : 0;
    }

    /** Returns the offset for an iteration: each has other memory as long as there is some, so that caches do not help. */
    public long shift(long iteration, long bufferBytes) {
        long places = bytes() == 0 ? 1 : Math.max(1, bufferBytes / bytes());
        return bytes() * (iteration % places);
    }
}
