package dev.gpuwarden.nat.nccl;

import dev.gpuwarden.nat.lib.NativeMemory;

/**
 * The configuration of a communicator (nccl.h 2.18, ncclConfig_t), whose calls return before they are done. Later versions accept this
 * shorter form, and use their defaults for the rest.
 */
final class NcclConfig {

    private static final int BYTES = 48;
    private static final int MAGIC = 0xcafebeef;

    // Offsets of members.
    private static final int SIZE = 0;
    private static final int MAGIC_AT = 8;
    private static final int VERSION = 12;
    private static final int BLOCKING = 16;
    private static final int CGA_CLUSTER_SIZE = 20;
    private static final int LEAST_CTAS = 24;
    private static final int MOST_CTAS = 28;
    private static final int NET_NAME = 32;
    private static final int SPLIT_SHARE = 40;

    private NcclConfig() {}

    static NativeMemory nonBlocking() {
        NativeMemory config = NativeMemory.allocate(BYTES);
        config.buffer()
                .putLong(SIZE, BYTES)
                .putInt(MAGIC_AT, MAGIC)
                .putInt(VERSION, NcclProvider.OLDEST)
                .putInt(BLOCKING, 0)
                .putInt(CGA_CLUSTER_SIZE, Integer.MIN_VALUE)
                .putInt(LEAST_CTAS, Integer.MIN_VALUE)
                .putInt(MOST_CTAS, Integer.MIN_VALUE)
                .putLong(NET_NAME, 0)
                .putInt(SPLIT_SHARE, Integer.MIN_VALUE);
        return config;
    }
}
