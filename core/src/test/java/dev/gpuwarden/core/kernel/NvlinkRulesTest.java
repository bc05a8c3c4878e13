package dev.gpuwarden.core.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.util.TsvResource;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each rule of the table, by lines made from it. This test reads the table with a second parser. */
class NvlinkRulesTest {

    private static final KernelLogParser PARSER = KernelLogParser.standard();

    /** One row in one layout. */
    private record Case(String xid, String unit, String pattern, String status, String resolution, boolean second) {

        int word(int anyBits) {
            int word = 0;
            for (char bit : pattern.toCharArray()) {
                word = word << 1 | (bit == '1' ? 1 : bit == '0' ? 0 : anyBits & 1);
                anyBits = Integer.rotateRight(anyBits, 1);
            }
            return word;
        }

        boolean fits(int word) {
            for (int i = 0; i < 32; i++) {
                char bit = pattern.charAt(31 - i);
                if (bit != '-' && (word >>> i & 1) != bit - '0') {
                    return false;
                }
            }
            return true;
        }

        String line(int word, String shownStatus) {
            return String.format(
                    Locale.ROOT,
                    "NVRM: Xid (PCI:0018:01:00): %s, pid=876767, name=ray::WorkerDict, %s %s XC0 i0 Link 13"
                            + " (0x%08x %s 0x00000001 0x00000000 0x00100000 0x00000004)",
                    xid,
                    unit,
                    resolution.equals("RESET_GPU") ? "Fatal" : "Nonfatal",
                    word,
                    shownStatus);
        }

        @Override
        public String toString() {
            return xid + " " + unit + " " + pattern + " " + status + (second ? " v2" : " v1");
        }
    }

    static Stream<Case> cases() {
        return TsvResource.read(NvlinkRulesTest.class, "xid-nvlink5.tsv", 11, NvlinkRulesTest::ofRow).stream()
                .flatMap(List::stream);
    }

    private static List<Case> ofRow(String[] c) {
        String[] units = c[1].split("/", -1);
        String second = units[units.length - 1];
        Stream<Case> plain = Stream.of(c[4].split("\\|", -1))
                .flatMap(status -> Stream.of(
                        new Case(c[0], units[0], c[2], status, c[5], false),
                        new Case(c[0], second, c[3], status, c[5], true)));
        Stream<Case> also = c[8].equals("-")
                ? Stream.empty()
                : Stream.of(
                        new Case(c[0], units[0], c[8], c[4], c[10], false),
                        new Case(c[0], second, c[9], c[4], c[10], true));
        return Stream.concat(plain, also).toList();
    }

    @Test
    void thereAre95Rules() {
        assertThat(TsvResource.read(NvlinkRulesTest.class, "xid-nvlink5.tsv", 11, c -> c))
                .hasSize(95);
    }

    @ParameterizedTest
    @MethodSource("cases")
    void eachRuleIsFoundWithAnyFreeBits(Case rule) {
        Random random = new Random(7);
        for (int i = 0; i < 20; i++) {
            int word = rule.word(i == 0 ? 0 : i == 1 ? -1 : random.nextInt());
            String status = rule.status().equals("any") ? String.format("0x%08x", random.nextInt()) : rule.status();
            String line = rule.line(word, status);
            for (KernelLogParser parser : List.of(PARSER, PARSER.withDriverBranch(rule.second() ? 575 : 570))) {
                Signal signal = parser.parse(line).orElseThrow();
                Resolution expected = Resolution.of(rule.resolution());
                assertThat(signal.action()).as(line).isEqualTo(expected.action());
                assertThat(signal.severity()).as(line).isEqualTo(expected.severity());
                assertThat(signal.code())
                        .as(line)
                        .isEqualTo(rule.xid() + "." + rule.unit().replace(' ', '_'));
                assertThat(signal.family()).isEqualTo(rule.xid());
                assertThat(signal.why()).contains(rule.resolution());
                assertThat(signal.details()).containsEntry("link", "13");
            }
        }
    }

    /** The patterns of XID 150 have no bit that distinguishes the layouts. */
    @ParameterizedTest
    @MethodSource("cases")
    void driverBranchSelectsTheLayout(Case rule) {
        KernelLogParser other = PARSER.withDriverBranch(rule.second() ? 550 : 580);
        String status = rule.status().equals("any") ? "0x00000000" : rule.status();
        Signal signal = other.parse(rule.line(rule.word(0), status)).orElseThrow();
        if (rule.xid().equals("150")) {
            assertThat(signal.code()).startsWith("150.");
        } else {
            assertThat(signal.code()).isEqualTo(rule.xid());
            assertThat(signal.why()).contains("no rule for");
        }
    }

    @Test
    void wordsFitAtMostOneRule() {
        Random random = new Random(11);
        List<Case> all = cases().toList();
        for (int i = 0; i < 20_000; i++) {
            Case rule = all.get(random.nextInt(all.size()));
            int word = rule.word(random.nextInt());
            int status = rule.status().equals("any")
                    ? 0
                    : Integer.parseUnsignedInt(rule.status().substring(2), 16);
            long meanings = all.stream()
                    .filter(other -> other.xid().equals(rule.xid())
                            && other.fits(word)
                            && (other.status().equals("any") || other.status().equals(rule.status())))
                    .map(Case::resolution)
                    .distinct()
                    .count();
            assertThat(meanings).as("%s %08x %08x", rule, word, status).isEqualTo(1);
        }
    }

    static Stream<Arguments> undecided() {
        return Stream.of(
                Arguments.of("144, SAW_EGR Nonfatal XC0 i0 Link 00 (0x00000004 0x00000001)", Resolution.WATCH),
                Arguments.of("144, SAW_EGR Fatal XC0 i0 Link 00 (0x00000004 0x00000001)", Resolution.SUPPORT),
                Arguments.of("149, NETIR Fatal XC0 i0 Link -1 (0x000fe406", Resolution.RESET),
                Arguments.of("145, RLW_REMAP Fatal XC0 i0 Link 1 (0x00000004", Resolution.SUPPORT),
                Arguments.of("145, RLW_REMAP Nonfatal XC0 i0 Link 1", Resolution.WATCH),
                Arguments.of("145, something else", Resolution.SUPPORT),
                Arguments.of("145", Resolution.SUPPORT));
    }

    @ParameterizedTest
    @MethodSource("undecided")
    void errorWithoutARuleHasThePrintedSeverity(String rest, Resolution expected) {
        Signal signal = PARSER.parse("NVRM: Xid (PCI:0000:04:00): " + rest).orElseThrow();
        assertThat(new Resolution(signal.severity(), signal.action())).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "RLW_REMAP  Nonfatal   XC1 i0 Link 10 (0x00000082 0x00000040)",
                "RLW_REMAP Nonfatal XC1 i0 Link 10 (0X00000082, 0X00000040)",
                "RLW_REMAP Non-fatal XC1 i0 Link 10 (82 40)"
            })
    void spacesAndCaseAreIgnored(String rest) {
        Signal signal = PARSER.parse("NVRM: Xid (PCI:0000:04:00): 145, " + rest).orElseThrow();
        assertThat(signal.code()).isEqualTo("145.RLW_REMAP");
        assertThat(signal.details())
                .containsEntry("intrinfo", "0x00000082")
                .containsEntry("error_status", "0x00000040");
        assertThat(Optional.of(signal.action())).contains(Resolution.RESET.action());
    }
}
