package dev.gpuwarden.aggregator.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class SkipTest {

    private static String read(String json, String... paths) throws IOException {
        return JsonText.write(JsonText.readObject(json.getBytes(StandardCharsets.UTF_8), Skip.of(paths)));
    }

    @Test
    void onlyWhatThePathNamesIsLeftOut() throws IOException {
        String json = """
                {"kind": "List", "images": 1, "items": [
                  {"metadata": {"labels": {"images": "é"}}, "status": {"images": [{"names": ["a"]}, [2]], "phase": "x"}},
                  {"status": {"images": null}, "images": [1]}, 3]}""";
        assertThat(read(json, "items.status.images"))
                .isEqualTo("{\"kind\":\"List\",\"images\":1,\"items\":[{\"metadata\":{\"labels\":{\"images\":\"é\"}},"
                        + "\"status\":{\"phase\":\"x\"}},{\"status\":{},\"images\":[1]},3]}");
        assertThat(read(json, "items.status", "kind", "items.metadata"))
                .isEqualTo("{\"images\":1,\"items\":[{},{\"images\":[1]},3]}");
        assertThat(read(json)).isEqualTo(JsonText.write(JsonText.readObject(json)));
    }

    @Test
    void whatIsSkippedMustBeJsonToo() {
        for (String json : new String[] {"{\"a\": [1, }", "{\"a\": {\"b\": ", "{\"a\": 1} 2", "[]", ""}) {
            assertThatThrownBy(() -> read(json, "a")).as(json).isInstanceOf(IOException.class);
        }
    }
}
