package dev.gpuwarden.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class ByteSizesTest {

    @ParameterizedTest
    @CsvSource({"0B,0", "1B,1", "1KiB,1024", "64MiB,67108864", "2GiB,2147483648", "1536KiB,1572864"})
    void sizesAreReadAndWrittenTheSameWay(String text, long bytes) {
        assertThat(ByteSizes.parse(text)).isEqualTo(bytes);
        assertThat(ByteSizes.text(bytes)).isEqualTo(text);
        assertThat(new ByteSizes().convert(text)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "64", "64MB", "64M", "-1MiB", "1.5MiB", " 1MiB", "1MiB ", "9999999999GiB", "MiB"})
    void invalidSizeIsRefused(String text) {
        assertThatThrownBy(() -> ByteSizes.parse(text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageContaining("64MiB");
    }

    @Test
    void sizesBeyondTheLargestUnitStayInIt() {
        assertThat(ByteSizes.text(5L << 40)).isEqualTo("5120GiB");
    }
}
