package dev.gpuwarden.core.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.Entity;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The place of a message in a line: prefixes, quotations and similar text. */
class MessagePositionTest {

    private static final String FALLEN = "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, name=a, GPU has fallen off the bus.";

    private static Optional<Signal> parse(String text) {
        return KernelLogParser.standard().parse(text);
    }

    private static Signal read(String text) {
        return parse(text).orElseThrow(() -> new AssertionError("not recognised: " + text));
    }

    private static String pci(Signal signal) {
        return signal.pci().map(address -> Entity.pci(address).value()).orElse("-");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "[14328.198504] ",
                "[    3.376704][  T123] ",
                "[Wed Jul 31 23:14:18 2024] ",
                "<4>[ 1126.635824] ",
                "kernel: ",
                "kernel: [ 1126.635824] ",
                "Nov 21 02:00:02 node-1 kernel: ",
                "Nov  1 02:00:02 node-1 kernel: [ 1126.635824] ",
                "2026-11-21T02:00:02.123456+00:00 node-1 kernel: ",
                "2026-11-21T02:00:02+0000 node-1 kernel: ",
                "2026-11-21T02:00:02,123456+00:00 ",
                "Sat 2026-11-21 02:00:02 UTC node-1 kernel: ",
                "1795226402.123456 node-1 kernel: ",
                "<4>1 2026-11-21T02:00:02Z node-1 kernel - - - ",
                "kern  :err   : [ 1126.635824] ",
                "[ 1126.635824 <    0.000012>] ",
                "[<    0.000012>] ",
                "[Nov21 02:00] ",
                "[  +0.000012] ",
                " kernel:[ 1126.635824] ",
                "[ 1126.635824] node-1 kernel: ",
                "[ 1126.635824 <    0.000012 >] node-1 kernel: ",
                "Nov 21 02:00:02 10.1.2.3 kernel: ",
                "Nov 21 02:00:02 node-1.example.com kernel: [T123] ",
                "2026-11-21 02:00:02 node-1 kernel: ",
                "4,1234,5678901,-;",
                "4,1234,5678901,-,caller=T77;",
                "   "
            })
    void prefixesOfLogsAreSkipped(String prefix) {
        Signal signal = read(prefix + FALLEN);
        assertThat(signal.code()).isEqualTo("79");
        assertThat(pci(signal)).isEqualTo("0000:3b:00");
        assertThat(signal.process()).contains("a");
        assertThat(read(prefix + FALLEN.replace("NVRM: Xid", "NVRM: GPU 0000:3b:00.0: Xid"))
                        .code())
                .isEqualTo("79");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Nov 21 02:00:02 node-1 kubelet[1234]: E1121 02:00:02.000000    1234 gpu.go:42] saw \"",
                "Nov 21 02:00:02 node-1 kubelet[1234]: ",
                "Nov 21 02:00:02 node-1 kubelet: ",
                "Nov 21 02:00:02 node-1 root: ",
                "Nov 21 02:00:02 node-1 sudo[777]:    admin : COMMAND=/usr/bin/grep ",
                "Nov 21 02:00:02 node-1 app[7]: Nov 21 02:00:01 node-1 kernel: ",
                "2026-11-21T02:00:02+00:00 node-1 dockerd[99]: time=\"2026\" level=info msg=\"",
                "/var/log/kern.log:Nov 21 02:00:02 node-1 kernel: ",
                "/var/log/kern.log:42:",
                "kern.log-",
                "I saw ",
                "E1121 02:00:02.000000    1234 gpu.go:42] ",
                "[INFO] ",
                "\"",
                "'",
                "+ ",
                "- ",
                "> ",
                "x",
                "12,1234,5678901,-;",
                "<12>[ 1126.635824] ",
                "user  :notice: [ 1126.635824] ",
                "{\"MESSAGE\":\"",
                "audit: type=1400 comm=\"",
                "Nov 21 02:00:02 node-1 kernel: audit: op=\"",
                "[ 1126.635824] systemd[1]: "
            })
    void quotedMessageIsIgnored(String prefix) {
        assertThat(parse(prefix + FALLEN)).isEmpty();
        assertThat(parse(prefix + "nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32 egress"))
                .isEmpty();
        assertThat(parse(prefix + "NVRM: GPU 0000:01:00.0: GPU has fallen off the bus."))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "NVRM: Xid (PCI:0000:07:00): ",
                "NVRM: Xid (PCI:0000:07:00):",
                "NVRM: Xid (PCI:0000:07:00)",
                "NVRM: Xid (PCI:0000:07:00",
                "NVRM: Xid (",
                "NVRM: Xid",
                "NVRM: Xid : 32, pid=2280636",
                "NVRM: Xid (PCI:0000:07:00): xyz, error",
                "NVRM: Xid (PCI:0000:07:00): 0x4f, error",
                "NVRM: Xid (PCI:0000:07:00): -79, error",
                "NVRM: Xid (PCI:0000:07:00): 79abc",
                "NVRM: Xid (PCI:0000:07:00): 12345678901, error",
                "NVRM: Xid (PCI:0000:07:00): 27 callbacks suppressed",
                "NVRM: Xid errors: 79",
                "NVRM: 79 callbacks suppressed",
                "nvidia_isr: 27 callbacks suppressed",
                "nvidia: 12 callbacks suppressed",
                "XID 79 on GPU 0000:07:00",
                "NVRM: krcRcAndNotifyAllChannels_IMPL: RC all channels for critical error 79.",
                "NVRM: GPU Board Serial Number: 1324023049334",
                "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.144.03  Mon Dec 30 17:44:08 UTC 2024",
                "nvidia-nvswitch2: open (major=510)",
                "nvidia-nvswitch0: SXid (PCI:0000:00:00.0): xyz, Fatal error",
                "GPU reset ",
                "GPU reset occurred: ",
                "GPU reset executed: GPU-455d8f70-2051-db6c-0430-ffc457bff834, success: maybe",
                "mlx5_core 0000:5c:00.0: firmware version: 28.45.4028",
                "pcieport 0000:00:01.0: AER: enabled with IRQ 120",
                "INFO: task python3:99 blocked for more than 120 seconds.",
                "python3[99]: segfault at 0 ip 00007f sp 00007f error 4 in libcuda.so.1[7f+d3d]",
                "NCCL INFO python3[99]: loaded libnccl.so.2",
                "x",
                ""
            })
    void similarTextIsIgnored(String text) {
        assertThat(parse(text)).isEmpty();
    }
}
