package dev.gpuwarden.core.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.kernel.Signal.Kind;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every line of xid-lines.tsv with an unambiguous reading. */
class CorpusTest {

    static Stream<CorpusLine> lines() {
        return CorpusLine.all().stream().filter(line -> !line.note().contains("ambiguous"));
    }

    @ParameterizedTest
    @MethodSource("lines")
    void lineIsReadAsNoted(CorpusLine line) {
        Optional<Signal> counted = KernelLogParser.standard()
                .parse(line.text())
                .filter(signal -> signal.kind() == Kind.XID
                        || signal.kind() == Kind.SXID
                        || signal.kind() == Kind.FALLEN_OFF_BUS);
        if (line.signal().equals("none")) {
            assertThat(counted).isEmpty();
            return;
        }
        assertThat(counted).isPresent();
        Signal signal = counted.get();
        assertThat(signal.kind().label()).isEqualTo(line.signal());
        assertThat(signal.kind() == Kind.FALLEN_OFF_BUS ? "none" : signal.family())
                .isEqualTo(line.code());
        assertThat(signal.pci().map(pci -> Entity.pci(pci).value()).orElse("-")).isEqualTo(line.pci());
        assertThat(signal.pid().orElse("-")).isEqualTo(line.pid());
        assertThat(signal.process().orElse("-")).isEqualTo(line.process());
        for (String note : line.note().replace("intrinfo", " intrinfo").split("[; ]+", -1)) {
            expectDetail(signal, note);
        }
    }

    /** The notes name some of the details: `link=10; unit=RLW_REMAP severity=Nonfatal intrinfo=0x00000082 status=-`. */
    private static void expectDetail(Signal signal, String note) {
        int equals = note.indexOf('=');
        if (equals < 0) {
            return;
        }
        String name = note.substring(0, equals);
        String detail = name.equals("severity") ? "printed_severity" : name.equals("status") ? "error_status" : name;
        String value = note.substring(equals + 1);
        assertThat(signal.details().getOrDefault(detail, "-")).as(detail).isEqualTo(value);
    }
}
