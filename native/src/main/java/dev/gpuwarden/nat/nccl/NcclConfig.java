package dev.gpuwarden.nat.nccl;

import dev.gpuwarden.nat.lib.NativeMemory;
import java.util.OptionalInt;

/**
 * The configuration of a communicator (nccl.h 2.18, ncclConfig_t), whose calls return before they are done. Later versions accept this
 * shorter form, and use their defaults for the rest. A CTA policy needs the form of 2.27.
 */
final class NcclConfig {

    /** The first version with CTA policies and windows. */
    static final int LONGER = 22700;

    private static final int BYTES = 48;
    private static final int LONGER_BYTES = 72;
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

    private static final int TRAFFIC_CLASS = 44;
    private static final int COMM_NAME = 48;
    private static final int COLLNET_ENABLE = 56;
    private static final int CTA_POLICY = 60;
    private static final int SHRINK_SHARE = 64;
    private static final int NVLS_CTAS = 68;

    private NcclConfig() {}

    /** @param policy of a library from 2.27 on */
    static NativeMemory nonBlocking(OptionalInt policy) {
        return policy.isEmpty() ? nonBlocking() : longer(policy.getAsInt());
    }

    private static NativeMemory longer(int policy) {
        NativeMemory config = NativeMemory.allocate(LONGER_BYTES);
        try (NativeMemory shorter = nonBlocking()) {
            config.buffer().put(0, shorter.buffer(), 0, BYTES);
        }
        config.buffer()
                .putLong(SIZE, LONGER_BYTES)
                .putInt(VERSION, LONGER)
                .putInt(TRAFFIC_CLASS, Integer.MIN_VALUE)
                .putLong(COMM_NAME, 0)
                .putInt(COLLNET_ENABLE, Integer.MIN_VALUE)
                .putInt(CTA_POLICY, policy)
                .putInt(SHRINK_SHARE, Integer.MIN_VALUE)
                .putInt(NVLS_CTAS, Integer.MIN_VALUE);
        return config;
    }

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
