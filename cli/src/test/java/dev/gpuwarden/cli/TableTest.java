package dev.gpuwarden.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class TableTest {

    private static String print(Table table, boolean colour) {
        StringWriter text = new StringWriter();
        PrintWriter out = new PrintWriter(text);
        table.print(out, colour);
        out.flush();
        return text.toString().replace(System.lineSeparator(), "\n");
    }

    @Test
    void columnsAlignWithoutTrailingBlanks() {
        Table table = new Table("A", "LONG", "C").row("aaa", 1, "").row("", "", "c");
        assertThat(print(table, false)).isEqualTo("A    LONG  C\naaa  1\n           c\n");
    }

    @Test
    void wideCharactersAndMarksKeepTheColumns() {
        Table table =
                new Table("N", "X").row("\u4e2d\u6587", "1").row("e\u0301", "2").row("\ud83d\ude00", "3");
        assertThat(print(table, false)).isEqualTo("N     X\n\u4e2d\u6587  1\ne\u0301     2\n\ud83d\ude00    3\n");
    }

    @Test
    void colourGoesAroundTheTextAndDoesNotMoveColumns() {
        Table table = new Table("A", "B").row(Table.styled(Table.Style.BAD, "FAIL"), "x");
        assertThat(print(table, true))
                .isEqualTo("\u001b[1mA\u001b[0m     \u001b[1mB\u001b[0m\n\u001b[31mFAIL\u001b[0m  x\n");
        assertThat(print(table, false)).isEqualTo("A     B\nFAIL  x\n");
    }

    @Test
    void colourIsOnlyForTerminals() {
        StringWriter text = new StringWriter();
        new Table("A").row(Table.styled(Table.Style.GOOD, "ok")).print(new PrintWriter(text));
        assertThat(text.toString()).doesNotContain("\u001b");
    }

    @Test
    void controlCharactersInCellsAreEscaped() {
        String printed = print(new Table("A").row("\u001b[2Jx\ny\u202e\ud800\u0007"), true);
        assertThat(printed).contains("\\u001b[2Jx\\u000ay\\u202e\\ud800\\u0007").hasLineCount(2);
    }

    @Test
    void rowMustFitTheHeader() {
        assertThatThrownBy(() -> new Table("A", "B").row("a")).isInstanceOf(IllegalArgumentException.class);
    }
}
