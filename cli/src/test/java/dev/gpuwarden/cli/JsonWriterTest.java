package dev.gpuwarden.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JsonWriterTest {

    @Test
    void compactTextHasOnlyTheEscapesThatJsonRequires() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("text", "é\u007f<\"\n");
        tree.put("list", List.of(1, 2L, 1.5, true, Map.of()));
        assertThat(JsonWriter.compact(tree)).isEqualTo("{\"text\":\"é\u007f<\\\"\\n\",\"list\":[1,2,1.5,true,{}]}");
        assertThat(Output.jsonLine(tree)).isEqualTo("{\"text\":\"\\u00E9\\u007F<\\\"\\n\",\"list\":[1,2,1.5,true,{}]}");
    }
}
