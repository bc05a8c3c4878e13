package dev.gpuwarden.checks.script;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LinePatternTest {

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            value = {
                "Killed process \\d+, `Killed process `",
                "task docker:\\w+, task docker:",
                "XFS .* Shutting, `XFS `",
                "ab*c, a",
                "ab?, a",
                "ab{2}, a",
                "a+, a",
                "(foo|bar) baz, ``",
                "foo (a|b), `foo `",
                "foo|bar, ``",
                "foo [|] bar, `foo `",
                "foo \\| bar, `foo `",
                "(?i)foo, ``",
                ".*foo, ``",
                "^foo, ``",
                "plain, plain",
            })
    void literalPrefixIsFound(String expression, String prefix) {
        assertThat(NpdLogRules.LinePattern.prefix(expression)).isEqualTo(prefix);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a\\nb",
                "a\\sb",
                "a[^x]b",
                "(?s)a.b",
                "(?is)a",
                "a\\Wb",
                "a\\Db",
                "a[[:space:]]b",
                "a[\\x00-\\x20]b",
                "a\nb"
            })
    void patternThatMayMatchALineEndSpansLines(String expression) throws IOException {
        assertThat(new NpdLogRules.LinePattern(expression).spans()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Killed process \\d+ (.+) total-vm:\\d+kB, anon-rss:\\d+kB, file-rss:\\d+kB.*",
                "unregister_netdevice: waiting for \\w+ to become free. Usage count = \\d+",
                "divide error: 0000 \\[#\\d+\\] SMP",
                "(?i)foo.*"
            })
    void otherPatternsAreTriedOnOneLine(String expression) throws IOException {
        assertThat(new NpdLogRules.LinePattern(expression).spans()).isFalse();
    }

    @Test
    void everyBranchMustMatchToTheEnd() throws IOException {
        NpdLogRules.LinePattern pattern = new NpdLogRules.LinePattern("foo|bar");
        assertThat(pattern.find("a foo")).isEqualTo(2);
        assertThat(pattern.find("a foo b")).isEqualTo(-1);
        assertThat(pattern.find("bar")).isZero();
    }

    @Test
    void patternWithBacktrackingEndsQuickly() throws IOException {
        NpdLogRules.LinePattern pattern = new NpdLogRules.LinePattern("(a+)+(a+)+(a+)+b");
        assertThat(pattern.find("a".repeat(1024))).isEqualTo(-1);
    }

    @Test
    void invalidPatternIsReported() {
        assertThatThrownBy(() -> new NpdLogRules.LinePattern("a(b"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("missing");
        assertThatThrownBy(() -> new NpdLogRules.LinePattern("a".repeat(5000)))
                .hasMessageContaining("longer than 4096");
        assertThatThrownBy(() -> new NpdLogRules.LinePattern("(?=a)b"))
                .as("Go has none")
                .isInstanceOf(IOException.class);
    }
}
