package dev.gpuwarden.daemon.kernlog;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class KmsgRecordTest {

    private record Fields(Writer writer, long sequence, long micros, String text) {}

    private static Optional<Fields> parse(String record) {
        byte[] bytes = record.getBytes(StandardCharsets.UTF_8);
        return KmsgSource.parse(bytes, 0, bytes.length, Fields::new);
    }

    /** Records of /dev/kmsg of Linux 5.15 to 6.18. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    '5,0,0,-;Linux version 6.18.44-fc-v669 (gcc 15.3.0)\n' | KERNEL | 0 | 0 | Linux version 6.18.44-fc-v669 (gcc 15.3.0)
                    '6,339,5140900,-,caller=T1;pci 0000:00:1f.2: [8086:2922] type 00\n SUBSYSTEM=pci\n DEVICE=+pci:0000:00:1f.2\n' | KERNEL | 339 | 5140900 | pci 0000:00:1f.2: [8086:2922] type 00
                    '6,340,5690716,c;part of a line' | KERNEL | 340 | 5690716 | part of a line
                    '12,4242,99000000,-;NVRM: Xid (PCI:0000:3b:00): 79' | PRIVILEGED | 4242 | 99000000 | NVRM: Xid (PCI:0000:3b:00): 79
                    '30,5,6,-;systemd[1]: Started.\n' | PRIVILEGED | 5 | 6 | systemd[1]: Started.
                    '4,1,2,-;tab\\x09and\\x0abreak' | KERNEL | 1 | 2 | tab and break
                    '4,1,2,-;caf\\xc3\\xa9 and back\\x5cslash' | KERNEL | 1 | 2 | café and back\\slash
                    '4,1,2,-;broken \\xc3\\x28 and \\xff' | KERNEL | 1 | 2 | broken \ufffd( and \ufffd
                    '4,1,2,-;no escape \\xzz \\x4' | KERNEL | 1 | 2 | no escape \\xzz \\x4
                    '4,1,2,-;escape \\x1b[31m and bell \\x07' | KERNEL | 1 | 2 | escape \ufffd[31m and bell \ufffd
                    '4,1,2,-;a;b,c' | KERNEL | 1 | 2 | a;b,c
                    '4,18446744073709,2,-;' | KERNEL | 18446744073709 | 2 | ''
                    """)
    void recordsOfTheKernelAreParsed(String record, Writer writer, long sequence, long micros, String text) {
        assertThat(parse(record.replace("\\n", "\n")))
                .contains(new Fields(writer, sequence, micros, text.replace("\\\\", "\\")));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "6",
                "6,1",
                "6,1,2",
                "6,1,2,-",
                "6,1,2,-\nx;y",
                "a,1,2,-;text",
                "6,-1,2,-;text",
                ",,,;text",
                "6,99999999999999999999999,2,-;text",
                " SUBSYSTEM=pci",
                "[    1.0] text; more"
            })
    void otherTextIsNoRecord(String record) {
        assertThat(parse(record)).isEmpty();
    }

    @Test
    void anyBytesAreParsedAndLongTextIsCut() {
        assertThat(parse("4,1,2,-;" + "x".repeat(1_000_000)).orElseThrow().text())
                .hasSize(KernelRecord.LONGEST);
        assertThat(parse("4,1,2,-;" + "\\x00".repeat(100_000)).orElseThrow().text())
                .hasSizeLessThanOrEqualTo(KernelRecord.LONGEST);
        Random random = new Random(3);
        byte[] head = "4,1,2,-;".getBytes(StandardCharsets.US_ASCII);
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = new byte[head.length + random.nextInt(40)];
            random.nextBytes(bytes);
            System.arraycopy(head, 0, bytes, 0, random.nextInt(head.length + 1));
            KmsgSource.parse(bytes, 0, bytes.length, Fields::new)
                    .ifPresent(record -> assertThat(record.text())
                            .doesNotMatch("(?s).*\\p{Cc}.*")
                            .isEqualTo(new String(
                                    record.text().getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8)));
        }
    }
}
