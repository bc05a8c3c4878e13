package dev.gpuwarden.checks.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.compute.CopiedData;
import dev.gpuwarden.core.compute.ResultVerdict;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.ComputeDriver.PeerPair;
import dev.gpuwarden.core.port.ComputeDriver.PeerRate;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The rule which GPU of a pair is named for wrong data. */
class PeerCopiesTest {

    private static final List<String> GPUS = List.of("a", "b", "c", "x");

    /** Returns copies between all GPUs, of which these pairs are wrong. */
    private static PeerCopies copies(Set<String> wrongWithHost, PeerPair... wrong) {
        Map<PeerPair, Reading<PeerRate>> rates = new HashMap<>();
        for (String from : GPUS) {
            GPUS.stream().filter(to -> !to.equals(from)).forEach(to -> {
                PeerPair pair = new PeerPair(from, to);
                boolean bad = List.of(wrong).contains(pair);
                CopiedData data = new CopiedData(64, bad ? 1 : 0, bad ? OptionalLong.of(8) : OptionalLong.empty());
                rates.put(pair, Reading.of(new PeerRate(1e9, true, data)));
            });
        }
        return new PeerCopies(rates, wrongWithHost);
    }

    private static List<String> named(PeerCopies copies, String gpu) {
        return copies.wrong(gpu).stream().map(ResultVerdict::gpu).toList();
    }

    @Test
    void gpuThatReceivesWrongDataIsNamedAndNotItsPeers() {
        PeerCopies copies = copies(Set.of(), new PeerPair("a", "x"), new PeerPair("b", "x"), new PeerPair("c", "x"));
        assertThat(named(copies, "x")).containsExactly("copies from a", "copies from b", "copies from c");
        assertThat(named(copies, "a")).isEmpty();
        assertThat(named(copies, "b")).isEmpty();
    }

    @Test
    void gpuThatSendsWrongDataIsNamedAndNotItsPeers() {
        PeerCopies copies = copies(Set.of(), new PeerPair("x", "a"), new PeerPair("x", "b"));
        assertThat(named(copies, "x")).containsExactly("copies to a", "copies to b");
        assertThat(named(copies, "a")).isEmpty();
    }

    @Test
    void onePairAloneNamesBoth() {
        PeerCopies copies = copies(Set.of(), new PeerPair("a", "x"));
        assertThat(named(copies, "a")).containsExactly("copies to x");
        assertThat(named(copies, "x")).containsExactly("copies from a");
        assertThat(named(copies, "b")).isEmpty();
    }

    @Test
    void wrongCopiesWithTheHostExplainAWrongPair() {
        PeerCopies copies = copies(Set.of("x"), new PeerPair("a", "x"));
        assertThat(named(copies, "a")).isEmpty();
        assertThat(named(copies, "x")).containsExactly("copies from a");
    }
}
