package dev.gpuwarden.core.port;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** A library of collectives between GPUs, called in this process. All calls are thread-safe. */
public interface CollectiveDriver {

    /** Bytes of the id that all members of a group share. */
    int UNIQUE_ID_BYTES = 128;

    /** Returns the file that the loader took. */
    String libraryPath();

    /** Returns the version as one number: 22105 is 2.21.5. */
    int version();

    /** Returns the version in the usual form: {@code 2.21.5}. */
    default String versionText() {
        return versionText(version());
    }

    /** Returns a version of one number in the usual form. */
    static String versionText(int version) {
        return version / 10_000 + "." + version / 100 % 100 + "." + version % 100;
    }

    /** Returns the GPUs that this process may use, in the driver's order. */
    List<Gpu> gpus();

    /** Returns the GPU with this UUID, or with this number in the driver's order. */
    default Optional<Gpu> gpu(String name) {
        return gpus().stream()
                .filter(gpu -> gpu.uuid().equals(name)
                        || Integer.toString(gpu.ordinal()).equals(name))
                .findFirst();
    }

    /** Returns a new id for a group, of {@link #UNIQUE_ID_BYTES}. The library then listens on the network for its members. */
    byte[] newUniqueId() throws CollectiveException;

    /**
     * Joins a group, and waits until all members have joined or the deadline has passed. The calling thread gets the GPU's primary
     * context. It must be a platform thread of its own, since all calls of the communicator must come from it.
     */
    Communicator join(Member member) throws CollectiveException;

    /**
     * A GPU of this process.
     *
     * @param ordinal number in the driver's order, from 0
     * @param uuid UUID in NVML's form
     * @param pciAddress domain, bus and device in hexadecimal: {@code 0000:1b:00}
     * @param memoryBytes all memory of the GPU
     * @param computeCapability 90 is 9.0
     */
    record Gpu(int ordinal, String uuid, String name, String pciAddress, long memoryBytes, int computeCapability) {}

    /**
     * A place in a group.
     *
     * @param ordinal number of the GPU
     * @param rank number of this member, from 0
     * @param ranks number of members
     * @param uniqueId the id of the group
     * @param deadline for the joining of all members, and for each later call that waits for the library
     * @param defaultStream whether the GPU's default stream is used; else the communicator has a stream of its own
     * @param ctaPolicy of the library, from version 2.27 on; empty for its default
     * @param abort ends the joining, and each later wait; a call that hangs in the library or in the driver does not return
     */
    record Member(
            int ordinal,
            int rank,
            int ranks,
            byte[] uniqueId,
            Duration deadline,
            boolean defaultStream,
            OptionalInt ctaPolicy,
            AbortSignal abort) {

        /** A member with the library's default policy. */
        public Member(
                int ordinal,
                int rank,
                int ranks,
                byte[] uniqueId,
                Duration deadline,
                boolean defaultStream,
                AbortSignal abort) {
            this(ordinal, rank, ranks, uniqueId, deadline, defaultStream, OptionalInt.empty(), abort);
        }
    }
}
