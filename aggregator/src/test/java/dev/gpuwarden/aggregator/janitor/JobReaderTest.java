package dev.gpuwarden.aggregator.janitor;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The reason of a failure from the end of a container's log. */
class JobReaderTest {

    @Test
    void isTheLastLineOfTheProgram() {
        assertThat(JobReader.failure("""
                gpuwarden: waiting until the GPUs are free
                gpuwarden: GPU-a: the reset failed at the step unused: pid 7 holds it
                      "done": false
                    }
                  ]
                }
                """)).isEqualTo("GPU-a: the reset failed at the step unused: pid 7 holds it");
    }

    @Test
    void isTheWholeEndWithoutSuchALine() {
        assertThat(JobReader.failure(" /bin/sh: 1: systemctl: not found\n"))
                .isEqualTo("/bin/sh: 1: systemctl: not found");
        assertThat(JobReader.failure("")).isEmpty();
    }
}
