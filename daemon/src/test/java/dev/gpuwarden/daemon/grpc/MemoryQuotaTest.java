package dev.gpuwarden.daemon.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class MemoryQuotaTest {

    private final AtomicLong clock = new AtomicLong();
    private final MemoryQuota held = new MemoryQuota(clock::get);

    @Test
    void thereIsRoomForSoMuchAndNoMore() {
        MemoryQuota.Account first = held.open();
        MemoryQuota.Account second = held.open();
        assertThat(first.take(MemoryQuota.ROOM - 10)).isTrue();
        assertThat(second.take(11)).isFalse();
        assertThat(second.take(10)).isTrue();
        first.close();
        assertThat(held.held()).isEqualTo(10);
        assertThat(second.take(11)).isTrue();
        second.close();
        assertThat(held.held()).isZero();
    }

    @Test
    void bytesAfterTheEndOfACallAreNotCounted() {
        MemoryQuota.Account account = held.open();
        account.close();
        assertThat(account.take(100)).isFalse();
        assertThat(held.held()).isZero();
    }

    @Test
    void theLargestOldHolderLosesItsConnectionWhenOthersNeedRoom() {
        EmbeddedChannel greedy = new EmbeddedChannel();
        EmbeddedChannel modest = new EmbeddedChannel();
        MemoryQuota.Account small = held.open();
        small.on(modest);
        small.take(1000);
        MemoryQuota.Account large = held.open();
        large.on(greedy);
        large.take(MemoryQuota.ROOM - 1000);

        clock.addAndGet(TimeUnit.SECONDS.toNanos(9));
        assertThat(held.open().take(1)).isFalse();
        assertThat(greedy.isOpen()).isTrue();
        clock.addAndGet(TimeUnit.SECONDS.toNanos(2));
        assertThat(greedy.isOpen()).isTrue();
        assertThat(held.open().take(1)).isFalse();
        assertThat(greedy.isOpen()).isFalse();
        assertThat(modest.isOpen()).isTrue();
        large.close();
        assertThat(held.open().take(1)).isTrue();
    }
}
