package dev.gpuwarden.checks.script;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScriptHeaderTest {

    private static ScriptHeader of(String... lines) {
        return ScriptHeader.of("leak.sh", List.of(lines));
    }

    @Test
    void withoutAHeaderThereAreDefaults() {
        assertThat(of("#!/bin/sh", "echo"))
                .isEqualTo(new ScriptHeader("leak", "NODE", Duration.ofMinutes(1), Duration.ofSeconds(10), List.of()));
    }

    @Test
    void allSettingsCanBeSetInAnyCommentStyle() {
        ScriptHeader all = new ScriptHeader("my-leak", "GPU", Duration.ofMinutes(5), Duration.ofSeconds(90), List.of());
        assertThat(of("#!/bin/sh", "# gpuwarden: id=my-leak, every=5m, timeout=90s, component=GPU"))
                .isEqualTo(all);
        assertThat(of(
                        "#!/usr/bin/node",
                        "// gpuwarden: id=my-leak,every=5m",
                        "  //gpuwarden:timeout=1m30s, component=GPU"))
                .isEqualTo(all);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "id=My Leak | its header's id: expected lower-case words with hyphens, at most 48 characters, found 'My Leak'",
                "every=60 | its header's every: expected a duration from 1s to 1d, found '60'",
                "every=0 | its header's every: expected a duration from 1s to 1d, found '0'",
                "timeout=2d | its header's timeout: expected a duration from 1s to 1d, found '2d'",
                "component=gpu | its header's component: expected a word in capitals, such as GPU, NIC or NODE, found 'gpu'",
                "evry=60s | its header has 'evry', expected id, every, timeout or component",
            })
    void invalidHeaderIsReported(String header, String problem) {
        assertThat(of("# gpuwarden: " + header).problems()).containsExactly(problem);
    }

    @ParameterizedTest
    @CsvSource({
        "leak.sh, leak",
        "10_Link.Check.sh, link-check",
        "99, script",
        "-.-, script",
        "gpu_mem--leak, gpu-mem-leak",
        "überprüfung.py, berpr-fung"
    })
    void fileNameGivesAnId(String name, String id) {
        assertThat(ScriptHeader.idOf(name)).isEqualTo(id).matches(ScriptHeader.ID);
    }

    @Test
    void longFileNameGivesAnId() {
        assertThat(ScriptHeader.idOf("a-very-long-name-".repeat(10) + ".sh"))
                .matches(ScriptHeader.ID)
                .hasSizeLessThanOrEqualTo(48);
    }
}
