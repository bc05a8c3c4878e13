package dev.gpuwarden.daemon.kernlog;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Records about an XID that no known form fits are counted, and one of each form is reported. */
class UnreadLinesTest {

    private final ClassifierFixture log = new ClassifierFixture();

    /** Writer | text | how often it is counted. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    UNTOLD | 28/11-21.18 node kernel= NVRM: Xid (PCI:0000:3b:00): 79, text | 1
                    UNTOLD | NVRM: Xid (PCI:0000:3b | 1
                    UNTOLD | x nvidia-nvswitch0: SXid | 1
                    UNTOLD | NVRM: Xid (PCI:0000:3b:00): 79, text | 0
                    UNTOLD | NVRM: loading | 0
                    KERNEL | NVRM: xid 79 | 1
                    KERNEL | nvidia-nvswitch0: SXid | 1
                    KERNEL | app[1]: segfault of "NVRM: Xid" | 0
                    USER | kubelet saw NVRM: Xid (PCI:0000:3b | 0
                    PRIVILEGED | NVRM: Xid (PCI:0000:3b | 0""")
    void recordAboutAnXidIsReadOrCounted(Writer writer, String text, int count) {
        log.record(writer, Instant.EPOCH, text);
        assertThat(log.status().unread()).isEqualTo(count);
        assertThat(log.status().lastUnread().map(last -> last.text()).stream())
                .hasSize(count)
                .allMatch(text::equals);
        assertThat(log.classifier.unread().news().stream()).hasSize(count);
    }

    @Test
    void oneRecordOfEachFormIsReported() {
        int reported = 0;
        for (int i = 0; i < 1000; i++) {
            log.record(Writer.UNTOLD, Instant.EPOCH, "node" + i + "= NVRM: Xid " + "y".repeat(i));
            reported += log.classifier.unread().news().isPresent() ? 1 : 0;
        }
        // The first has no letters behind the words.
        assertThat(reported).isEqualTo(2);
        assertThat(log.status().unread()).isEqualTo(1000);
        assertThat(log.status().lastUnread().orElseThrow().text()).hasSizeLessThan(250);
        for (int i = 0; i < 100; i++) {
            log.record(Writer.UNTOLD, Instant.EPOCH, "=+".repeat(i) + "NVRM: Xid");
            reported += log.classifier.unread().news().isPresent() ? 1 : 0;
        }
        assertThat(reported).isEqualTo(16);
    }
}
