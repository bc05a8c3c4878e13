package dev.gpuwarden.daemon.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.core.event.Outbox.Lag;
import dev.gpuwarden.core.event.StoredEvent;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class OutboxTest extends StoreFixture {

    private void tell(int from, int to) {
        for (int i = from; i < to; i++) {
            store().accept(Events.xid("code" + i, i));
        }
    }

    private List<String> codes(String receiver, int max) {
        return store().next(receiver, max).stream()
                .map(one -> one.event().errorCodes().get(0))
                .toList();
    }

    @Test
    void aReceiverGetsWhatComesAfterItIsKnownUntilItAcknowledges() {
        tell(0, 2);
        store().register("uplink");
        assertThat(store().next("uplink", 10)).isEmpty();
        tell(2, 5);
        assertThat(codes("uplink", 2)).containsExactly("code2", "code3");
        assertThat(codes("uplink", 2)).containsExactly("code2", "code3");
        assertThat(store().lag("uplink")).isEqualTo(new Lag(3, 0));
        store().acknowledge("uplink", store().next("uplink", 2).get(1).sequence());
        assertThat(store().lag("uplink")).isEqualTo(new Lag(1, 0));
        reopen();
        store().register("uplink");
        assertThat(codes("uplink", 10)).containsExactly("code4");
        assertThat(store().lag("uplink")).isEqualTo(new Lag(1, 0));
    }

    @Test
    void acknowledgingNeverGoesBackNorBeyondWhatThereIs() {
        store().register("uplink");
        tell(0, 3);
        List<StoredEvent> next = store().next("uplink", 10);
        store().acknowledge("uplink", next.get(1).sequence());
        store().acknowledge("uplink", next.get(0).sequence());
        assertThat(codes("uplink", 10)).containsExactly("code2");
        store().acknowledge("uplink", Long.MAX_VALUE);
        tell(3, 4);
        assertThat(codes("uplink", 10)).containsExactly("code3");
    }

    @Test
    void aRepetitionThatIsCountedIsNotSentAgain() {
        store().register("uplink");
        store().accept(Events.xid("79", 1));
        store().acknowledge("uplink", store().next("uplink", 1).get(0).sequence());
        store().accept(Events.xid("79", 2));
        assertThat(store().next("uplink", 10)).isEmpty();
        assertThat(store().lag("uplink").waiting()).isZero();
    }

    @Test
    void receiversAreApart() {
        store().register("a");
        store().register("b");
        tell(0, 2);
        store().acknowledge("a", store().next("a", 1).get(0).sequence());
        assertThat(codes("a", 10)).containsExactly("code1");
        assertThat(codes("b", 10)).containsExactly("code0", "code1");
        store().keepReceivers(Set.of("b"));
        assertThat(store().next("a", 10)).isEmpty();
        assertThat(store().status().receivers()).containsOnlyKeys("b");
        assertThatThrownBy(() -> store().acknowledge("a", 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'a' is not registered");
        reopen();
        assertThat(store().status().receivers()).containsOnlyKeys("b");
    }
}
