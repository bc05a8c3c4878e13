package dev.gpuwarden.daemon.grpc;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.codec.ByteToMessageDecoder.Cumulator;

/**
 * Copies what arrived on a connection to the heap, into a buffer of just its size. The parts of an unfinished request keep the buffers
 * that they were read into. Netty reads into direct memory, whose limit ends no process but every further read, and into buffers that are
 * several times as large as a part.
 */
final class HeapCumulator implements Cumulator {

    @Override
    public ByteBuf cumulate(ByteBufAllocator allocator, ByteBuf before, ByteBuf in) {
        try {
            int bytes = before.readableBytes() + in.readableBytes();
            return allocator.heapBuffer(bytes, bytes).writeBytes(before).writeBytes(in);
        } finally {
            before.release();
            in.release();
        }
    }
}
