package dev.gpuwarden.nat.lib;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.core.port.Opening.Reason;
import dev.gpuwarden.core.port.Opening.Unavailable;
import dev.gpuwarden.nat.sim.SimNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that are no library of this machine. Names are such that the loader's own search finds none. */
class LibrarySearchTest {

    private static final String NAME = "libgpuwarden-none.so.9";

    @TempDir
    Path folder;

    private String unusable() {
        Opening<SharedLibrary> found = LibrarySearch.search(NAME, List.of(folder.toString()));
        assertThat(found).isInstanceOf(Unavailable.class);
        Unavailable<SharedLibrary> missing = (Unavailable<SharedLibrary>) found;
        assertThat(missing.reason()).isEqualTo(Reason.LIBRARY_UNUSABLE);
        return missing.detail();
    }

    private static byte[] library() throws IOException {
        return Files.readAllBytes(SimNode.built().resolve("sim/libnccl.so.2"));
    }

    @Test
    void aFolderIsNoLibrary() throws IOException {
        Path file = Files.createDirectory(folder.resolve(NAME));
        assertThat(unusable()).contains(file + " is a folder");
    }

    /** The loader would wait for a writer. */
    @Test
    void aNamedPipeIsNotOpened() throws IOException, InterruptedException {
        Path file = folder.resolve(NAME);
        assertThat(new ProcessBuilder("mkfifo", file.toString()).start().waitFor())
                .isZero();
        assertThat(unusable()).contains(file + " is no regular file");
    }

    @Test
    void aLibraryOfAnotherWordSizeIsNamedByTheLoader() throws IOException {
        byte[] bytes = library();
        bytes[4] = 1;
        Path file = Files.write(folder.resolve(NAME), bytes);
        assertThat(unusable()).contains(file.toString(), "wrong ELF class");
    }

    /** A part of a library would end this process by SIGBUS. */
    @Test
    void aLibraryThatIsCutOffIsNotLoaded() throws IOException {
        byte[] bytes = library();
        Path file = Files.write(folder.resolve(NAME), Arrays.copyOf(bytes, 8192));
        assertThat(unusable()).contains(file + " is cut off");
        Files.write(file, Arrays.copyOf(bytes, 100));
        assertThat(unusable()).contains(file + " is cut off");
    }

    @Test
    void theFirstNameThatLoadsIsTaken() throws IOException {
        String other = "libgpuwarden-none.so.8";
        Files.writeString(folder.resolve(other), "no library");
        Path good = Files.write(folder.resolve(NAME), library());
        assertThat(LibrarySearch.search(List.of(other, NAME), List.of(folder.toString()), List.of())
                        .reading()
                        .map(SharedLibrary::path))
                .isEqualTo(Reading.of(good.toString()));
    }
}
