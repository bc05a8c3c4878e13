package dev.gpuwarden.nccl.run;

import dev.gpuwarden.core.port.CollectiveException;
import dev.gpuwarden.core.port.CollectiveException.Kind;
import dev.gpuwarden.core.port.Communicator;
import dev.gpuwarden.nccl.data.Pattern;
import dev.gpuwarden.nccl.data.Segment;
import java.util.Arrays;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** The comparison of data on the GPU that has it, with patterns of which one period each is copied there. */
final class DeviceCheck {

    /** Patterns that one check uses at most: input, result and zeros. */
    private static final int SLOTS = 3;

    private final Communicator communicator;
    private final @Nullable Pattern[] patterns = new Pattern[SLOTS];
    private final long[] addresses = new long[SLOTS];
    private int next;
    private boolean tooOld;

    DeviceCheck(Communicator communicator) {
        this.communicator = communicator;
    }

    /**
     * Returns the wrong elements at this address; empty if the GPU or its driver is too old for the kernel.
     *
     * @param segment the expected data
     */
    OptionalLong wrong(long address, Segment segment) throws CollectiveException {
        if (tooOld) {
            return OptionalLong.empty();
        }
        Pattern pattern = segment.pattern();
        try {
            return OptionalLong.of(communicator.countWrong(
                    address, segment.count(), pattern.type(), copied(pattern), segment.position(), Pattern.PERIOD));
        } catch (CollectiveException e) {
            if (e.kind() != Kind.NOT_SUPPORTED) {
                throw e;
            }
            tooOld = true;
            return OptionalLong.empty();
        }
    }

    /** Returns the address of a pattern's period on the GPU. */
    private long copied(Pattern pattern) throws CollectiveException {
        int known = Arrays.asList(patterns).indexOf(pattern);
        if (known >= 0) {
            return addresses[known];
        }
        int slot = next;
        next = (next + 1) % SLOTS;
        if (addresses[slot] == 0) {
            addresses[slot] = communicator.allocate((long) Pattern.PERIOD * Long.BYTES);
        }
        communicator.write(addresses[slot], pattern.slice(0, Pattern.PERIOD));
        patterns[slot] = pattern;
        return addresses[slot];
    }
}
