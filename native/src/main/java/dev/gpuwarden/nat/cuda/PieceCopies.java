package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.nat.lib.NativeMemory;

/** Copies of data between this process and the GPU's memory piece by piece, so that little memory of the host is needed. */
final class PieceCopies {

    private static final int PIECE = 1 << 20;

    private final CudaLibrary library;
    private final long stream;
    private final int bytes;
    private final NativeMemory piece;

    PieceCopies(Resources resources, long stream, int bytes) {
        this.library = resources.library();
        this.stream = stream;
        this.bytes = bytes;
        this.piece = resources.host(Math.min(PIECE, bytes));
    }

    void write(long to, WrittenData data) throws CudaException {
        for (int from = 0; from < bytes; from += piece.size()) {
            data.write(piece.buffer(), from);
            library.require(
                    CudaSymbol.COPY_TO_DEVICE,
                    to + from,
                    piece.address(),
                    Math.min(piece.size(), bytes - from),
                    stream);
            library.require(CudaSymbol.STREAM_SYNCHRONIZE, stream);
        }
    }

    /** Reads memory of the current context's GPU, after all copies to it have ended. */
    void compare(long address, WrittenData data) throws CudaException {
        for (int from = 0; from < bytes; from += piece.size()) {
            int some = Math.min(piece.size(), bytes - from);
            library.require(CudaSymbol.READ_MEMORY, piece.address(), address + from, some);
            data.compare(piece.buffer(), from, some);
        }
    }
}
