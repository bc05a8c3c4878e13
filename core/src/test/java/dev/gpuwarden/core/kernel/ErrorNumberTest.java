package dev.gpuwarden.core.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.kernel.Signal.Kind;
import dev.gpuwarden.core.kernel.Signal.Severity;
import dev.gpuwarden.core.util.TsvResource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ErrorNumberTest {

    /** The codes whose lines can state another severity than their numbers alone. */
    private static final List<Integer> OF_THE_LINE = List.of(74, 144, 145, 146, 147, 148, 149, 150, 154);

    @Test
    void xid79IsExplained() {
        ErrorNumber error = ErrorNumber.of(79);
        assertThat(error.kind()).isEqualTo(Kind.XID);
        assertThat(error.known()).isTrue();
        assertThat(error.name()).isEqualTo("ROBUST_CHANNEL_GPU_HAS_FALLEN_OFF_THE_BUS");
        assertThat(error.meaning()).contains("fallen off the bus");
        assertThat(error.severity()).isEqualTo(Severity.FATAL);
        assertThat(error.action()).isEqualTo(RecommendedAction.RESTART_BM);
        assertThat(error.source()).contains("NVIDIA", "RESTART_BM");
        assertThat(error.note()).isEmpty();
        assertThat(error.runbook()).isEqualTo("docs/runbooks/xid-79.md");
    }

    @Test
    void aNumberHasTheActionOfItsLine() {
        for (int code = 1; code <= 176; code++) {
            ErrorNumber error = ErrorNumber.of(code);
            Signal line = KernelLogParser.standard()
                    .parse("NVRM: Xid (PCI:0000:3b:00): " + code + ", pid=1, name=a, text")
                    .orElseThrow();
            assertThat(error.action()).as("Xid " + code).isEqualTo(line.action());
            assertThat(error.severity()).as("Xid " + code).isEqualTo(line.severity());
            assertThat(error.name()).as("Xid " + code).isEqualTo(line.name());
            assertThat(error.note().isEmpty()).as("Xid " + code).isEqualTo(!OF_THE_LINE.contains(code));
        }
    }

    @Test
    void anSxidIsExplained() {
        ErrorNumber error = ErrorNumber.of(12028);
        assertThat(error.kind()).isEqualTo(Kind.SXID);
        assertThat(error.name()).isEqualTo("egress nonposted PRIV error");
        assertThat(error.note()).contains("prints");
        assertThat(error.runbook()).isEqualTo("docs/runbooks/sxid.md");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 177, 9999, 10_000, 999_999_999})
    void anUnknownNumberIsLookedUp(int number) {
        ErrorNumber error = ErrorNumber.of(number);
        assertThat(error.known()).isFalse();
        assertThat(error.name()).isEmpty();
        // The line of an SXid names its severity; without one, nothing is known of it.
        assertThat(error.action())
                .isEqualTo(number < 10_000 ? RecommendedAction.NONE : RecommendedAction.CONTACT_SUPPORT);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "x", "7 9", "-1", "+1", "0x4f", "1234567890", "٧٩"})
    void otherTextIsNoNumber(String text) {
        assertThat(ErrorNumber.parse(text)).isEmpty();
    }

    @Test
    void digitsAreANumber() {
        assertThat(ErrorNumber.parse("079")).hasValue(79);
        assertThat(ErrorNumber.parse("999999999")).hasValue(999_999_999);
    }

    @Test
    void eachMeaningIsOfACodeOfTheCatalogueAndItsRunbookExists() {
        Path runbooks = Path.of(System.getProperty("gpuwarden.repository"), "docs/runbooks");
        List<String[]> rows = TsvResource.read(ErrorNumberTest.class, "xid-meanings.tsv", 3, c -> c);
        assertThat(rows).extracting(row -> row[0]).doesNotHaveDuplicates();
        for (String[] row : rows) {
            assertThat(XidCatalog.entry(Integer.parseInt(row[0]))).as(row[0]).isPresent();
            assertThat(row[1]).endsWith(".");
            assertThat(Files.exists(runbooks.resolve(row[2]))).as(row[2]).isTrue();
        }
        assertThat(runbooks.resolve("sxid.md")).exists();
    }
}
