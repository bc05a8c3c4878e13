package dev.gpuwarden.checks.history;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.compute.RateSeries;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RateFileTest {

    @TempDir
    Path folder;

    private Path file;

    @BeforeEach
    void name() {
        file = folder.resolve("events-rates.tsv");
    }

    private RateFile open() {
        return RateFile.open(Optional.of(file));
    }

    @Test
    void ratesSurviveARestart() {
        RateFile first = open();
        first.keep("GPU-1", "DAXPY GB/s", "driver 550, 700 W", 2900.5);
        first.keep("GPU-1", "DAXPY GB/s", "driver 550, 700 W", 2911);
        first.keep("GPU-2", "DAXPY GB/s", "driver 550, 700 W", 1);
        assertThat(open().earlier("GPU-1", "DAXPY GB/s", "driver 550, 700 W")).containsExactly(2900.5, 2911.0);
        assertThat(open().earlier("GPU-1", "DGEMM TFLOP/s", "driver 550, 700 W"))
                .isEmpty();
    }

    @Test
    void otherSettingsBeginAnotherBaseline() {
        RateFile rates = open();
        rates.keep("GPU-1", "DAXPY GB/s", "driver 550", 2900);
        assertThat(rates.earlier("GPU-1", "DAXPY GB/s", "driver 580")).isEmpty();
        rates.keep("GPU-1", "DAXPY GB/s", "driver 580", 2000);
        assertThat(open().earlier("GPU-1", "DAXPY GB/s", "driver 580")).containsExactly(2000.0);
        assertThat(open().earlier("GPU-1", "DAXPY GB/s", "driver 550")).isEmpty();
    }

    @Test
    void theFirstHalfOfASeriesStays() {
        RateFile rates = open();
        IntStream.rangeClosed(1, 100).forEach(rate -> rates.keep("GPU-1", "DAXPY", "s", rate));
        assertThat(open().earlier("GPU-1", "DAXPY", "s"))
                .hasSize(RateSeries.MOST)
                .startsWith(1.0, 2.0)
                .contains(16.0, 85.0)
                .doesNotContain(17.0, 84.0)
                .endsWith(100.0);
    }

    @Test
    void valuesThatAreNoRatesAreNotKept() {
        RateFile rates = open();
        rates.keep("GPU-1", "DAXPY", "s", Double.NaN);
        rates.keep("GPU-1", "DAXPY", "s", 0);
        rates.keep("GPU-1", "DAXPY", "s\n1\t2", 3);
        assertThat(open().earlier("GPU-1", "DAXPY", "s\n1\t2")).containsExactly(3.0);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "other 1",
                "gpuwarden rates 1\nGPU-1\tDAXPY\ts",
                "gpuwarden rates 1\nGPU-1\tDAXPY\ts\t12,NaN",
                "gpuwarden rates 1\nGPU-1\tDAXPY\ts\t12,x"
            })
    void aWrongFileIsSetAsideAndTheHistoryBeginsAgain(String text) throws IOException {
        Files.writeString(file, text);
        RateFile rates = open();
        assertThat(rates.earlier("GPU-1", "DAXPY", "s")).isEmpty();
        assertThat(folder.resolve("events-rates.tsv.corrupt")).hasContent(text);
        rates.keep("GPU-1", "DAXPY", "s", 5);
        assertThat(open().earlier("GPU-1", "DAXPY", "s")).containsExactly(5.0);
    }

    @Test
    void folderInPlaceOfTheFileIsSetAsideToo() throws IOException {
        Files.createDirectories(file);
        open().keep("GPU-1", "DAXPY", "s", 5);
        assertThat(folder.resolve("events-rates.tsv.corrupt")).isDirectory();
        assertThat(open().earlier("GPU-1", "DAXPY", "s")).containsExactly(5.0);
    }

    @Test
    void aFolderThatCannotBeWrittenKeepsTheHistoryInMemory() {
        RateFile rates = RateFile.open(Optional.of(folder.resolve("none/rates.tsv")));
        rates.keep("GPU-1", "DAXPY", "s", 5);
        assertThat(rates.earlier("GPU-1", "DAXPY", "s")).isEqualTo(List.of(5.0));
    }
}
