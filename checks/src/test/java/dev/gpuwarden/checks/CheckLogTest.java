package dev.gpuwarden.checks;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CheckLogTest {

    /** The part of a line is the last package of the logger's name. */
    @Test
    void linesKeepThePartThatProgramsMatchOn() {
        assertThat(CheckLog.LOG.getName()).matches("dev\\.gpuwarden\\.check\\.\\w+");
    }
}
