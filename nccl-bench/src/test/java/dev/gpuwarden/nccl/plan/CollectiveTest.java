package dev.gpuwarden.nccl.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.gpuwarden.core.port.ElementType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CollectiveTest {

    /** Sizes and factors of nccl-tests for 1000 bytes of float in 8 ranks, where a part of each rank is a multiple of 16 bytes. */
    @ParameterizedTest
    @CsvSource({
        "all_reduce,     1000, 250, 1.75",
        "all_gather,      896,  28, 0.875",
        "reduce_scatter,  896,  28, 0.875",
        "broadcast,      1000, 250, 1",
        "reduce,         1000, 250, 1",
        "alltoall,        896,  28, 0.875",
        "sendrecv,       1000, 250, 1",
        "gather,          896,  28, 0.875",
        "scatter,         896,  28, 0.875",
        "hypercube,       896,  28, 1",
    })
    void sizesAndFactorsAreThoseOfNcclTests(String name, long bytes, long count, double factor) {
        Collective collective = Collective.of(name).orElseThrow();
        Layout layout = collective.layout(1000, ElementType.FLOAT, 8);
        assertThat(layout.bytes()).isEqualTo(bytes);
        assertThat(layout.count()).isEqualTo(count);
        assertThat(collective.busFactor(8)).isEqualTo(factor);
        assertThat(Collective.of(name + "_perf")).contains(collective);
    }

    @ParameterizedTest
    @CsvSource({"all_reduce, 1000", "all_gather, 896", "alltoall, 896", "hypercube, 784"})
    void bandwidthCountsTheBytesOfTheCollective(String name, double counted) {
        Collective collective = Collective.of(name).orElseThrow();
        Layout layout = collective.layout(1000, ElementType.FLOAT, 8);
        Collective.Bandwidth rates = collective.bandwidth(layout, 8, 1e-6);
        assertThat(rates.algorithm()).isCloseTo(counted / 1e3, within(1e-9));
        assertThat(rates.bus()).isCloseTo(counted / 1e3 * collective.busFactor(8), within(1e-9));
    }

    @Test
    void inPlaceAPartIsWhereItsRankHasIt() {
        Layout gathered = Collective.ALL_GATHER.layout(1024, ElementType.DOUBLE, 4);
        assertThat(gathered.sendOffset(3, true)).isEqualTo(3 * 256);
        assertThat(gathered.receiveOffset(3, true)).isZero();
        Layout scattered = Collective.REDUCE_SCATTER.layout(1024, ElementType.DOUBLE, 4);
        assertThat(scattered.sendOffset(3, true)).isZero();
        assertThat(scattered.receiveOffset(3, true)).isEqualTo(3 * 256);
        assertThat(scattered.receiveOffset(3, false)).isZero();
    }

    @Test
    void iterationsUseOtherMemoryWhileThereIsSome() {
        Layout layout = Collective.ALL_REDUCE.layout(256, ElementType.FLOAT, 2);
        assertThat(layout.shift(0, 1000)).isZero();
        assertThat(layout.shift(2, 1000)).isEqualTo(512);
        assertThat(layout.shift(3, 1000)).isZero();
        assertThat(Collective.ALL_GATHER.layout(8, ElementType.FLOAT, 8).shift(5, 1000))
                .isZero();
    }
}
