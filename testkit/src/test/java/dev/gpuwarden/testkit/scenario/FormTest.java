package dev.gpuwarden.testkit.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FormTest {

    @ParameterizedTest
    @CsvSource({
        "bytes, 81559MiB, 85520809984",
        "bytes, 1.5 GiB, 1610612736",
        "bytes, 2GB, 2000000000",
        "bytes, 17, 17",
        "kibibytes, 4MiB, 4096",
        "kilobytes, 12MB, 12000",
        "watts, 71.97W, 71970",
        "watts, 700, 700000",
        "joules, 3600kJ, 3600000000",
        "celsius, -5C, -5",
        "megahertz, 1980MHz, 1980",
        "percent, 37%, 37",
        "milli, 0.25, 250",
        "nanoseconds, 2ms, 2000000",
        "microseconds, 2ms, 2000",
        "count, 0x1f, 31",
        "number, -3, -3",
        "flag, on, 1",
        "flag, No, 0",
        "code, gpu-lost, 15",
        "code, 999, 999",
        "reasons, hw-slowdown+hw-thermal, 72",
        "reasons, 0x48, 72",
        "cuda-version, 12.4, 12040",
        "nccl-version, 2.21.5, 22105",
    })
    void readsNumber(String form, String text, long number) {
        assertThat(Form.of(form).parse(text)).contains(Value.Numbers.of(number));
    }

    @ParameterizedTest
    @CsvSource({
        "version, 8.9, 8, 9",
        "range, 0-55, 0, 55",
        "class, 0x0302, 3, 2",
    })
    void readsTwoNumbers(String form, String text, long first, long second) {
        assertThat(Form.of(form).parse(text)).contains(Value.Numbers.of(first, second));
    }

    @ParameterizedTest
    @CsvSource({
        "bytes, -1",
        "bytes, 1MB/s",
        "bytes, 99999999999TiB",
        "count, -1",
        "count, 1.5",
        "count, ''",
        "watts, 5A",
        "flag, maybe",
        "code, lost",
        "code, 1000",
        "reasons, hot",
        "version, 9",
        "range, 0..5",
        "class, 0302",
        "address, 0000:3b:00.1",
        "cuda-version, 12",
        "instant, noon",
    })
    void refusesInvalidText(String form, String text) {
        assertThat(Form.of(form).parse(text)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "h100x8/gpu/0, 4",
        "h100x8/gpu/1, 4",
    })
    void identitiesAreUuidsOfVersionFour(String seed, int version) {
        assertThat(java.util.UUID.fromString(Identity.uuid(seed)).version()).isEqualTo(version);
        assertThat(Identity.uuid(seed)).isEqualTo(Identity.uuid(seed));
        assertThat(Identity.serial(seed)).matches("165[0-9]{10}");
    }
}
