package dev.gpuwarden.core.util;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TextTest {

    private static final String ROCKET = "\uD83D\uDE80";

    @Test
    void textWithinTheLimitIsUnchanged() {
        assertThat(Text.truncate("", 1)).isEmpty();
        assertThat(Text.truncate("abcd", 4)).isEqualTo("abcd");
        assertThat(Text.head("abcd", 4)).isEqualTo("abcd");
        assertThat(Text.head("", 0)).isEmpty();
    }

    @Test
    void longTextEndsInAnEllipsisWithinTheLimit() {
        assertThat(Text.truncate("abcde", 4)).isEqualTo("abc…");
        assertThat(Text.truncate("abcde", 1)).isEqualTo("…");
        assertThat(Text.head("abcde", 4)).isEqualTo("abcd");
        assertThat(Text.head("abcde", 0)).isEmpty();
    }

    @Test
    void noSurrogatePairIsSplit() {
        assertThat(Text.truncate("ab" + ROCKET + "c", 4)).isEqualTo("ab…");
        assertThat(Text.truncate("a" + ROCKET + "bc", 4)).isEqualTo("a" + ROCKET + "…");
        assertThat(Text.truncate(ROCKET + "b", 2)).isEqualTo("…");
        assertThat(Text.head("ab" + ROCKET, 3)).isEqualTo("ab");
        assertThat(Text.head("a" + ROCKET + "b", 3)).isEqualTo("a" + ROCKET);
    }

    @Test
    void truncatingTwiceChangesNothingMore() {
        String once = Text.truncate("a".repeat(50), 20);
        assertThat(Text.truncate(once, 20)).isEqualTo(once);
    }
}
