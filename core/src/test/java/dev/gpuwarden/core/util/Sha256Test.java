package dev.gpuwarden.core.util;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class Sha256Test {

    /** The example of FIPS 180-2, B.1. */
    private static final String OF_ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    @Test
    void digestIsLowerCaseHexadecimal() {
        assertThat(Sha256.hex("abc")).isEqualTo(OF_ABC);
        assertThat(Sha256.hex("abc", 8)).isEqualTo("ba7816bf");
    }

    @Test
    void textIsDigestedAsUtf8() {
        assertThat(Sha256.hex("ü")).isNotEqualTo(Sha256.hex("?")).hasSize(64);
    }
}
