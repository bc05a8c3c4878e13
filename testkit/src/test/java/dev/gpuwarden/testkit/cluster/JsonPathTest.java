package dev.gpuwarden.testkit.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.testkit.cluster.JsonPath.JsonTree;
import org.junit.jupiter.api.Test;

class JsonPathTest {

    private static final Object POD = JsonTree.read("""
            {"metadata": {"name": "one", "labels": {"example.com/app": "a"}},
             "spec": {"containers": [{"name": "a", "ports": [{"port": 80}]}, {"name": "b", "tty": true}]},
             "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Other", "status": "False"}],
                        "sizes": {"b": 2, "a": 1.5}, "none": [], "null": null}}""");

    private static String text(String path) {
        return JsonPath.text(POD, path);
    }

    @Test
    void findsValues() {
        assertThat(text(".metadata.name")).isEqualTo("one");
        assertThat(text(".metadata.labels.example\\.com/app")).isEqualTo("a");
        assertThat(text(".spec.containers[*].name")).isEqualTo("a b");
        assertThat(text(".spec.containers[1].name")).isEqualTo("b");
        assertThat(text(".spec.containers[0].ports[0].port")).isEqualTo("80");
        assertThat(text(".spec.containers[1].tty")).isEqualTo("true");
        assertThat(text(".status.conditions[?(@.type==\"Other\")].status")).isEqualTo("False");
        assertThat(text(".status.sizes")).isEqualTo("{\"a\":1.5,\"b\":2}");
        assertThat(text(".status.none")).isEqualTo("[]");
    }

    @Test
    void missingValueIsEmpty() {
        for (String path : new String[] {
            ".spec.nothing",
            ".metadata.name.more",
            ".spec.containers[2].name",
            ".metadata[*]",
            ".status.null",
            ".status.conditions[?(@.type==\"None\")].status"
        }) {
            assertThat(text(path)).as(path).isEmpty();
        }
    }

    @Test
    void invalidPathIsRefused() {
        for (String path : new String[] {"metadata.name", ".a[", ".a[?(@.b>1)]", ".items[*", ".", ".a..b", "{.a}"}) {
            assertThatThrownBy(() -> text(path))
                    .as(path)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("expected a step at");
        }
    }
}
