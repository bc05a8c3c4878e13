package dev.gpuwarden.packaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("image")
class ContainerImageTest {

    private static final String SCRIPT = "gpuwarden-image-archive";

    @TempDir
    Path folder;

    private String archive(Path file, Map<String, String> environment) throws Exception {
        Scripts.Run run = Scripts.run(folder, environment, SCRIPT, "--output", file.toString());
        assumeTrue(
                run.code() == 0 || !run.said().contains("apt-get"),
                () -> "no container image was made, so none was looked at: " + run.said());
        assertThat(run.code()).as(run.said()).isZero();
        return run.out();
    }

    /** Returns a cache with this user's packages, which may be the only ones available here, and without layers. */
    private Path cacheWithoutLayers() throws IOException {
        String cache = System.getenv().getOrDefault("XDG_CACHE_HOME", System.getenv("HOME") + "/.cache");
        Path own = Files.createDirectories(folder.resolve("cache/gpuwarden"));
        Files.createSymbolicLink(own.resolve("debian"), Path.of(cache, "gpuwarden/debian"));
        return own.getParent();
    }

    @Test
    void theSameInputsGiveTheSameBytesAndEveryPartHasItsDigest() throws Exception {
        // The second image uses layers that the first has compressed. The third has its own cache and compresses all.
        Path one = folder.resolve("one.tar");
        String printed = archive(one, Map.of());
        Path two = folder.resolve("two.tar");
        archive(two, Map.of("XDG_CACHE_HOME", cacheWithoutLayers().toString()));
        assertThat(Files.mismatch(one, two)).isEqualTo(-1);
        Scripts.must(folder, "tar", "-xf", one.toString());
        Matcher digest = Pattern.compile("sha256:([0-9a-f]{64})\n$").matcher(printed);
        assertThat(digest.find()).as(printed).isTrue();
        try (Stream<Path> blobs = Files.list(folder.resolve("blobs/sha256"))) {
            List<String> names =
                    blobs.map(Path::getFileName).map(Path::toString).toList();
            // Three layers, their configuration, the manifest.
            assertThat(names).hasSize(5).contains(digest.group(1));
            for (String name : names) {
                assertThat(Scripts.must(folder, "sha256sum", "blobs/sha256/" + name))
                        .startsWith(name);
                if (!name.equals(digest.group(1))) {
                    assertThat(Files.readString(folder.resolve("blobs/sha256/" + digest.group(1))))
                            .contains(name);
                }
            }
        }
        assertThat(Files.readString(folder.resolve("index.json"))).contains(digest.group(1));
    }

    /** One image, so that the test costs one; a library of the program stands for NCCL. */
    @Test
    void addedLibrariesAreALayerOfTheirOwn() throws Exception {
        Path library = Image.built().home().resolve("lib/native/sim/libnccl.so.2");
        Path link = Files.createSymbolicLink(folder.resolve("libnccl.so.2"), library);
        Path file = folder.resolve("added.tar");
        Scripts.Run run = Scripts.run(folder, Map.of(), SCRIPT, "--output", file.toString(), "--add", link.toString());
        assumeTrue(run.code() == 0 || !run.said().contains("apt-get"), run::said);
        assertThat(run.code()).as(run.said()).isZero();
        assertThat(run.out()).contains("added usr/local/lib/libnccl.so.2  " + Files.size(library) + " bytes");
        Scripts.must(folder, "tar", "-xf", file.toString());
        String manifest = Files.readString(folder.resolve("manifest.json"));
        Matcher layers = Pattern.compile("blobs/sha256/[0-9a-f]{64}").matcher(manifest);
        List<String> all = layers.results().map(layer -> layer.group()).toList();
        // The configuration, Debian's libraries, Java, the program, the added files.
        assertThat(all).hasSize(5);
        assertThat(Scripts.must(folder, "tar", "-tvf", all.get(4)))
                .containsPattern(
                        "^-rwxr-xr-x 0/0 +" + Files.size(library) + " 2026-11-21 .* usr/local/lib/libnccl.so.2\n$");
        assertThat(Files.readString(folder.resolve(all.get(0)))).contains("Added: libnccl.so.2");
    }

    @Test
    void filesThatAreNoReadableLibraryAreRefused() throws Exception {
        Path pipe = folder.resolve("libpipe.so.1");
        Scripts.must(folder, "mkfifo", pipe.toString());
        Path text = Files.writeString(folder.resolve("libtext.so.1"), "text");
        Path other = Files.writeString(folder.resolve("notes.txt"), "text");
        assertThat(refused(pipe)).isEqualTo(pipe + " is no regular file");
        assertThat(refused(folder)).isEqualTo(folder + " is no regular file");
        assertThat(refused(folder.resolve("none"))).isEqualTo("no file " + folder.resolve("none"));
        assertThat(refused(text)).isEqualTo(text + " is no library: no ELF file");
        assertThat(refused(other)).contains("seen 'notes.txt'");
    }

    private String refused(Path file) throws Exception {
        Scripts.Run run = Scripts.run(folder, Map.of(), SCRIPT, "--add", file.toString());
        assertThat(run.code()).isEqualTo(2);
        return run.said().strip().replaceFirst("^" + SCRIPT + ": --add: ", "");
    }

    @Test
    void missingToolsAndWrongArgumentsAreNamed() throws Exception {
        Path bin = Files.createDirectory(folder.resolve("bin"));
        for (String needed : List.of("bash", "readlink", "env")) {
            Files.copy(
                    Path.of(Scripts.must(folder, "which", needed).strip()),
                    bin.resolve(needed),
                    StandardCopyOption.COPY_ATTRIBUTES);
        }
        assertThat(Scripts.run(folder, Map.of("PATH", bin.toString()), SCRIPT))
                .isEqualTo(new Scripts.Run(
                        2, "", SCRIPT + ": expected apt-get, found none; install the Debian package apt\n"));
        assertThat(Scripts.run(folder, Map.of(), SCRIPT, "--out").said())
                .isEqualTo(SCRIPT + ": unknown argument '--out'; see --help\n");
        assertThat(Scripts.run(folder, Map.of(), SCRIPT, "--name", "Upper:1").said())
                .contains("expected NAME:TAG, seen 'Upper:1'");
        assertThat(Scripts.run(folder, Map.of(), SCRIPT, "--help").out()).contains("--output FILE");
    }
}
