package dev.gpuwarden.core.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.health.Snapshots;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.NvLinkPeer;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ResetUnitRuleTest {

    private static final PciAddress SWITCH = new PciAddress(0, 0xc4, 0, 0);
    private static final PciAddress ELSEWHERE = new PciAddress(0, 0xe0, 0, 0);

    /**
     * A GPU from text: its compute capability, then the other ends of its links. A number is a GPU, s a switch, p a processor,
     * ?N a device at the address of GPU N whose kind is unknown, ?x one elsewhere, g a GPU that the driver does not list. An x is
     * links that were not read, and - a capability that was not.
     */
    private static GpuIdentity gpu(int index, String text) {
        String[] words = text.trim().split(" +");
        GpuIdentity gpu = Snapshots.identity(index);
        boolean named = !words[0].equals("lost");
        Reading<List<NvLinkPeer>> links = words.length > 1 && words[1].equals("x")
                ? Reading.absent(Absence.GPU_LOST)
                : Reading.of(Arrays.stream(words)
                        .skip(1)
                        .map(ResetUnitRuleTest::peer)
                        .toList());
        return new GpuIdentity(
                index,
                named ? gpu.uuid() : Reading.absent(Absence.GPU_LOST),
                named ? gpu.pci() : Reading.absent(Absence.GPU_LOST),
                gpu.minor(),
                gpu.name(),
                gpu.serial(),
                gpu.vbios(),
                gpu.boardPart(),
                named && !words[0].equals("-") ? Reading.of(words[0]) : Reading.absent(Absence.GPU_LOST),
                gpu.numaNode(),
                gpu.migMode(),
                gpu.mig(),
                links);
    }

    private static NvLinkPeer peer(String word) {
        return switch (word.charAt(0)) {
            case 's' -> new NvLinkPeer(NvLinkPeer.Type.SWITCH, SWITCH);
            case 'p' -> new NvLinkPeer(NvLinkPeer.Type.OTHER, ELSEWHERE);
            case 'g' -> new NvLinkPeer(NvLinkPeer.Type.GPU, ELSEWHERE);
            case '?' ->
                new NvLinkPeer(
                        NvLinkPeer.Type.UNKNOWN,
                        word.equals("?x") ? ELSEWHERE : Snapshots.pci(Integer.parseInt(word.substring(1))));
            default -> new NvLinkPeer(NvLinkPeer.Type.GPU, Snapshots.pci(Integer.parseInt(word)));
        };
    }

    private static String units(List<GpuIdentity> gpus) {
        ResetUnits units = ResetUnitRule.units(gpus);
        return IntStream.range(0, gpus.size())
                .mapToObj(index -> units.of(Snapshots.uuid(index))
                        .map(unit -> IntStream.range(0, gpus.size())
                                .filter(other -> unit.contains(Snapshots.uuid(other)))
                                .mapToObj(Integer::toString)
                                .collect(Collectors.joining()))
                        .orElse("?"))
                .collect(Collectors.joining(" "));
    }

    @ParameterizedTest
    @CsvSource({
        // Without links, and with links to nothing that a reset reaches.
        "7.5 | 7.5,                             0 1",
        "7.0 p | 7.0 g,                         0 1",
        // Before Ampere: pairs, a chain, a ring whose ends were read once, and NVSwitches.
        "7.0 1 | 7.0 0 | 7.0 3 | 7.0 2,         01 01 23 23",
        "7.0 1 | 7.0 0 2 | 7.0 1 | 7.0,         012 012 012 3",
        "7.0 1 1 | 7.0 | 7.0,                   01 01 2",
        "7.0 s | 7.0 s s | 7.0 s | 7.5,         012 012 012 3",
        "6.0 1 | 6.0 0 p,                       01 01",
        // From Ampere on each alone, with direct links and on switches, whether the links were read or not.
        "8.0 1 | 8.0 0,                         0 1",
        "8.0 s | 8.0 s,                         0 1",
        "9.0 x | 10.0 x,                        0 1",
        // The kind of the device is not reported: its address decides.
        "7.0 ?1 | 7.0 ?0 | 7.0,                 01 01 2",
        "7.0 ?x | 7.0,                          ? 1",
        // One GPU was not read: the others have the other ends of its links.
        "7.0 1 | 7.0 x | 7.0,                   01 01 2",
        "7.0 1 | - x | 7.0,                     01 01 2",
        "7.0 | 7.0 x,                           0 1",
        // Two were not: they may have a link to each other, and no other GPU has.
        "7.0 x | 7.0 x | 7.0,                   ? ? 2",
        "7.0 x | - x | 7.0 1 | 9.0,             ? ? ? 3",
        // One was not, and a link to a switch has no other end.
        "7.0 s | 7.0 s | 7.0 x | 9.0 x,         ? ? ? 3",
        // A GPU of unknown capability is alone: later GPUs have no links that join it to them.
        "9.0 x | - x | 9.0 x,                   0 1 2",
        // A GPU without a name cannot be named in a reset, nor found by its address.
        "7.0 g | lost x | 7.0,                  ? ? 2",
    })
    void linksJoinGpus(String node, String expected) {
        String[] texts = node.split("\\|");
        List<GpuIdentity> gpus = new ArrayList<>();
        for (int index = 0; index < texts.length; index++) {
            gpus.add(gpu(index, texts[index]));
        }
        assertThat(units(gpus)).isEqualTo(expected);
    }

    @Test
    void onlyGpusBeforeAmpereNeedTheirLinks() {
        assertThat(List.of("7.5", "6.0", "3.7")).allMatch(text -> ResetUnitRule.needsLinks(Reading.of(text)));
        assertThat(List.of("8.0", "8.9", "9.0", "12.1")).noneMatch(text -> ResetUnitRule.needsLinks(Reading.of(text)));
        assertThat(ResetUnitRule.needsLinks(Reading.absent(Absence.GPU_LOST))).isTrue();
    }

    @Test
    void aResetReachesOneUnit() {
        ResetUnits units = ResetUnitRule.units(
                List.of(gpu(0, "7.0 1"), gpu(1, "7.0 0"), gpu(2, "7.0 x"), gpu(3, "7.0 x"), gpu(4, "7.0")));
        assertThat(units.widened(List.of(Snapshots.uuid(0), Snapshots.uuid(4))))
                .containsExactly(Snapshots.uuid(0), Snapshots.uuid(1), Snapshots.uuid(4));
        assertThat(units.widened(List.of(Snapshots.uuid(2)))).containsExactly(Snapshots.uuid(2));
        assertThat(units.common(List.of(Snapshots.uuid(1), Snapshots.uuid(0))).orElseThrow())
                .containsExactly(Snapshots.uuid(0), Snapshots.uuid(1));
        assertThat(units.common(List.of(Snapshots.uuid(1), Snapshots.uuid(4)))).isEmpty();
        assertThat(units.common(List.of(Snapshots.uuid(2), Snapshots.uuid(3)))).isEmpty();
        assertThat(units.common(List.of(Snapshots.uuid(2))).orElseThrow()).containsExactly(Snapshots.uuid(2));
    }

    /** The unit of one of the GPUs may be unknown, and the order of their names must not decide. */
    @Test
    void oneKnownUnitOfTheGpusIsEnoughInAnyOrder() {
        String one = Snapshots.uuid(0);
        String two = Snapshots.uuid(1);
        ResetUnits ofOne = new ResetUnits(Map.of(one, Set.of(one, two)));
        ResetUnits ofTwo = new ResetUnits(Map.of(two, Set.of(one, two)));
        for (ResetUnits units : List.of(ofOne, ofTwo)) {
            assertThat(units.common(List.of(one, two)).orElseThrow()).containsExactly(one, two);
            assertThat(units.common(List.of(two, one)).orElseThrow()).containsExactly(one, two);
        }
    }
}
