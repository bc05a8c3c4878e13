package dev.gpuwarden.daemon.vram.limits;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Reading;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CgroupFoldersTest {

    @TempDir
    Path folder;

    @Test
    void aGroupsNameMakesNoLine() throws IOException {
        Path mounts =
                Files.writeString(folder.resolve("mounts"), "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
        Path group = Files.createDirectories(folder.resolve("7")).resolve("cgroup");
        Files.writeString(group, "1:name=systemd:/own/x\r0::/system.slice/victim.service\n0::/own\n");
        assertThat(new CgroupFolders(folder, mounts).of(7)).isEqualTo(Reading.of("/sys/fs/cgroup/own"));
    }
}
