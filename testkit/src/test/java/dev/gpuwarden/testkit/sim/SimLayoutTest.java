package dev.gpuwarden.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.testkit.scenario.Board;
import dev.gpuwarden.testkit.scenario.Boards;
import dev.gpuwarden.testkit.scenario.Form;
import dev.gpuwarden.testkit.scenario.Generation;
import dev.gpuwarden.testkit.scenario.Keys;
import dev.gpuwarden.testkit.scenario.Keys.Key;
import dev.gpuwarden.testkit.scenario.SimProcess;
import dev.gpuwarden.testkit.scenario.Value;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Scenarios and the simulator's table are written by different hands: here they are held together. */
class SimLayoutTest {

    private final SimLayout layout = NativeFiles.find().layout();

    /** Fields that only NodeBuilder sets. */
    private static final Set<String> NO_KEY = Set.of(
            "header.magic",
            "header.layout_version",
            "header.sequence",
            "header.gpu_count",
            "header.process_count",
            "header.event_head",
            "header.cuda_client_count",
            "gpu.energy_epoch_ns",
            "gpu.wrong_launches",
            "gpu.link",
            "gpu.mig",
            "gpu.mig_profile",
            "gpu.peer",
            "mig.profile",
            "mig.ci_profile",
            "mig.placement_start",
            "mig.placement_size",
            "mig.multiprocessors",
            "mig.copy_engines",
            "mig.decoders",
            "mig.encoders",
            "mig.jpegs",
            "mig.ofas",
            "mig.gi_slices",
            "mig.ci_slices",
            "mig.attribute_mem_mb");

    @Test
    void everyKeyHasFieldsAndEveryFieldAKey() {
        Set<String> reached = new TreeSet<>(NO_KEY);
        Keys.NODE.all().forEach(key -> reach("header", key, reached));
        Keys.GPU.all().forEach(key -> reach("gpu", key, reached));
        Set<String> fields = new TreeSet<>();
        for (String struct : List.of("header", "gpu", "link", "mig", "peer")) {
            layout.fields(struct).keySet().forEach(name -> fields.add(struct + "." + name));
        }
        Set<String> withoutKey = new TreeSet<>(fields);
        withoutKey.removeAll(reached);
        assertThat(withoutKey)
                .as("fields of the table without a key in keys.tsv")
                .isEmpty();
        assertThat(fields).as("fields that keys.tsv and this test name").containsAll(reached);
    }

    private void reach(String struct, Key key, Set<String> reached) {
        for (String field : key.fields()) {
            String owner = struct.equals("header") ? "header." : "gpu[0].";
            SimLayout.Target target = layout.find(owner + field.replace("[*]", "[0]"));
            assertThat(target.field().isText()).as(key.name()).isEqualTo(key.isText());
            String list = key.list();
            String name = list.isEmpty() ? field : field.substring(list.length() + "[*].".length());
            reached.add((list.isEmpty() ? struct : list) + "." + name.replaceAll("\\[.*", ""));
        }
    }

    @Test
    void statesHaveTheSimulatorsNumbers() {
        Form states = Keys.GPU.get("state").form();
        assertThat(states.parse("ok")).contains(Value.Numbers.of(layout.constant("STATE_OK")));
        assertThat(states.parse("lost")).contains(Value.Numbers.of(layout.constant("STATE_LOST")));
        assertThat(states.parse("reset-required")).contains(Value.Numbers.of(layout.constant("STATE_RESET_REQUIRED")));
        assertThat(states.parse("unlisted")).contains(Value.Numbers.of(layout.constant("STATE_HIDDEN")));
        for (SimProcess.Type type : SimProcess.Type.values()) {
            assertThat(layout.constant("PROCESS_" + type.name())).isEqualTo(type.ordinal());
        }
        assertThat(layout.constant("NA")).isEqualTo(SimLayout.ABSENT);
    }

    @Test
    void everyGenerationHasALibrary() {
        for (Generation generation : Generation.values()) {
            assertThat(NativeFiles.find().library(generation)).isRegularFile();
        }
    }

    @Test
    void everyBoardIsReadableAndComplete() {
        for (String name : Boards.names()) {
            Board board = Boards.find(name).orElseThrow();
            assertThat(board.values())
                    .extracting(s -> s.key().name())
                    .as(name)
                    .contains("name", "memory.total", "memory.reserved", "temperature", "power.limit", "pci.device-id")
                    .doesNotHaveDuplicates();
            assertThat(board.slots()).as(name).isNotEmpty();
        }
    }
}
