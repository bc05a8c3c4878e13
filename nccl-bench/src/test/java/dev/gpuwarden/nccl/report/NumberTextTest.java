package dev.gpuwarden.nccl.report;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Expected texts were written by printf of glibc. */
class NumberTextTest {

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "7, 7",
        "100000, 100000",
        "1234567, 1.23457e+06",
        "33554432, 3.35544e+07",
        "0.0001, 0.0001",
        "0.00001234, 1.234e-05",
        "249.0905, 249.09",
        "0.5, 0.5",
        "999999.5, 1e+06",
    })
    void generalIsThatOfC(double value, String text) {
        assertThat(NumberText.general(value)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({
        "0.125, 7, '   0.12'",
        "9.999, 7, '  10.00'",
        "1234.5, 7, 1234.50",
        "12345.65, 7, 12345.6",
        "123456.7, 7, ' 123457'",
        "1234567, 7, 1234567",
        "12345678, 7, 1.2e+07",
        "0.004, 6, '  0.00'",
        "123.456, 6, 123.46",
        "1234.5, 6, 1234.5",
        "123456, 6, 123456",
        "1234567, 6, ' 1e+06'",
    })
    void aColumnHasTheDigitsThatFit(double value, int width, String text) {
        assertThat(NumberText.column(value, width)).isEqualTo(text);
    }
}
