package dev.gpuwarden.core.compute;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class PeerRatesTest {

    private static final double NONE = Double.NaN;

    /** GPU 2 is slow in both directions, and the pair of 0 and 3 in one. */
    private static final PeerRates RATES = new PeerRates(new double[][] {
        {NONE, 100, 10, 100},
        {99, NONE, 10, 98},
        {10, 10, NONE, 10},
        {20, 97, 10, NONE}
    });

    @Test
    void gpuThatIsSlowWithMostPeersIsTheOnlyOneOfItsPairs() {
        PeerRates two = new PeerRates(
                new double[][] {{NONE, 100, 10, 100}, {99, NONE, 10, 98}, {10, 10, NONE, 10}, {97, 97, 10, NONE}});
        assertThat(two.slowPeers(2, 50)).containsExactly(0, 1, 3);
        assertThat(two.slowPeers(0, 50)).isEmpty();
        assertThat(two.slowPeers(3, 50)).isEmpty();
    }

    @Test
    void slowPairIsOfBothGpus() {
        PeerRates pair = RATES.of(List.of(0, 1, 3));
        assertThat(pair.slowPeers(0, 50)).containsExactly(2);
        assertThat(pair.slowPeers(2, 50)).containsExactly(0);
        assertThat(pair.slowPeers(1, 50)).isEmpty();
    }

    @Test
    void unknownRatesCountForNothing() {
        PeerRates unknown = new PeerRates(new double[][] {{NONE, NONE}, {NONE, NONE}});
        assertThat(unknown.median()).isEmpty();
        assertThat(unknown.least(0)).isEmpty();
        assertThat(unknown.slowPeers(0, 50)).isEmpty();
        assertThat(RATES.median()).hasValue(20);
        assertThat(RATES.least(3)).hasValue(10);
        assertThat(RATES.of(List.of(0, 1)).least(0)).hasValue(99);
    }
}
