package dev.gpuwarden.runner.jvm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LineTest {

    @ParameterizedTest
    @ValueSource(strings = {"", "plain", "a\tb", "a\nb\n", "back\\slash", "\\t", "\\\\n", "ends with \\", "käse"})
    void writtenLineIsReadBack(String text) {
        Line line = new Line(Line.Kind.FAILED, "a.BTest", text, 12, text);
        assertThat(line.text()).doesNotContain("\n");
        assertThat(Line.parse(line.text())).isEqualTo(line);
    }

    @Test
    void aLineThatIsCutOffIsAnError() {
        assertThatThrownBy(() -> Line.parse("PASSED\ta.BTest\tmet"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("five columns");
    }
}
