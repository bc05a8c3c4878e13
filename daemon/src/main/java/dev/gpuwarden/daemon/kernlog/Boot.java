package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import dev.gpuwarden.daemon.node.BootId;
import java.nio.file.Path;

/** The boot of which the log tells now. */
final class Boot {

    private final Path procfs;
    private volatile String id;

    Boot(Path procfs) {
        this.procfs = procfs;
        id = BootId.read(procfs);
    }

    String id() {
        return id;
    }

    /** Whether with this record another boot begins: a node that is simulated boots under the daemon. */
    boolean begins(KernelRecord record) {
        if (record.writer() != Writer.KERNEL || !record.text().startsWith(BootStart.FIRST_WORDS)) {
            return false;
        }
        String now = BootId.read(procfs);
        boolean other = !now.equals(id);
        id = now;
        return other;
    }
}
