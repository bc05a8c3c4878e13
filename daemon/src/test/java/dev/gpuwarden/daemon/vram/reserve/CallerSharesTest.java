package dev.gpuwarden.daemon.vram.reserve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.Owner;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;

/** One caller makes tenant after tenant. */
class CallerSharesTest {

    private static final Owner STRANGER = new Owner.Unit("batch.service");

    private final List<CallerShares> open = new ArrayList<>();

    private void call(int uid, Owner owner) {
        CallerShares shares = CallerShares.of(new Request.Caller(1, uid, 0, false), owner, CallerShares.MOST_OF_TENANT);
        shares.require("requests", open);
        open.add(shares);
    }

    /** Returns how many calls a caller opens with these owners before it is refused. The stranger has room then. */
    private int most(int uid, IntFunction<Owner> owners) {
        open.clear();
        for (int i = 0; i <= CallerShares.MOST; i++) {
            try {
                call(uid, owners.apply(i));
            } catch (Refusal e) {
                assertThat(e.kind()).isEqualTo(Refusal.Cause.TOO_MANY);
                call(0, STRANGER);
                return i;
            }
        }
        throw new AssertionError("no refusal");
    }

    private static Owner pod(int number, Reading<String> namespace) {
        Reading<String> none = Reading.absent(Absence.NO_DATA);
        return new Owner.Pod("uid-" + number, namespace, none, none, none);
    }

    @Test
    void noCallerTakesWhatOthersNeed() {
        assertThat(most(1000, i -> new Owner.Unit("one.service"))).isEqualTo(8);
        assertThat(most(1000, i -> new Owner.Unit("user@1000.service/a" + i + ".service")))
                .isEqualTo(16);
        assertThat(most(1000, i -> new Owner.Unit("session-" + i + ".scope"))).isEqualTo(16);
        assertThat(most(1000, i -> new Owner.SlurmJob("" + i, "0"))).isEqualTo(16);
        assertThat(most(1000, i -> new Owner.BatchJob("pbs", "" + i))).isEqualTo(16);
        assertThat(most(1000, i -> new Owner.Unknown("in the root cgroup"))).isEqualTo(8);
        assertThat(most(1000, i -> pod(i, Reading.of("team-a")))).isEqualTo(32);
        assertThat(most(1000, i -> pod(i, Reading.absent(Absence.NO_DATA)))).isEqualTo(32);
    }

    @Test
    void numbersThatAUserMapsAreNoOtherUsers() {
        open.clear();
        for (int i = 0; i < 16; i++) {
            call(100_000 + i, new Owner.Container("rootless-podman", "c" + i));
            call(200_000 + i, new Owner.Unit("user@1000.service/a" + i + ".service"));
        }
        assertThatThrownBy(() -> call(100_099, new Owner.Container("rootless-podman", "z")))
                .hasMessage("16 requests of rootless containers are open, and 32 in all; at most 16 and 64 may be");
        assertThatThrownBy(() -> call(200_099, new Owner.Unit("user@1000.service/z.service")))
                .hasMessageStartingWith("16 requests of uid 1000 are open");
        call(1001, new Owner.Unit("user@1001.service/a.service"));
    }

    /** In containers of the system, strangers have the same number. */
    @Test
    void aNumberInAContainerIsNoUser() {
        for (int i = 0; i < CallerShares.MOST; i++) {
            call(1000, new Owner.Container("docker", "c" + i));
        }
        assertThatThrownBy(() -> call(0, STRANGER)).hasMessage("64 requests are open; at most 64 may be");
    }
}
