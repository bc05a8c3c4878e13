package dev.gpuwarden.aggregator.breaker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class PoolTextTest {

    @Test
    void commasWithinAPoolDoNotEndIt() {
        String one = "h100;gpu=h100,!spare;rate=50%,20/5m;level=50%,20";
        String other = "rest;zone=a,zone;rate=5/1m;level=10%";
        assertThat(PoolText.separate(List.of((one + "," + other).split(",")))).containsExactly(one, other);
        assertThat(PoolText.separate(List.of((other + "," + one).split(",")))).containsExactly(other, one);
        assertThat(PoolText.separate(List.of())).isEmpty();
        assertThat(PoolText.parse(one).name()).isEqualTo("h100");
    }

    @Test
    void twoPoolsOfOneNameAreNone() {
        String one = "a;;rate=1/1h;level=2";
        assertThat(PoolText.parseAll(List.of(one, "b;;rate=1/1h;level=2"))).hasSize(2);
        assertThatThrownBy(() -> PoolText.parseAll(List.of(one, one))).hasMessageContaining("same name");
    }
}
