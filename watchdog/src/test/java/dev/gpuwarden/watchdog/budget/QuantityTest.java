package dev.gpuwarden.watchdog.budget;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class QuantityTest {

    @Test
    void readsEveryTextAsTheApiServerDoes() throws IOException {
        List<String> different = new ArrayList<>();
        List<String> rows = corpus();
        for (String row : rows) {
            String text = row.substring(0, row.indexOf('\t'));
            String expected = row.substring(row.indexOf('\t') + 1);
            String seen = read(text);
            if (!seen.equals(expected)) {
                different.add("'" + text + "': expected " + expected + ", seen " + seen);
            }
        }
        assertThat(rows).hasSizeGreaterThan(3000);
        assertThat(different).isEmpty();
    }

    private static List<String> corpus() throws IOException {
        try (InputStream in = QuantityTest.class.getResourceAsStream("quantities.tsv")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
        }
    }

    private static String read(String text) {
        try {
            BigDecimal value = Quantity.parse(text).value().stripTrailingZeros();
            return value.unscaledValue() + "e" + -value.scale();
        } catch (IllegalArgumentException e) {
            return "error";
        }
    }

    @ParameterizedTest
    @CsvSource({
        "0,0",
        "5k,5000",
        "3000,3000",
        "1e3,1000",
        "5E3,5000",
        "1.5k,1500",
        "4Ki,4096",
        "1000000u,1",
        "k,0",
        "-0,0"
    })
    void readsANumberOfMebibytes(String text, long mebibytes) {
        assertThat(Quantity.mebibytes(text)).isEqualTo(Reading.of(mebibytes << 20));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-5",
                "0.5",
                "1500m",
                "1n",
                "1e-999999",
                "8796093022208",
                "9E",
                "1e999999",
                "100Ei",
                "5 k",
                "5K",
                "",
                "NaN",
                "1e9999999"
            })
    void findsNoNumberOfMebibytes(String text) {
        assertThat(Quantity.mebibytes(text)).isInstanceOfSatisfying(Reading.Absent.class, absent -> {
            assertThat(absent.cause()).isEqualTo(Absence.IMPLAUSIBLE);
            assertThat(absent.detail()).startsWith("expected ").endsWith("seen '" + text + "'");
        });
    }

    @ParameterizedTest
    @CsvSource({"3000Mi,3145728000", "5G,5000000000", "1.5Gi,1610612736", "0Mi,0", "500k,500000", "1536000Ki,1572864000"
    })
    void readsASizeWithItsUnit(String text, long bytes) {
        assertThat(Quantity.parse(text).bytes()).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"3000", "3e9", "3000m", "0", "-1Gi", "0.0001k", "."})
    void refusesANumberWithoutUnitAsASize(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Quantity.parse(text).bytes())
                .withMessageContaining("'" + text + "'");
    }

    @Test
    void showsABeginningOfALongTextWithoutItsControlCharacters() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Quantity.parse("1\n" + "9".repeat(1000)))
                .withMessage(
                        "expected a quantity of Kubernetes, such as 3000, 5k or 4Gi, seen '1?" + "9".repeat(38) + "…'");
    }
}
