package dev.gpuwarden.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The modules that the image's Java must have for its jars, according to jdeps. */
@Tag("image")
class JavaModulesImageTest {

    @Test
    void theModulesOfTheImageAreThoseThatItsJarsUse(@TempDir Path folder) throws Exception {
        Path scripts = Path.of(System.getProperty("gpuwarden.repository"), "packaging/src/main/sh");
        String found = Scripts.must(
                folder,
                scripts.resolve("find-java-modules").toString(),
                System.getProperty("java.home"),
                Image.built().home().toString());
        assertThat(found)
                .as("packaging/src/main/sh/java-modules.txt: write there what find-java-modules prints")
                .isEqualTo(Files.readString(scripts.resolve("java-modules.txt")));
    }
}
