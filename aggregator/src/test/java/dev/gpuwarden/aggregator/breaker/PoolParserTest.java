package dev.gpuwarden.aggregator.breaker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PoolParserTest {

    @Test
    void commaWithinPoolDoesNotEndIt() {
        String one = "h100;gpu=h100,!spare;rate=50%,20/5m;level=50%,20";
        String other = "rest;zone=a,zone;rate=5/1m;level=10%";
        assertThat(Pool.Parser.separate(List.of((one + "," + other).split(","))))
                .containsExactly(one, other);
        assertThat(Pool.Parser.separate(List.of((other + "," + one).split(","))))
                .containsExactly(other, one);
        assertThat(Pool.Parser.separate(List.of())).isEmpty();
        assertThat(Pool.Parser.parse(one).name()).isEqualTo("h100");
    }

    @Test
    void writtenPoolsAreReadUnchanged() {
        Random random = new Random(7);
        List<String> selectors = List.of("", "zone=a", "zone=a,!spare", "a==b,c!=d,e,!f", "x=,y");
        List<String> windows = List.of("1s", "90s", "5m", "120m", "3h", "61m");
        List<String> limits = List.of("50%", "0", "50%,20", "100%,999999", ",3");
        for (int round = 0; round < 500; round++) {
            List<String> texts = new ArrayList<>();
            for (int i = 0; i <= random.nextInt(4); i++) {
                texts.add("p" + i + ";" + any(random, selectors) + ";rate=" + any(random, limits) + "/"
                        + any(random, windows) + ";level=" + any(random, limits));
            }
            List<Pool> pools = Pool.Parser.parseAll(texts);
            String written = Pool.Parser.write(pools);
            assertThat(Pool.Parser.parseAll(List.of(written.split(","))))
                    .as(written)
                    .usingRecursiveComparison()
                    .isEqualTo(pools);
        }
        assertThat(Pool.Parser.write(List.of(Pool.GPU_NODES)))
                .isEqualTo("gpu-nodes;nvidia.com/gpu.present=true;rate=50%/5m;level=50%");
    }

    private static String any(Random random, List<String> of) {
        return of.get(random.nextInt(of.size()));
    }

    @Test
    void twoPoolsWithOneNameAreRefused() {
        String one = "a;;rate=1/1h;level=2";
        assertThat(Pool.Parser.parseAll(List.of(one, "b;;rate=1/1h;level=2"))).hasSize(2);
        assertThatThrownBy(() -> Pool.Parser.parseAll(List.of(one, one))).hasMessageContaining("same name");
    }
}
