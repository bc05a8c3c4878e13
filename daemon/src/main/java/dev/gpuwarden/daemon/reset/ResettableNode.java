package dev.gpuwarden.daemon.reset;

import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The parts of the node that a reset uses. */
public interface ResettableNode {

    /**
     * Lets gpuwarden's own daemon let go of the GPUs until the result is closed.
     *
     * @return absent with the cause if it could not
     */
    Reading<Release> release(List<String> uuids) throws InterruptedException;

    /**
     * Returns descriptions of the processes that hold the GPUs open; absent if that cannot be found out.
     *
     * @param all with nvidia-persistenced too, which closes a GPU when its persistence mode is turned off
     */
    Reading<List<String>> holders(boolean all);

    /** Returns the clients of the driver in the kernel, which have no open file; absent if they cannot be read. */
    Reading<KernelClients> kernelClients();

    /** Returns the addresses of these GPUs, which nvidia-smi reports. */
    Set<PciAddress> addresses(Collection<String> uuids);

    /** Returns the reason why the GPUs must not be reset now; empty if they may. Called just before the reset. */
    default Optional<String> withheld() throws InterruptedException {
        return Optional.empty();
    }

    /** Checks the GPUs after their reset. A fault that the kernel log gets of them during the checks is a defect. */
    Verified verify(List<String> uuids);

    /**
     * Returns the persistence mode of each GPU of this node by its UUID, as it was before the reset; absent where the driver
     * does not report it.
     */
    Map<String, Reading<Long>> persistenceModes();

    /** Writes a line to the kernel log. Returns the cause of a failure. */
    Optional<String> acknowledge(String line);

    /**
     * The verdict of the checks.
     *
     * @param defects empty for healthy GPUs
     * @param text the number of checks that passed, and the names of those that neither passed nor failed
     * @param unproven why no reset can have happened; empty if nothing speaks against it
     */
    record Verified(List<String> defects, String text, Optional<String> unproven) {}

    /** The time in which the daemon does not read the GPUs. */
    interface Release extends AutoCloseable {
        /** Returns what the step reports. */
        String text();

        /** Returns the cause if the daemon has taken the GPUs again by itself. */
        Optional<String> lost();

        @Override
        void close();
    }
}
