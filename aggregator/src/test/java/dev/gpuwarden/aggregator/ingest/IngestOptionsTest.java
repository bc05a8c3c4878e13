package dev.gpuwarden.aggregator.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class IngestOptionsTest {

    @Test
    void monitorsAreFewAndNotTheDaemons() {
        IngestOptions options = new IngestOptions();
        options.monitors = List.of("fabric/one", "fabric/one", "cloud/two");
        assertThat(options.monitors()).containsExactly("cloud/two", "fabric/one");
        options.monitors = List.of("gpuwarden/gpuwarden");
        assertThatThrownBy(options::monitors).hasMessageContaining("is that of the daemons");
        options.monitors = List.of("gpuwarden");
        assertThatThrownBy(options::monitors).hasMessageContaining("must be namespace/name");
        options.monitors = IntStream.range(0, 9).mapToObj(i -> "n/a" + i).toList();
        assertThatThrownBy(options::monitors).hasMessageContaining("at most 8, but there are 9");
    }
}
