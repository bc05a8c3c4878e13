package dev.gpuwarden.core.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LineEnvelopeTest {

    private static final String LINE = "Jun  2 09:41:12 n kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=1, name=a, text";

    /** Envelope | number of its form in the table. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    kern.log: | 0
                    kern.log:1234: | 0
                    /var/log/kern.log-20250602:7: | 0
                    /var/log/messages: | 0
                    syslog:12: | 0
                    C:\\logs\\kern.log:12: | 0
                    kern.log-1234- | 0
                    (standard input):3: | 0
                    1234: | 1
                    1234- | 1
                    `    12  ` | 1
                    `2025-06-02T09:41:12.123456789Z stdout F ` | 2
                    `2025-06-02T09:41:12.123456789+02:00 stderr P ` | 2
                    `[pod/dmesg-x7k/dmesg] ` | 3
                    `dmesg-1  | ` | 4
                    `W0602 09:41:12.123456       1 kmsg_linux.go:42] ` | 5
                    `10.0.0.1: kern:     err: [2026-06-02T09:41:12.0Z]: ` | 6
                    `kern: warning: [2026-06-02T09:41:12.012345678Z]: ` | 6
                    2019-03-07T10:42:18.332Z cpu41:2101342) | 7
                    `2019-03-07T10:42:18.332Z cpu41:2101342 opID=a-1)WARNING: ` | 7
                    `2023-05-04T11:00:00.123Z In(182) vmkernel: cpu0:2097152)` | 7
                    `<181>2019-03-07T10:42:18.332Z esx01 vmkernel: cpu41:2101342)` | 7""")
    void everyFormIsOpened(String envelope, int form) {
        assertThat(LineEnvelope.FORMS.get(form).end().applyAsInt(envelope + LINE))
                .isEqualTo(envelope.length());
        assertThat(LineEnvelope.open(envelope + LINE)).contains(LINE);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "NVRM: Xid",
                "Jun  2 09:41:12 n kernel: NVRM: Xid",
                "2026-11-21T02:00:02.123456+00:00 node-1 dockerd[99]: NVRM: Xid",
                "kubelet[1234]: NVRM: Xid",
                "app.py: NVRM: Xid",
                "I saw kern.log:NVRM: Xid",
                "a:",
                "kern.log:",
                "12",
                "user: warning: [2026-06-02T09:41:12.0Z]: NVRM: Xid",
                "10.0.0.1: user:     err: [2026-06-02T09:41:12.0Z]: NVRM: Xid",
                "\"kern.log\": NVRM: Xid"
            })
    void otherTextHasNoEnvelope(String line) {
        assertThat(LineEnvelope.open(line)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    NVRM: Xid (PCI:0000:3b:00): 79 | XID
                    x nvrm:xid 79 | XID
                    NVRM: GPU 0000:3b:00.0: XID ( | XID
                    NVRM: Xid | XID
                    "NVRM: Xid" | XID
                    nvidia-nvswitch3: SXid (PCI:0000:05:00.0): x | SXID
                    NVRM: nvidia_xid_handler | NONE
                    NVRM: Xids | NONE
                    Xid 79 | NONE
                    SXid 79 | NONE
                    XI | NONE
                    `` | NONE""")
    void driversWordsAreFoundAnywhere(String text, XidMention mention) {
        assertThat(XidMention.of(text)).isEqualTo(mention);
        assertThat(XidMention.of("z".repeat(300) + " " + text)).isEqualTo(mention);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    NVRM: Xid (PCI:0000:3b:00): 79 | NONE
                    NVRM: Xid (PCI:0000:3b:00): 45, caused by previous Xid 149 | NONE
                    NVRM: Xid (PCI:0000:3b:00): 79 NVRM: Xid (PCI:0000:3c:00): 79 | XID
                    NVRM: Xid (PCI:0000:3b:00): 79 nvidia-nvswitch0: SXid | SXID
                    x | NONE""")
    void secondMessageOfALineIsFound(String text, XidMention mention) {
        assertThat(XidMention.second(text)).isEqualTo(mention);
    }

    /** Line | code | severity | process | guest's channel. */
    @ParameterizedTest
    @CsvSource(delimiter = '^', quoteCharacter = '`', textBlock = """
                    Jun  2 09:41:12 h nvidia-vgpu-mgr[27029]: error: vmiop_log: (0x0): XID 43 detected on physical_chid:0x1c, guest_chid:0x14 ^ 43 ^ WARNING ^ 27029 ^ 0x14
                    nvidia-vgpu-mgr[27029]: error: vmiop_log: (0x0): XID 79 detected on physical_chid:0x1c ^ 79 ^ WARNING ^ 27029 ^ -
                    2023-05-04T11:00:00.123Z| vthread-2103456| E105: vmiop_log: (0x0): XID 162 detected on physical_chid:0x1c ^ 162 ^ INFO ^ - ^ -""")
    void xidOfAGuestIsNoFaultOfTheHost(String line, String code, Signal.Severity severity, String pid, String channel) {
        Signal signal = GuestXid.read(line).orElseThrow();
        assertThat(signal.kind()).isEqualTo(Signal.Kind.GUEST_XID);
        assertThat(signal.code()).isEqualTo(code);
        assertThat(signal.severity()).isEqualTo(severity);
        assertThat(signal.action()).isEqualTo(Resolution.WATCH.action());
        assertThat(signal.pci()).isEmpty();
        assertThat(signal.pid().orElse("-")).isEqualTo(pid);
        assertThat(signal.details().getOrDefault("guest_chid", "-")).isEqualTo(channel);
        assertThat(KernelLogParser.standard().parse(line)).isEqualTo(Optional.empty());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Jun  2 09:41:12 h app[1]: error: vmiop_log: (0x0): XID 43 detected on physical_chid:0x1c",
                "Jun  2 09:41:12 h nvidia-vgpu-mgr[27029]: notice: vmiop_log: (0x0): Guest driver loaded",
                "vmiop_log: "
            })
    void otherLinesOfTheManagerAreNoXid(String line) {
        assertThat(GuestXid.read(line)).isEmpty();
    }
}
