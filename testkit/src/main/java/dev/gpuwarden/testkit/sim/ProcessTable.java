package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.testkit.scenario.SimProcess;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** The rows of processes, and the memory in use of GPUs and partitions. Call within {@link SimTable#change}. */
record ProcessTable(SimTable table) {

    void start(SimProcess process) {
        if (holds(process.pid())) {
            throw new UserError("process " + process.pid() + ": expected a new one, it is there already");
        }
        for (int gpu : process.gpus()) {
            if (process.bytes().isPresent()) {
                use(gpu, process.mig(), process.pid(), process.bytes().getAsLong());
            }
            append(process, gpu);
        }
    }

    boolean holds(int pid) {
        for (int row = 0; row < count(); row++) {
            if (table.number(path(row, "pid")) == pid) {
                return true;
            }
        }
        return false;
    }

    private int count() {
        return (int) table.number("header.process_count");
    }

    private static String path(int row, String field) {
        return "process[" + row + "]." + field;
    }

    private void append(SimProcess process, int gpu) {
        int row = count();
        if (row == table.layout().constant("PROCESS_MAX")) {
            throw new UserError("processes: expected at most " + row);
        }
        table.reset("process[" + row + "]");
        table.set(path(row, "gpu"), gpu);
        table.set(path(row, "pid"), process.pid());
        table.set(
                path(row, "type"),
                table.layout().constant("PROCESS_" + process.type().name()));
        table.set(path(row, "bytes"), process.bytes().orElse(SimLayout.ABSENT));
        table.set(path(row, "name"), process.command());
        process.smPercent().ifPresent(percent -> table.set(path(row, "sm_util"), percent));
        process.mig().ifPresent(partition -> {
            table.set(path(row, "gi"), table.number(mig(gpu, partition) + ".gi"));
            table.set(path(row, "ci"), table.number(mig(gpu, partition) + ".ci"));
        });
        table.set("header.process_count", row + 1);
    }

    private static String mig(int gpu, int partition) {
        return TableWriter.gpu(gpu) + ".mig[" + partition + "]";
    }

    void stop(int pid) {
        require(pid);
        for (int row = count() - 1; row >= 0; row--) {
            if (table.number(path(row, "pid")) == pid) {
                resize(row, OptionalLong.of(0));
                int last = count() - 1;
                if (row != last) {
                    table.copy("process[" + last + "]", "process[" + row + "]");
                }
                table.set("header.process_count", last);
            }
        }
    }

    void stopAll() {
        while (count() > 0) {
            stop((int) table.number(path(count() - 1, "pid")));
        }
    }

    /** Sets the memory of a process on every GPU that it holds. */
    void setMemory(int pid, OptionalLong bytes) {
        require(pid);
        for (int row = 0; row < count(); row++) {
            if (table.number(path(row, "pid")) == pid) {
                resize(row, bytes);
            }
        }
    }

    private void require(int pid) {
        if (!holds(pid)) {
            throw new UserError("process " + pid + ": expected a process that holds a GPU, but none has this pid");
        }
    }

    /** Leaves the GPU's memory unchanged for processes whose memory is absent. */
    private void resize(int row, OptionalLong bytes) {
        long before = table.number(path(row, "bytes"));
        if (before != SimLayout.ABSENT && bytes.isPresent()) {
            int gpu = (int) table.number(path(row, "gpu"));
            use(gpu, partition(row, gpu), (int) table.number(path(row, "pid")), bytes.getAsLong() - before);
        }
        table.set(path(row, "bytes"), bytes.orElse(SimLayout.ABSENT));
    }

    private OptionalInt partition(int row, int gpu) {
        long instance = table.number(path(row, "gi"));
        for (int i = 0; i < table.layout().constant("MIG_MAX"); i++) {
            if (instance != SimLayout.ABSENT && table.number(mig(gpu, i) + ".gi") == instance) {
                return OptionalInt.of(i);
            }
        }
        return OptionalInt.empty();
    }

    private void use(int gpu, OptionalInt partition, int pid, long bytes) {
        use(TableWriter.gpu(gpu), pid, bytes);
        if (partition.isPresent()) {
            use(mig(gpu, partition.getAsInt()), pid, bytes);
        }
    }

    private void use(String holder, int pid, long bytes) {
        long used = table.number(holder + ".mem_used") + bytes;
        long room = table.number(holder + ".mem_total") - table.number(holder + ".mem_reserved");
        if (bytes > 0 && used > room) {
            throw new UserError("process " + pid + ": expected at most " + (room - used + bytes) + " more bytes on "
                    + holder + ", saw " + bytes);
        }
        table.set(holder + ".mem_used", Math.max(0, used));
    }
}
