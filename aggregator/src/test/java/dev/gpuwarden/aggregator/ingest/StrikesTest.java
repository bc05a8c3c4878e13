package dev.gpuwarden.aggregator.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.ingest.TokenAuthenticator.Strikes;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class StrikesTest {

    private final AtomicLong clock = new AtomicLong(-5);
    private final Strikes strikes = new Strikes(clock::get);

    private void strike(Object address, int times) {
        for (int i = 0; i < times; i++) {
            strikes.strike(address);
        }
    }

    @Test
    void addressWaitsAfterAFewStrikesAndOthersDoNot() {
        strike("a", Strikes.MOST_OF_ONE - 1);
        assertThat(strikes.mayAsk("a")).isTrue();
        strike("a", 1);
        assertThat(strikes.mayAsk("a")).isFalse();
        assertThat(strikes.mayAsk("b")).isTrue();
        clock.addAndGet(Strikes.FORGIVEN_NANOS);
        assertThat(strikes.mayAsk("a")).as("one is forgiven").isTrue();
        strike("a", 1);
        assertThat(strikes.mayAsk("a")).isFalse();
    }

    @Test
    void manyAddressesTogetherReachALimitToo() {
        for (int i = 0; i < Strikes.MOST_OF_ALL; i++) {
            strike(i, 1);
        }
        assertThat(strikes.mayAsk(7)).isFalse();
        assertThat(strikes.mayAsk("a node that comes again")).isTrue();
        clock.addAndGet(Strikes.FORGIVEN_NANOS);
        assertThat(strikes.mayAsk(7)).isTrue();
    }
}
