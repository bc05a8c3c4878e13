package dev.gpuwarden.benchmarks;

import dev.gpuwarden.core.kernel.KernelLogParser;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Kernel lines parsed per second, with the daemon's compiler. */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@State(Scope.Thread)
@Fork(
        value = 2,
        jvmArgsAppend = {"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx48m"})
@Warmup(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
public class KernelLogParserBenchmark {

    private static final int LINES = 10_000;

    /** Other lines in the log of a GPU node, in the form of `/dev/kmsg`. */
    private static final String[] OTHERS = {
        "IPv6: ADDRCONF(NETDEV_CHANGE): cali0a1b2c3d4e5: link becomes ready",
        "audit: type=1400 audit(1732159202.123:456): apparmor=\"ALLOWED\" operation=\"open\" profile=\"runc\" pid=1234",
        "systemd[1]: Started Session 42 of user root.",
        "usb 1-1: new high-speed USB device number 2 using xhci_hcd",
        "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=cri-containerd-0a1b2c3d.scope,mems_allowed=0-1",
        "EXT4-fs (nvme0n1p2): re-mounted 0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9 r/w. Quota mode: none.",
        "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.144.03  Mon Dec 30 17:44:08 UTC 2024",
        "nvidia-nvswitch2: open (major=510)",
        "mlx5_core 0000:5c:00.0: firmware version: 28.45.4028",
        "TCP: request_sock_TCP: Possible SYN flooding on port 8080. Sending cookies.  Check SNMP counters."
    };

    private static final String[] HITS = {
        "NVRM: Xid (PCI:0000:3b:00): 31, pid=2512125, name=python3.10, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS"
                + " GPCCLIENT_T1_8 faulted @ 0x73ac_1c000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_WRITE",
        "NVRM: Xid (PCI:0000:3b:00): 95, pid='<unknown>', name=<unknown>, Uncontained: FBHUB. RST: Yes, D-RST: No",
        "NVRM: Xid (PCI:0018:01:00): 145, pid=876767, name=ray::WorkerDict, RLW_RXPIPE Nonfatal XC0 i0 Link 13"
                + " (0x0409a0c2 0x00000008 0x00000001 0x00000000 0x00100000 0x00000004)",
        "NVRM: Xid (PCI:0003:00:00): 74, pid='<unknown>', name=<unknown>, NVLink: fatal error detected on link 14"
                + "(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)",
        "nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error (First)",
        "NVRM: GPU at PCI:0000:3b:00: GPU-455d8f70-2051-db6c-0430-ffc457bff834",
        "mlx5_core 0000:5c:00.0 ens1f0np0: Link down"
    };

    /** The text before the message. */
    public enum Prefix {
        /** No prefix: the form in which the daemon reads /dev/kmsg and journald. */
        NONE(""),
        /** The prefix of a log file. */
        SYSLOG("Nov 21 02:00:02 node-1 kernel: [ 1126.635824] ");

        private final String text;

        Prefix(String text) {
            this.text = text;
        }
    }

    @Param
    Prefix prefix = Prefix.NONE;

    /** Lines with a signal, of a hundred. */
    @Param({"0", "1", "100"})
    int hitsPercent;

    private final KernelLogParser parser = KernelLogParser.standard();
    private String[] lines = {};

    @Setup
    public void fill() {
        Random random = new Random(1);
        lines = new String[LINES];
        for (int i = 0; i < LINES; i++) {
            String[] from = random.nextInt(100) < hitsPercent ? HITS : OTHERS;
            lines[i] = prefix.text + from[random.nextInt(from.length)];
        }
    }

    /**
     * The share of the processor that the thread got. On a busy machine, divide the score by this share to get lines per
     * second and core.
     */
    @AuxCounters(AuxCounters.Type.OPERATIONS)
    @State(Scope.Thread)
    public static class Processor {
        public double share;

        private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        private long before;

        @Setup(Level.Iteration)
        public void start() {
            share = 0;
            before = threads.getCurrentThreadCpuTime();
        }

        void look() {
            share = (threads.getCurrentThreadCpuTime() - before) / 1e9;
        }
    }

    /** Counts the results, so that the compiler removes no work. */
    @Benchmark
    @OperationsPerInvocation(LINES)
    public int parse(Processor processor) {
        int hits = 0;
        for (String line : lines) {
            hits += parser.parse(line).isPresent() ? 1 : 0;
        }
        processor.look();
        return hits;
    }
}
