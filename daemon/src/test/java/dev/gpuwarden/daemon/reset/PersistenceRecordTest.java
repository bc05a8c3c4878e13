package dev.gpuwarden.daemon.reset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PersistenceRecordTest {

    private static final String START = "{\"schema\": \"gpuwarden.persistence/v1\", \"bootId\": \"one\", \"gpus\": ";

    @TempDir
    Path folder;

    private Path file() {
        return folder.resolve("gpu-reset-persistence.json");
    }

    private PersistenceRecord record(String boot) {
        return new PersistenceRecord(folder, boot);
    }

    @Test
    void holdsForItsBootAlone() throws Exception {
        assertThat(record("one").read()).isEmpty();
        record("one").write(List.of("GPU-b", "GPU-a"));
        assertThat(record("one").read()).containsExactly("GPU-a", "GPU-b");
        assertThat(record("two").read()).isEmpty();
        record("one").write(List.of());
        assertThat(file()).doesNotExist();
    }

    @Test
    void theRestOfAWriterThatWasKilledIsReplaced() throws Exception {
        Path target = Files.writeString(folder.resolve("other"), "as it was");
        Files.createSymbolicLink(folder.resolve("gpu-reset-persistence.json.new"), target);
        record("one").write(List.of("GPU-a"));
        assertThat(record("one").read()).containsExactly("GPU-a");
        assertThat(target).hasContent("as it was");
    }

    @Test
    void linkIsNotFollowed() throws Exception {
        Files.createSymbolicLink(file(), Files.writeString(folder.resolve("other"), START + "[]}"));
        assertThatThrownBy(() -> record("one").read()).hasMessageContaining("seen another kind of file");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "[]",
                "{",
                "{\"schema\": \"gpuwarden.persistence/v2\", \"bootId\": \"one\", \"gpus\": []}",
                START + "{}}",
                START + "[1]}",
                START + "[\"-r\"]}",
                START + "[\"GPU-a,GPU-b\"]}",
                START + "[\"0\"]}"
            })
    void anotherTextIsRefusedWithTheNextAction(String text) throws Exception {
        Files.writeString(file(), text);
        assertThatThrownBy(() -> record("one").read())
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith(file() + ": expected gpuwarden.persistence/v1, seen ")
                .hasMessageEndingWith("(nvidia-smi -pm 1), and remove the file");
    }

    @Test
    void sizeAndNumberAreBounded() throws Exception {
        Files.writeString(file(), " ".repeat(16 * 1024 + 1));
        assertThatThrownBy(() -> record("one").read()).hasMessageContaining("more than 16384 bytes");
        Files.writeString(file(), START + "[" + "\"GPU-a\",".repeat(128) + "\"GPU-a\"]}");
        assertThatThrownBy(() -> record("one").read()).hasMessageContaining("no list of at most 128 GPUs");
    }
}
