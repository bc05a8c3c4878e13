package dev.gpuwarden.daemon.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.event.EventFilter;
import dev.gpuwarden.core.event.EventWriter.Receipt;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import org.junit.jupiter.api.Test;

/** Files of other programs and versions, files that cannot be written, and none. */
class StoreOpeningTest extends StoreFixture {

    @Test
    void aNewerVersionIsRefused() throws Exception {
        store();
        close();
        change("PRAGMA user_version = 4");
        assertThatThrownBy(this::store).isInstanceOf(UserError.class).hasMessageContaining("version 4");
        change("PRAGMA user_version = 3");
        assertThat(store().accept(Events.xid("79", 1))).isEqualTo(Receipt.STORED);
    }

    @Test
    void aDatabaseOfAnotherProgramIsRefused() throws Exception {
        Files.createDirectories(file().getParent());
        change("CREATE TABLE theirs (a)");
        assertThatThrownBy(this::store).isInstanceOf(UserError.class).hasMessageContaining("another program");
    }

    private void change(String sql) throws Exception {
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file());
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    @Test
    void withoutAFolderTheStoreIsInMemoryAndLogsIt() throws IOException {
        Path notAFolder = Files.writeString(folder.resolve("file"), "");
        Path file = notAFolder.resolve("events.db");
        EventStore memory = EventStore.open(DatabaseFile.claim(file, false), StoreSettings.at(file), clock);
        try {
            assertThat(memory.status().memoryCause())
                    .hasValueSatisfying(cause -> assertThat(cause).contains("cannot write to " + notAFolder));
            assertThat(memory.notStored()).isPresent();
            assertThat(memory.accept(Events.xid("79", 1))).isEqualTo(Receipt.HELD);
            assertThat(memory.accept(Events.xid("79", 1))).isEqualTo(Receipt.HELD);
            assertThat(memory.events(EventFilter.all())).hasSize(1);
            assertThat(memory.faults()).hasSize(2);
        } finally {
            memory.close();
        }
    }

    @Test
    void aFileThatWasNamedAndCannotBeWrittenIsTheUsersError() throws IOException {
        Path named = Files.writeString(folder.resolve("file"), "").resolve("events.db");
        assertThatThrownBy(() -> EventStore.open(StoreSettings.at(named), clock))
                .isInstanceOf(UserError.class)
                .hasMessageContaining("--store.path " + named);
    }

    @Test
    void memoryThatWasAskedForStoresWhatItTakes() {
        EventStore memory = EventStore.open(StoreSettings.at(StoreSettings.MEMORY), clock);
        try {
            assertThat(memory.notStored()).isEmpty();
            assertThat(memory.accept(Events.xid("79", 1))).isEqualTo(Receipt.STORED);
        } finally {
            memory.close();
        }
    }
}
