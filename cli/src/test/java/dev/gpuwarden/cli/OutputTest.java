package dev.gpuwarden.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

class OutputTest {

    private static Object read(String text) {
        return new Load(LoadSettings.builder().build()).loadFromString(text);
    }

    private static Map<String, Object> map(Object... keysAndValues) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            map.put((String) keysAndValues[i], keysAndValues[i + 1]);
        }
        return map;
    }

    @Test
    void jsonKeepsOrderAndIndents() {
        assertThat(Output.json(
                        map("b", 1, "a", List.of(map("x", true)), "e", Map.of(), "l", List.of(1, "2"), "n", null)))
                .isEqualTo("""
                        {
                          "b": 1,
                          "a": [
                            {
                              "x": true
                            }
                          ],
                          "e": {},
                          "l": [
                            1,
                            "2"
                          ],
                          "n": null
                        }""");
    }

    @Test
    void jsonLinesHaveNoLineBreak() {
        assertThat(Output.jsonLine(map("b", 1, "a", List.of(map("x", "1\n2\u007f")), "e", Map.of())))
                .isEqualTo("{\"b\":1,\"a\":[{\"x\":\"1\\n2\\u007F\"}],\"e\":{}}");
    }

    @Test
    void yamlKeepsOrderAndIndents() {
        assertThat(Output.yaml(map(
                        "b", 1, "a", List.of(map("x", true, "y", List.of(2)), List.of(1)), "e", List.of(), "n", null)))
                .isEqualTo("""
                        b: 1
                        a:
                        - x: true
                          y:
                          - 2
                        - - 1
                        e: []
                        n: null
                        """);
    }

    @Test
    void nonNumbersAreNull() {
        List<Double> numbers = List.of(Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY);
        assertThat(read(Output.json(numbers))).isEqualTo(Arrays.asList(null, null, null));
        assertThat(Output.yaml(numbers)).isEqualTo("- null\n- null\n- null\n");
        assertThat(read(Output.json(List.of(Float.NaN)))).isEqualTo(Arrays.asList((Object) null));
    }

    @ParameterizedTest
    @CsvSource({
        "0.1,0.1",
        "1.0E10,1.0E+10",
        "-2.5,-2.5",
        "1.0E-4,0.00010",
        "0.0,0.0",
        "1.5E300,1.5E+300",
        "4.9E-324,4.9E-324"
    })
    void numbersAreReadBackTheSameEverywhere(double number, String text) {
        assertThat(Output.json(number)).isEqualTo(text);
        assertThat(Double.parseDouble(text)).isEqualTo(number);
    }

    @Test
    void longsAndBigIntegersLoseNothing() {
        assertThat(Output.json(Long.MAX_VALUE)).isEqualTo("9223372036854775807");
        assertThat(Output.json(BigInteger.TWO.pow(80))).isEqualTo("1208925819614629174706176");
    }

    @Test
    void otherValuesAreTheirText() {
        assertThat(read(Output.json(List.of(Path.of("/a/b"), Output.Format.yaml, Optional.of(1), Optional.empty()))))
                .isEqualTo(Arrays.asList("/a/b", "yaml", 1, null));
    }

    @Test
    void hostileTextIsEscapedAndReadBackTheSame() {
        String hostile = "\u0000\u001b[31m\"\\\n\r\t\u007f\u0085\u2028\u202e\u4e2d\ud83d\ude00\ufeff";
        String json = Output.json(List.of(hostile));
        assertThat(json).matches("[\\n -~]+");
        assertThat(Output.yaml(List.of(hostile))).matches("[\\n -~]+");
        assertThat(read(json)).isEqualTo(List.of(hostile));
        assertThat(read(Output.yaml(List.of(hostile)))).isEqualTo(List.of(hostile));
    }

    @Test
    void halvesOfSurrogatePairsAreReplaced() {
        assertThat(read(Output.json(map("\ud800", "a\udc00b")))).isEqualTo(map("\ufffd", "a\ufffdb"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "yes",
                "No",
                "on",
                "y",
                "null",
                "~",
                "1",
                "1.5",
                "0x1f",
                "010",
                "0o7",
                "1:30",
                "1e3",
                ".inf",
                ".nan",
                "-",
                "- a",
                "a: b",
                "a #b",
                "#a",
                "&a",
                "*a",
                "!a",
                "|",
                ">",
                "%a",
                "@a",
                "`a",
                "'a",
                "\"a",
                "{a",
                "[a",
                "a,b",
                "?",
                "? a",
                ":",
                "=",
                "<<",
                "---",
                "...",
                "2026-11-21",
                "a ",
                " a",
                "a\n",
                "true",
                "NVIDIA H100 80GB HBM3",
                "0000:3b:00.0",
                "GPU-1",
                "/var/log",
                "a/b",
                "NaN"
            })
    void stringsStayStringsInYaml(String text) {
        assertThat(read(Output.yaml(map("k", text, text, "v", "l", List.of(text)))))
                .isEqualTo(map("k", text, text, "v", "l", List.of(text)));
    }

    @Test
    void randomTreesAreReadBackTheSameFromBothFormats() {
        Random random = new Random(7);
        for (int i = 0; i < 300; i++) {
            Object tree = tree(random, 0);
            assertThat(read(Output.json(tree))).isEqualTo(tree);
            assertThat(read(Output.yaml(tree))).isEqualTo(tree);
        }
    }

    private static Object tree(Random random, int depth) {
        int kind = random.nextInt(depth > 3 ? 4 : 6);
        switch (kind) {
            case 0:
                return random.nextInt();
            case 1:
                return random.nextBoolean();
            case 2:
            case 3:
                char[] text = new char[random.nextInt(6)];
                for (int i = 0; i < text.length; i++) {
                    text[i] = " -:#ay1~\n\u0007{}[],'\"\\\u20ac".charAt(random.nextInt(18));
                }
                return new String(text);
            case 4:
                List<Object> list = new ArrayList<>();
                for (int i = random.nextInt(4); i > 0; i--) {
                    list.add(tree(random, depth + 1));
                }
                return list;
            default:
                Map<String, Object> map = new LinkedHashMap<>();
                for (int i = random.nextInt(4); i > 0; i--) {
                    map.put("k" + i, tree(random, depth + 1));
                }
                return map;
        }
    }

    @Test
    void nullsInListsSurvive() {
        assertThat(read(Output.yaml(Arrays.asList(null, 1)))).isEqualTo(Arrays.asList(null, 1));
    }
}
