package dev.gpuwarden.core.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PciAddressTest {

    @ParameterizedTest
    @CsvSource({
        "00000000:3B:00.0, 0000:3b:00.0",
        "0000:3b:00.0, 0000:3b:00.0",
        "0000:3b:00, 0000:3b:00.0",
        "3b:00, 0000:3b:00.0",
        "10000:01:1f.7, 10000:01:1f.7",
        "ffffffff:ff:1f.7, ffffffff:ff:1f.7",
        "' 0008:01:00.0 ', 0008:01:00.0"
    })
    void everyWrittenFormIsTheSameAddress(String written, String kernelForm) {
        assertThat(PciAddress.parse(written)).map(PciAddress::toString).contains(kernelForm);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "GPU-1", "0000:3b", "0000:3b:20.0", "0000:3b:00.8", "123456789:00:00.0", "zz:00.0", "a:b:c:d"
            })
    void otherTextIsNoAddress(String text) {
        assertThat(PciAddress.parse(text)).isEmpty();
    }

    @Test
    void sortsAsTheKernelListsThem() {
        List<String> sorted = Stream.of("0001:00:00.0", "0000:81:00.0", "0000:3b:00.1", "0000:3b:00.0")
                .map(t -> PciAddress.parse(t).orElseThrow())
                .sorted()
                .map(PciAddress::toString)
                .toList();
        assertThat(sorted).containsExactly("0000:3b:00.0", "0000:3b:00.1", "0000:81:00.0", "0001:00:00.0");
    }
}
