package dev.gpuwarden.nccl.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.gpuwarden.nccl.group.Place.Given;
import dev.gpuwarden.nccl.group.Place.Meeting;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlaceTest {

    private static final Given NOTHING = given("", -1, -1);

    private static Given given(String meeting, int process, int processes) {
        return new Given(
                Optional.of(meeting).filter(text -> !text.isEmpty()),
                Optional.of(process).filter(number -> number >= 0),
                Optional.of(processes).filter(number -> number >= 0));
    }

    private static Place at(int process, int processes, String host, int port) {
        return new Place(process, processes, Optional.of(new Meeting(host, port)));
    }

    @Test
    void withoutALauncherAProcessIsAlone() {
        assertThat(Place.of(NOTHING, Map.of())).isEqualTo(Place.alone());
        assertThat(Place.of(NOTHING, Map.of("RANK", "0", "WORLD_SIZE", "1"))).isEqualTo(Place.alone());
    }

    @Test
    void theCommandLineComesFirst() {
        Map<String, String> torchrun = Map.of("RANK", "3", "WORLD_SIZE", "4", "MASTER_ADDR", "a", "MASTER_PORT", "1");
        assertThat(Place.of(given("node1:29500", 1, 2), torchrun)).isEqualTo(at(1, 2, "node1", 29500));
        assertThat(Place.of(given("[::1]:29500", -1, -1), torchrun)).isEqualTo(at(3, 4, "::1", 29500));
    }

    @Test
    void torchrunNamesTheMaster() {
        Map<String, String> torchrun =
                Map.of("RANK", "3", "WORLD_SIZE", "4", "MASTER_ADDR", "gpu1", "MASTER_PORT", "29400");
        assertThat(Place.of(NOTHING, torchrun)).isEqualTo(at(3, 4, "gpu1", 29400));
        Map<String, String> withStore = new java.util.HashMap<>(torchrun);
        withStore.put("TORCHELASTIC_USE_AGENT_STORE", "True");
        assertThat(Place.of(NOTHING, withStore)).isEqualTo(at(3, 4, "gpu1", 29401));
    }

    @Test
    void srunNamesTheNodes() {
        Map<String, String> first = Map.of(
                "SLURM_PROCID",
                "0",
                "SLURM_NTASKS",
                "16",
                "SLURM_STEP_NUM_TASKS",
                "2",
                "SLURM_JOB_ID",
                "77",
                "SLURM_STEP_ID",
                "0",
                "SLURM_STEP_NODELIST",
                "gpu[007-008]");
        Place place = Place.of(NOTHING, first);
        assertThat(place.processes()).isEqualTo(2);
        assertThat(place.meeting().orElseThrow().host()).isEqualTo("gpu007");
        assertThat(place.meeting().orElseThrow().port()).isBetween(20_000, 29_999);
    }

    @Test
    void mpirunOnOneNodeNeedsNoAddress() {
        Map<String, String> local = Map.of(
                "OMPI_COMM_WORLD_RANK",
                "1",
                "OMPI_COMM_WORLD_SIZE",
                "2",
                "OMPI_COMM_WORLD_LOCAL_SIZE",
                "2",
                "PMIX_NAMESPACE",
                "prterun-a-1");
        assertThat(Place.of(NOTHING, local).meeting().orElseThrow().host()).isEqualTo("127.0.0.1");
        Map<String, String> remote =
                Map.of("OMPI_COMM_WORLD_RANK", "1", "OMPI_COMM_WORLD_SIZE", "2", "OMPI_COMM_WORLD_LOCAL_SIZE", "1");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Place.of(NOTHING, remote))
                .withMessageContaining("--rendezvous");
        assertThat(Place.of(given("a:1", -1, -1), remote)).isEqualTo(at(1, 2, "a", 1));
    }

    @ParameterizedTest
    @CsvSource({"a:1, 2, 2", "a:1, 0, -1", "'', 0, 2", "a:1, -1, -1", "a, 0, 2", "a:0, 0, 2", ":1, 0, 2"})
    void aPlaceThatCannotBeIsRefused(String meeting, int process, int processes) {
        assertThatIllegalArgumentException().isThrownBy(() -> Place.of(given(meeting, process, processes), Map.of()));
    }

    @ParameterizedTest
    @CsvSource({
        "'gpu[001-004,7],login1', gpu001",
        "'gpu3,gpu4', gpu3",
        "gpu5, gpu5",
        "'a,b[1-2]', a",
        "'rack[2,4]-ib', rack2-ib"
    })
    void aListOfNodesBeginsWithOne(String nodes, String first) {
        assertThat(Launchers.firstNode(nodes)).isEqualTo(first);
    }
}
