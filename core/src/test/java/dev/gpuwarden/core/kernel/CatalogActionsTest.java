package dev.gpuwarden.core.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.kernel.Signal.Severity;
import dev.gpuwarden.core.util.TsvResource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The recommended action of each code. A change of a table must be repeated here. */
class CatalogActionsTest {

    private static final String RESET = "46 48 62 64 95 109 110 119 120 136 140 143 155 156 158";
    private static final String NOTHING = "14 37 38 44 63 66 67 92 93 106 107 108 121 137 141 152 153 157 160 161 162";
    private static final String APPLICATION =
            "8 11 13 25 31 32 39 40 41 43 45 60 68 69 70 71 72 75 76 77 80 82 83 84 85 86"
                    + " 88 89 94 96 97 98 99 100 101 102 103 104 105 126 127 128 129 130 131 132 133 134 135 139 163 164 165 166 168 170 171"
                    + " 172 174 175 176";

    private static Signal line(int code) {
        return KernelLogParser.standard()
                .parse("NVRM: Xid (PCI:0000:3b:00): " + code + ", pid=1, name=a, text")
                .orElseThrow();
    }

    private static Map<Integer, Resolution> written() {
        Map<Integer, Resolution> written = new HashMap<>();
        put(written, RESET, Resolution.RESET);
        put(written, NOTHING, Resolution.NOTHING);
        put(written, APPLICATION, Resolution.WATCH);
        put(written, "79", Resolution.REBOOT);
        put(written, "151", Resolution.fatal(RecommendedAction.RESTART_VM));
        return written;
    }

    private static void put(Map<Integer, Resolution> written, String codes, Resolution resolution) {
        for (String code : codes.split(" ", -1)) {
            written.put(Integer.valueOf(code), resolution);
        }
    }

    @Test
    void everyCodeHasTheActionOfThisTable() {
        Map<Integer, Resolution> written = written();
        for (int code = 1; code <= 176; code++) {
            Signal signal = line(code);
            assertThat(new Resolution(signal.severity(), signal.action()))
                    .as("Xid " + code)
                    .isEqualTo(written.getOrDefault(code, Resolution.SUPPORT));
            assertThat(signal.name()).as("Xid " + code).isNotEmpty();
            assertThat(signal.why()).as("Xid " + code).isNotEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource({"0", "177", "999", "99999", "999999999"})
    void unknownCodeTakesNoNodeOutOfService(int code) {
        Signal signal = line(code);
        assertThat(signal.code()).isEqualTo(Integer.toString(code));
        assertThat(signal.action()).isEqualTo(RecommendedAction.NONE);
        assertThat(signal.severity()).isEqualTo(Severity.WARNING);
        assertThat(signal.why()).contains("read about it at docs.nvidia.com");
        assertThat(signal.name()).isEmpty();
        ErrorNumber number = ErrorNumber.of(Math.min(code, 9999));
        assertThat(number.severity()).isEqualTo(Severity.WARNING);
        assertThat(number.action()).isEqualTo(RecommendedAction.NONE);
    }

    /** The catalogue's rows without an action have a row with gpuwarden's, and no other has one. */
    @Test
    void codesWithoutAnActionOfTheCatalogueAreJudgedEach() {
        List<String> judged = TsvResource.read(CatalogActionsTest.class, "xid-judged.tsv", 4, c -> c[0]);
        assertThat(TsvResource.read(CatalogActionsTest.class, "xid.tsv", 4, c -> c[2].equals("-") ? c[0] : "").stream()
                        .filter(code -> !code.isEmpty()))
                .containsExactlyElementsOf(judged);
        assertThat(line(172).why()).startsWith(XidCatalog.SOURCE + " names no action; NVIDIA text: a detail of Xid 48");
        assertThat(line(174).why()).endsWith("application class, never condemns a GPU alone");
    }

    @Test
    void onlyFatalSignalsAskForAnAction() {
        for (int code = 1; code <= 176; code++) {
            Signal signal = line(code);
            assertThat(signal.severity() == Severity.FATAL)
                    .as("Xid " + code)
                    .isEqualTo(signal.action() != RecommendedAction.NONE);
        }
        for (String[] row : TsvResource.read(CatalogActionsTest.class, "sxid.tsv", 5, c -> c)) {
            for (String severity : new String[] {"Fatal, ", "Non-fatal, ", ""}) {
                Signal signal = KernelLogParser.standard()
                        .parse("nvidia-nvswitch0: SXid (PCI:0000:05:00.0): " + row[0] + ", " + severity + "Link 1 text")
                        .orElseThrow();
                assertThat(signal.severity() == Severity.FATAL)
                        .as(row[0] + severity)
                        .isEqualTo(signal.action() != RecommendedAction.NONE);
                assertThat(severity.equals("Fatal, ") && signal.severity() != Severity.FATAL)
                        .isFalse();
                assertThat(severity.equals("Non-fatal, ") && signal.severity() == Severity.FATAL)
                        .isFalse();
            }
        }
        TsvResource.read(CatalogActionsTest.class, "messages.tsv", 7, c -> c)
                .forEach(row -> assertThat(row[3].equals("fatal")).as(row[2]).isEqualTo(!row[4].equals("NONE")));
    }

    @Test
    void tablesHaveAllRows() {
        assertThat(TsvResource.read(CatalogActionsTest.class, "xid.tsv", 4, c -> c[0]))
                .hasSize(176)
                .doesNotHaveDuplicates();
        assertThat(TsvResource.read(CatalogActionsTest.class, "sxid.tsv", 5, c -> c[0]))
                .hasSize(399)
                .doesNotHaveDuplicates();
        assertThat(TsvResource.read(CatalogActionsTest.class, "xid74.tsv", 3, c -> c))
                .hasSize(14);
        // Codes are labels of metrics and keys of faults: words that stay.
        assertThat(TsvResource.read(CatalogActionsTest.class, "messages.tsv", 7, c -> c[2]))
                .allMatch(code -> code.matches("[a-z0-9-]{4,32}"));
        // One code, one severity and action for each family of lines; a code may be fatal for a GPU and not for a port.
        TreeSet<String> fatal = new TreeSet<>();
        TsvResource.read(CatalogActionsTest.class, "messages.tsv", 7, c -> c).forEach(row -> {
            if (row[3].equals("fatal")) {
                fatal.add(row[2]);
            }
        });
        assertThat(fatal)
                .containsExactly(
                        "driver-load-failed",
                        "gsp-failed",
                        "gsp-timeout",
                        "init-failed",
                        "nic-command-timeout",
                        "nic-health",
                        "pcie-fatal",
                        "pcie-recovery-failed",
                        "row-remap-failed",
                        "uvm-fatal");
    }
}
