package dev.gpuwarden.daemon.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DiskSpaceTest {

    /** A file system with 0 bytes in all, as ramfs has. */
    private static final Path NO_SIZE = Path.of("/proc/sys/gpuwarden/gpuwarden.db");

    private static final int READ_ONLY = 8;

    @TempDir
    Path folder;

    private static FileSystemException cannotWrite(String why) {
        return new FileSystemException(NO_SIZE.toString(), null, why);
    }

    @Test
    void aFileSystemWithoutASizeIsNotFull() {
        assertThat(DiskSpace.mayPass(cannotWrite("Read-only file system"), NO_SIZE))
                .isFalse();
        assertThat(DiskSpace.mayPass(cannotWrite("Operation not permitted"), NO_SIZE))
                .isFalse();
        assertThat(DiskSpace.cause(new SQLException("attempt to write", "", READ_ONLY), NO_SIZE.getParent()))
                .isEqualTo("read-only (/proc/sys/gpuwarden)");
    }

    @Test
    void aMissingRightStays() {
        assertThat(DiskSpace.mayPass(new AccessDeniedException(NO_SIZE.toString()), NO_SIZE))
                .isFalse();
    }

    @Test
    void aFullDiskPassesWhateverItsFileSystemReports() {
        assertThat(DiskSpace.mayPass(cannotWrite("No space left on device"), NO_SIZE))
                .isTrue();
        assertThat(DiskSpace.mayPass(cannotWrite("Disk quota exceeded"), folder))
                .isTrue();
        assertThat(DiskSpace.mayPass(cannotWrite("Operation not permitted"), folder))
                .isFalse();
    }
}
