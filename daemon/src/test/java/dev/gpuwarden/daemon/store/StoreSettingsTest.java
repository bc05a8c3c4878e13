package dev.gpuwarden.daemon.store;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.cli.UserError;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StoreSettingsTest {

    @Test
    void defaultsAreValid() {
        assertThatCode(() -> new StoreSettings().validate()).doesNotThrowAnyException();
        assertThatCode(() -> StoreSettings.at(StoreSettings.MEMORY).validate()).doesNotThrowAnyException();
    }

    /** A file that is no store would be renamed as a corrupt one: a mistyped name must not cost another file. */
    @ParameterizedTest
    @ValueSource(strings = {"/etc/passwd", "/var/lib/gpuwarden", "events.db?mode=ro", "/tmp/a?b/events.db"})
    void filesThatMayBeSomethingElseAreRefused(String path) {
        assertThatThrownBy(() -> StoreSettings.at(Path.of(path)).validate())
                .isInstanceOf(UserError.class)
                .hasMessageContaining("--store.path")
                .hasMessageContaining(path);
    }
}
