package dev.gpuwarden.testkit.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.cli.UserError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BinariesTest {

    @TempDir
    Path folder;

    @Test
    void missingBinariesAreNamedWithTheirSource() throws IOException {
        Files.createFile(folder.resolve("etcd")).toFile().setExecutable(true);
        Files.createFile(folder.resolve("kubectl"));
        assertThatThrownBy(() -> ControlPlane.start(folder.resolve("cluster"), Binaries.in(folder)))
                .isInstanceOf(UserError.class)
                .hasMessage("no kube-apiserver, kubectl in " + folder
                        + ": ./gpuwarden test builds them, or set KUBEBUILDER_ASSETS to a folder that has them");
        assertThat(folder.resolve("cluster")).doesNotExist();
    }

    @Test
    void releaseIsThatOfGoMod() {
        assertThat(Binaries.version()).matches("v1\\.\\d+\\.\\d+");
    }
}
