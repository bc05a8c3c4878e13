package dev.gpuwarden.core.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LinePrefixTest {

    private static final String MESSAGE =
            "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, name=a: b, GPU has fallen off the bus.";

    /** Prefix of a real log | stamp | tag. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    '' | '' | ''
                    '[14328.198504] ' | 14328.198504 | ''
                    '[    3.376704] ' | 3.376704 | ''
                    '[    3.376704][    T1] ' | 3.376704 | ''
                    '[    3.376704] [ T1234] ' | 3.376704 | ''
                    '[  123.456789][  C17] ' | 123.456789 | ''
                    '[...] ' | '' | ''
                    '[Wed Jul 31 23:14:18 2024] ' | Wed Jul 31 23:14:18 2024 | ''
                    '[Tue Aug  6 03:54:13 2024] ' | Tue Aug  6 03:54:13 2024 | ''
                    '[Mon Aug  5 03:54:13 2024] ' | Mon Aug  5 03:54:13 2024 | ''
                    '[mer. juil. 31 23:14:18 2024] ' | mer. juil. 31 23:14:18 2024 | ''
                    '<4>[ 1126.635824] ' | 1126.635824 | ''
                    '<6>' | '' | ''
                    '<13>' | '' | user
                    '<12>[ 1126.635824] ' | 1126.635824 | user
                    'user  :notice: [ 1843.308145] ' | 1843.308145 | user
                    'kern  :err   : 2025-01-25T10:34:54,859532+00:00 ' | '2025-01-25T10:34:54,859532+00:00' | ''
                    'kern  :warn  : [ 1843.308145] ' | 1843.308145 | ''
                    '2025-01-25T10:34:54,859532+00:00 ' | '2025-01-25T10:34:54,859532+00:00' | ''
                    'kernel: ' | '' | kernel
                    'gpu-node-3 kernel: ' | '' | kernel
                    'Jun 12 16:30:32 fedora-box kernel: ' | Jun 12 16:30:32 | kernel
                    'Jun  2 16:30:32 fedora-box kernel: [ 1843.308145] ' | Jun  2 16:30:32 | kernel
                    'kwi 15 07:56:59 testowy kernel: ' | kwi 15 07:56:59 | kernel
                    'Jul 09 10:42:47.123456 pool0-0082 kernel: ' | Jul 09 10:42:47.123456 | kernel
                    '2024-07-31T23:14:18.859532+02:00 node kernel: ' | 2024-07-31T23:14:18.859532+02:00 | kernel
                    '2024-07-31T23:14:18+0000 node kernel: ' | 2024-07-31T23:14:18+0000 | kernel
                    '2024-07-31T23:14:18Z node kernel: [   12.000001] ' | 2024-07-31T23:14:18Z | kernel
                    'Wed 2024-07-31 23:14:18 UTC node kernel: ' | Wed 2024-07-31 23:14:18 UTC | kernel
                    '1722467658.123456 node kernel: ' | 1722467658.123456 | kernel
                    '[14328.198504] node kernel: ' | 14328.198504 | kernel
                    '<3>1 2024-07-31T23:14:18Z node kernel - - - ' | 2024-07-31T23:14:18Z | kernel
                    '<3>1 2024-07-31T23:14:18.123+02:00 node kernel - - [meta sequenceId="1"] ' | 2024-07-31T23:14:18.123+02:00 | kernel
                    '<3>1 2024-07-31T23:14:18Z node kernel - - [a@1 x="\\] \\" [" y=""][b][c z="]"] ' | 2024-07-31T23:14:18Z | kernel
                    '<3>1 2024-07-31T23:14:18Z node kernel 12 ID7 [b]   [   12.000001] ' | 2024-07-31T23:14:18Z | kernel
                    '<3>1 - - kernel - - - ' | '' | kernel
                    '<3>1 2024-07-31T23:14:18Z - - - - - ' | 2024-07-31T23:14:18Z | ''
                    '1 2024-07-31T23:14:18Z node kernel - - [meta sequenceId="1"] ' | 2024-07-31T23:14:18Z | kernel
                    '<13>1 2024-07-31T23:14:18Z node kernel - - [meta sequenceId="1"] ' | 2024-07-31T23:14:18Z | user
                    '<13>1 2024-07-31T23:14:18Z node app - - [meta a="b"] ' | 2024-07-31T23:14:18Z | app
                    '<3>1 2024-07-31T23:14:18Z node kernel - - [meta sequenceId="1"] \ufeff' | 2024-07-31T23:14:18Z | kernel
                    '<3>1 2024-07-31T23:14:18Z node kernel - - - \ufffd' | 2024-07-31T23:14:18Z | kernel
                    '11월 16 09:20:39 n kernel: ' | 11월 16 09:20:39 | kernel
                    ' 6月 02 09:41:12 n kernel: ' | 6月 02 09:41:12 | kernel
                    'Th11 16 09:20:39 n kernel: ' | Th11 16 09:20:39 | kernel
                    'มี.ค. 16 09:20:39 n kernel: ' | มี.ค. 16 09:20:39 | kernel
                    'Mon 2025-06-02 09:41:12.123456 +08 host kernel: ' | Mon 2025-06-02 09:41:12.123456 +08 | kernel
                    '월 2025-06-02 09:41:12 +0530 host kernel: ' | 월 2025-06-02 09:41:12 +0530 | kernel
                    'Mon 2025-06-02 09:41:12 -03 host kernel: ' | Mon 2025-06-02 09:41:12 -03 | kernel
                    '2025-06-02 09:41:12 +0000 host kernel: ' | 2025-06-02 09:41:12 +0000 | kernel
                    'Mon Jun  2 09:41:12 2025 host kernel: ' | Mon Jun  2 09:41:12 2025 | kernel
                    'Jun  2 2025 09:41:12 host kernel: ' | Jun  2 2025 09:41:12 | kernel
                    'Jun 2, 2025 09:41:12 host kernel: ' | Jun 2, 2025 09:41:12 | kernel
                    '06/02/2025 09:41:12 host kernel: ' | 06/02/2025 09:41:12 | kernel
                    '6/2/2025, 9:41:12 AM host kernel: ' | 6/2/2025, 9:41:12 AM | kernel
                    '2025/06/02 09:41:12.123 host kernel: ' | 2025/06/02 09:41:12.123 | kernel
                    '02.06.2025 09:41:12 host kernel: ' | 02.06.2025 09:41:12 | kernel
                    '[Jun 2 09:41] ' | Jun 2 09:41 | ''
                    '[Jun21 09:41] ' | Jun21 09:41 | ''
                    '[11월21 09:41] ' | 11월21 09:41 | ''
                    '[월  6월  2 09:41:12 2025] ' | 월  6월  2 09:41:12 2025 | ''
                    ' kernel:' | '' | kernel
                    'Jun  2 09:41:12 n kern.err kernel: [   12.000001] ' | Jun  2 09:41:12 | kernel
                    'Jun  2 09:41:12 n kern.warn ' | Jun  2 09:41:12 | ''
                    'Jun  2 09:41:12 n user.notice kernel: ' | Jun  2 09:41:12 | user
                    'Jun  2 09:41:12 n local7.err ' | Jun  2 09:41:12 | user
                    'Jun  2 09:41:12 n daemon.info app[12]: ' | Jun  2 09:41:12 | app
                    'Mon Jun  2 09:41:12 2025 kern.err kernel: ' | Mon Jun  2 09:41:12 2025 | kernel
                    'Mon Jun  2 09:41:12 2025 kern.err app: ' | Mon Jun  2 09:41:12 2025 | app
                    'Jun  2 09:41:12 gpu.info kernel: ' | Jun  2 09:41:12 | kernel
                    'Jun  2 09:41:12 n ' | Jun  2 09:41:12 | ''
                    'Jun  2 09:41:12 [kernel] ' | Jun  2 09:41:12 | kernel
                    'Jun  2 09:41:12 [kernel] [   12.000001] ' | Jun  2 09:41:12 | kernel
                    'Jun  2 09:41:12 [my-app] ' | Jun  2 09:41:12 | my-app
                    'Nov 21 02:00:02 node-1 kubelet[1234]: ' | Nov 21 02:00:02 | kubelet
                    'Nov 21 02:00:02 node-1 nvsentinel-gpu-reset: ' | Nov 21 02:00:02 | nvsentinel-gpu-reset
                    """)
    void everyFormOfAPrefixIsSplitOff(String prefix, String stamp, String tag) {
        assertThat(LinePrefix.of(prefix + MESSAGE)).isEqualTo(new LinePrefix(stamp, tag, MESSAGE));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "nvidia 0000:3b:00.0: AER: Corrected error received",
                "pcieport 0000:00:01.0: AER: Multiple Uncorrected (Fatal) error received: 0000:3b:00.0",
                "[drm:nv_drm_load [nvidia_drm]] *ERROR* [nvidia-drm] [GPU ID 0x00000100] Failed",
                "mlx5_core 0000:1a:00.0 ib0: Link down",
                "nvidia-nvswitch3: SXid (PCI:0000:04:00.0): 22013, Non-fatal, Link 46 Minion Link DLREQ interrupt",
                "XID 149.0 (err status 0x00000000) NVLINK: NETIR Error detected on GPU PCI:0019:01:00",
                "a: b kernel: NVRM: Xid (PCI:0000:3b:00): 79",
                "say \"host kernel: NVRM\"",
                "kern: short",
                "<4",
                "[",
                "",
                "1 2024"
            })
    void messageIsNotSplit(String message) {
        assertThat(LinePrefix.of(message)).isEqualTo(new LinePrefix("", "", message));
        assertThat(LinePrefix.of("[   12.000001] " + message).text()).isEqualTo(message);
        assertThat(LinePrefix.of("Jun 12 16:30:32 host kernel: " + message).text())
                .isEqualTo(message);
    }

    /** Text in structured data is no message, however they are broken. */
    @ParameterizedTest
    @ValueSource(
            strings = {"[meta text=\"] ", "[meta text=\"a\\\"] ", "[meta text=\"]\" ", "[meta][", "[meta]", "-", "x "})
    void textInStructuredDataIsNoMessage(String data) {
        LinePrefix line = LinePrefix.of("<3>1 2024-07-31T23:14:18Z node kernel - - " + data + MESSAGE);
        assertThat(line.text()).isEqualTo(data + MESSAGE);
        assertThat(KernelLogParser.standard().parse(line.text())).isEmpty();
    }

    @Test
    void structuredDataMayBeLong() {
        String data = "[a b=\"" + "x".repeat(3000) + "\"]";
        assertThat(LinePrefix.of("<3>1 2024-07-31T23:14:18Z node kernel - - " + data + " " + MESSAGE)
                        .text())
                .isEqualTo(MESSAGE);
    }

    @Test
    void linesOfProgramsHaveTheirTag() {
        LinePrefix line = LinePrefix.of("Nov 21 02:00:02 node-1 app[7]: kernel: " + MESSAGE);
        assertThat(line.tag()).isEqualTo("app");
        assertThat(line.text()).isEqualTo("kernel: " + MESSAGE);
    }

    @Test
    void anyTextIsAccepted() {
        Random random = new Random(7);
        String alphabet = " []<>:.,-T019aKkernel\t\n\u00e9\ud83d";
        for (int i = 0; i < 100_000; i++) {
            StringBuilder text = new StringBuilder();
            int length = random.nextInt(60);
            for (int j = 0; j < length; j++) {
                text.append(alphabet.charAt(random.nextInt(alphabet.length())));
            }
            assertThat(text.toString()).endsWith(LinePrefix.of(text.toString()).text());
        }
        assertThat(LinePrefix.of("[" + " ".repeat(1_000_000) + "]").text()).isNotEmpty();
    }
}
