package dev.gpuwarden.nccl.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SplitTest {

    private static String colors(Map<String, String> environment) {
        Split split = Split.of(environment).orElseThrow();
        return String.join(
                " ",
                IntStream.range(0, 8)
                        .mapToObj(rank -> String.valueOf(split.color(rank)))
                        .toList());
    }

    @ParameterizedTest
    @CsvSource({
        "AND 0x1, 0 1 0 1 0 1 0 1",
        "and0b11, 0 1 2 3 0 1 2 3",
        "&6, 0 0 2 2 4 4 6 6",
        "OR 0x3, 3 3 3 3 7 7 7 7",
        "|7, 7 7 7 7 7 7 7 7",
        "MOD 3, 0 1 2 0 1 2 0 1",
        "%04, 0 1 2 3 0 1 2 3",
        "DIV 4, 0 0 0 0 1 1 1 1",
        "/  0X2, 0 0 1 1 2 2 3 3",
        "AND 0, 0 0 0 0 0 0 0 0"
    })
    void ruleGivesEachRankItsColor(String rule, String expected) {
        assertThat(colors(Map.of("NCCL_TESTS_SPLIT", rule))).isEqualTo(expected);
    }

    @Test
    void maskIsHexadecimalAndComesFirst() {
        assertThat(colors(Map.of("NCCL_TESTS_SPLIT_MASK", "10", "NCCL_TESTS_SPLIT", "wrong")))
                .isEqualTo("0 0 0 0 0 0 0 0");
        assertThat(colors(Map.of("NCCL_TESTS_SPLIT_MASK", "0x3"))).isEqualTo("0 1 2 3 0 1 2 3");
        assertThat(Split.of(Map.of("OTHER", "AND 1"))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "AND", "XOR 1", "MOD -1", "MOD 0", "/0x0", "AND 8x", "AND 09", "AND 0b2", "OR 0xffffffff"})
    void wrongRuleIsNamed(String rule) {
        assertThatThrownBy(() -> Split.of(Map.of("NCCL_TESTS_SPLIT", rule)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("NCCL_TESTS_SPLIT")
                .hasMessageContaining("'" + rule + "'");
    }

    @Test
    void wrongMaskIsNamed() {
        assertThatThrownBy(() -> Split.of(Map.of("NCCL_TESTS_SPLIT_MASK", "0xg")))
                .hasMessageContaining("must be a hexadecimal number such as 0x7, but was '0xg'");
    }

    @Test
    void ranksOfOneColorAreAGroup() {
        Groups groups = new Groups(List.of(5, 0, 5, 0, 0));
        assertThat(groups.leaders()).containsExactly(0, 1);
        assertThat(IntStream.range(0, 5).map(groups::group)).containsExactly(0, 1, 0, 1, 1);
        assertThat(IntStream.range(0, 5).map(groups::rank)).containsExactly(0, 0, 1, 1, 2);
        assertThat(groups.ranks(2)).isEqualTo(2);
        assertThat(groups.refused(Collective.HYPERCUBE)).hasValue(3);
        assertThat(groups.refused(Collective.ALL_REDUCE)).isEmpty();
    }
}
