package dev.gpuwarden.nccl.run;

import dev.gpuwarden.core.port.CollectiveException;
import dev.gpuwarden.core.port.Communicator;
import dev.gpuwarden.core.port.ElementType;
import dev.gpuwarden.nccl.data.Pattern;
import dev.gpuwarden.nccl.data.Segment;
import dev.gpuwarden.nccl.plan.Layout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.OptionalLong;

/** The buffers of a rank, with the data of the check. Data goes to the GPU in pieces, and is compared there if its bits are exact. */
final class Buffers {

    /** Least size, so that a message of no bytes has an address. */
    private static final long LEAST = 16;

    private final Communicator communicator;
    private final int rank;
    private final long bytes;
    private final int offset;
    private final long send;
    private final long receive;
    private final DeviceCheck device;
    private final ByteBuffer seen =
            ByteBuffer.allocateDirect(Pattern.PERIOD * Double.BYTES).order(ByteOrder.nativeOrder());

    /**
     * @param bytes for data
     * @param offset elements before the data
     */
    Buffers(Communicator communicator, int rank, long bytes, int offset) throws CollectiveException {
        this.communicator = communicator;
        this.rank = rank;
        this.bytes = Math.max(LEAST, bytes);
        this.offset = offset;
        device = new DeviceCheck(communicator);
        send = communicator.allocate(allBytes());
        receive = communicator.allocate(allBytes());
    }

    /** Returns the size of a buffer, which has room for the offset of the largest type. */
    private long allBytes() {
        return bytes + (long) offset * Double.BYTES;
    }

    /** @param kind 1 for this rank alone, 2 for symmetric windows of all ranks, 0 for none */
    void register(int kind) throws CollectiveException {
        for (long buffer : new long[] {send, receive}) {
            if (kind == 1) {
                communicator.register(buffer, allBytes());
            } else if (kind == 2) {
                communicator.registerWindow(buffer, allBytes());
            }
        }
    }

    private long data(long buffer, ElementType type) {
        return buffer + (long) offset * type.bytes();
    }

    /** Returns the address of the data to send. */
    long send(Layout layout, long iteration, boolean inPlace) {
        return data(inPlace ? receive : send, layout.type())
                + layout.shift(iteration, bytes)
                + layout.sendOffset(rank, inPlace);
    }

    /** Returns the address of the data to receive. */
    long receive(Layout layout, long iteration, boolean inPlace) {
        return data(receive, layout.type()) + layout.shift(iteration, bytes) + layout.receiveOffset(rank, inPlace);
    }

    /** Writes data to all of both buffers. */
    void fill(Pattern pattern) throws CollectiveException {
        long count = bytes / pattern.type().bytes();
        write(data(send, pattern.type()), new Segment(0, count, pattern, 0));
        write(data(receive, pattern.type()), new Segment(0, count, pattern, 0));
    }

    /** Writes zeros to the receive buffer, and the input to its place. */
    void prepare(Layout layout, Segment input, boolean inPlace) throws CollectiveException {
        if (layout.bytes() > 0) {
            communicator.fill(data(receive, layout.type()), layout.bytes(), (byte) 0);
        }
        write(send(layout, 0, inPlace), input);
    }

    private void write(long to, Segment segment) throws CollectiveException {
        int size = segment.pattern().type().bytes();
        for (long done = 0; done < segment.count(); done += Pattern.PERIOD) {
            int count = (int) Math.min(Pattern.PERIOD, segment.count() - done);
            communicator.write(
                    to + (segment.at() + done) * size, segment.pattern().slice(segment.position() + done, count));
        }
    }

    /** Returns the wrong elements of the receive buffer. Averages, which have a tolerance, are compared on the host. */
    long wrong(Layout layout, Iterable<Segment> expected, boolean inPlace, int tolerance) throws CollectiveException {
        long wrong = 0;
        for (Segment segment : expected) {
            int size = segment.pattern().type().bytes();
            long from = receive(layout, 0, inPlace) + segment.at() * size;
            OptionalLong counted = tolerance == 0 ? device.wrong(from, segment) : OptionalLong.empty();
            if (counted.isPresent()) {
                wrong += counted.getAsLong();
                continue;
            }
            for (long done = 0; done < segment.count(); done += Pattern.PERIOD) {
                int count = (int) Math.min(Pattern.PERIOD, segment.count() - done);
                seen.clear().limit(count * size);
                communicator.read(from + done * size, seen);
                wrong += segment.pattern().wrong(seen, segment.position() + done, tolerance);
            }
        }
        return wrong;
    }
}
