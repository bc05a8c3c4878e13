package dev.gpuwarden.nat.lib;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ToolkitFoldersTest {

    private static final List<String> NAMES = List.of("libnccl.so.2");

    @TempDir
    Path root;

    private Path packaged(String packages) throws IOException {
        Path folder = root.resolve(packages).resolve("nvidia/nccl/lib");
        Files.createDirectories(folder);
        Files.createFile(folder.resolve("libnccl.so.2"));
        return folder;
    }

    @Test
    void foldersOfCudaComeBeforeThoseOfPython() throws IOException {
        Path folder = packaged("usr/local/lib/python3.12/dist-packages");
        List<String> folders = ToolkitFolders.of(NAMES, Map.of(), root);
        assertThat(folders)
                .startsWith(root.resolve("usr/local/cuda/lib64").toString())
                .endsWith(folder.toString());
    }

    @Test
    void theEnvironmentNamesFoldersOfPythonFirst() throws IOException {
        Path system = packaged("usr/lib/python3/dist-packages");
        Path virtual = packaged("home/venv/lib/python3.11/site-packages");
        Path given = packaged("home/packages");
        Map<String, String> environment = Map.of(
                "VIRTUAL_ENV",
                root.resolve("home/venv").toString(),
                "PYTHONPATH",
                root.resolve("nothing") + ":" + root.resolve("home/packages"));
        assertThat(ToolkitFolders.of(NAMES, environment, root))
                .endsWith(given.toString(), virtual.toString(), system.toString());
    }

    @Test
    void aFolderWithoutTheLibraryIsNotListed() throws IOException {
        Files.createDirectories(root.resolve("usr/lib/python3/dist-packages/nvidia/cublas/lib"));
        assertThat(ToolkitFolders.of(NAMES, Map.of(), root)).noneMatch(folder -> folder.contains("cublas"));
    }
}
