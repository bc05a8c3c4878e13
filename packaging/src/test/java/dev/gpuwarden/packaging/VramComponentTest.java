package dev.gpuwarden.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The component vram-advertise and the DaemonSet, which must select the same nodes. */
class VramComponentTest {

    private static final Path MANIFESTS =
            Path.of(System.getProperty("gpuwarden.repository"), "packaging/src/main/kubernetes");

    private static final Pattern TERM =
            Pattern.compile("- matchExpressions: \\[\\{key: ([^,]+), operator: (In, values: \\[\"true\"]|Exists)}]");

    private static String read(String file) throws IOException {
        return Files.readString(MANIFESTS.resolve(file));
    }

    @Test
    void theAmountFollowsTheLabelsOfTheDaemonSet() throws IOException {
        List<String> selectors = TERM.matcher(read("gpuwarden-daemon.yaml"))
                .results()
                .map(term -> term.group(1) + (term.group(2).equals("Exists") ? "" : "=true"))
                .toList();
        assertThat(selectors).hasSizeGreaterThan(3);
        String component = read("components/vram-advertise/kustomization.yaml");
        int value = component.indexOf("value: >-");
        String env = component.substring(value + "value: >-".length(), component.indexOf("- target: {kind: DaemonSet"));
        assertThat(List.of(env.strip().split(";\\s*"))).isEqualTo(selectors);
    }
}
