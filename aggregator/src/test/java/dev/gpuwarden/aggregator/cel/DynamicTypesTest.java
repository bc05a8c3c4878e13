package dev.gpuwarden.aggregator.cel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.primitives.UnsignedLong;
import dev.cel.checker.CelStandardDeclarations.StandardFunction;
import dev.cel.common.CelOptions;
import dev.cel.common.CelOverloadDecl;
import dev.cel.common.types.SimpleType;
import dev.cel.common.values.CelByteString;
import dev.cel.common.values.NullValue;
import dev.cel.compiler.CelCompiler;
import dev.cel.compiler.CelCompilerFactory;
import dev.cel.parser.CelStandardMacro;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelRuntime;
import dev.cel.runtime.CelRuntimeFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every standard function on values of every type, wherever in an object they are: as in CEL without bounds. */
class DynamicTypesTest {

    private static final CelOptions OPTIONS =
            CelOptions.current().enableHeterogeneousNumericComparisons(true).build();
    private static final CelCompiler COMPILER = CelCompilerFactory.standardCelCompilerBuilder()
            .setOptions(OPTIONS)
            .setStandardMacros(CelStandardMacro.STANDARD_MACROS)
            .addVar("a", SimpleType.DYN)
            .addVar("b", SimpleType.DYN)
            .addVar("c", SimpleType.DYN)
            .build();
    private static final CelRuntime PLAIN =
            CelRuntimeFactory.standardCelRuntimeBuilder().setOptions(OPTIONS).build();

    private static final CelEnvironment BOUNDED = CelEnvironment.timedText("resource", new BoundedRuntime(50_000));
    private static final KnownFields ANY = new KnownFields(Map.of(), Map.of(), "resource, now");

    private static final List<Object> VALUES = List.of(
            3L,
            -1L,
            UnsignedLong.valueOf(3),
            2.5,
            true,
            "3",
            "true",
            "text",
            "1h",
            "2026-11-29T00:00:00Z",
            "UTC",
            CelByteString.copyFromUtf8("3"),
            List.of(3L, "text"),
            Map.of("text", 1L, "3", 2L),
            Instant.parse("2026-11-29T00:00:00Z"),
            Duration.ofHours(1),
            NullValue.NULL_VALUE);

    private static final List<Object> FEW = List.of(true, "3", List.of());

    /** Not callable in an expression: inner functions of macros, and the earlier name of `in`. */
    private static final Set<String> INNER = Set.of("@not_strictly_false", "__not_strictly_false__", "_in_");

    /** The places in an object that can have a value. */
    private static final List<String> PLACES =
            List.of("resource.%s", "resource.map['%s']", "resource.%s_list[0]", "dyn(resource.map)['%s']");

    @Test
    void eachStandardFunctionGivesTheResultOrTheErrorOfCelItself() throws Exception {
        Set<String> wrong = new TreeSet<>();
        int compared = 0;
        for (String form : forms()) {
            CelRuntime.Program plain =
                    PLAIN.createProgram(COMPILER.compile(call(form, "%s")).getAst());
            for (String place : PLACES) {
                CelExpression bounded = CelExpression.compile(BOUNDED, ANY, "dyn(" + call(form, place) + ")");
                for (List<Object> arguments : arguments(form)) {
                    String expected = outcome(() -> plain.eval(named(arguments)));
                    String seen = outcome(
                            () -> bounded.eval(Map.of("resource", places(named(arguments)), "now", Instant.EPOCH)));
                    compared++;
                    if (!expected.equals(seen)) {
                        wrong.add(call(form, place) + " with " + arguments + ": " + seen + ", expected " + expected);
                    }
                }
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(compared).isGreaterThan(15_000);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "int(resource.status.allocatable['nvidia.com/gpu']) < int(resource.status.capacity['nvidia.com/gpu'])",
                "resource.status.allocatable['nvidia.com/gpu'] < resource.status.capacity['nvidia.com/gpu']",
                "resource.status.allocatable['nvidia.com/gpu'] + resource.status.capacity['nvidia.com/gpu'] == '78'",
                "now - timestamp(resource.status.times['last']) > duration(resource.status.times['most'])",
                "size(resource.status.lists['a']) == 2",
                "(!has(resource.status.none) ? resource.status.texts : []).exists(x, int(x) > 7)",
                "(has(resource.status.none) ? [] : resource.status.texts).exists(x, int(x) > 7)",
                "([] + resource.status.texts).exists(x, int(x) > 7)",
                "resource.status.texts.map(x, x).filter(x, int(x) > 7).size() == 1",
                "resource.status.texts[0] == '7' && resource.status.texts[1] > resource.status.texts[0]",
                "resource.status.allocatable.exists(k, int(resource.status.allocatable[k]) == 7)",
                "{'a': resource.status.texts}['a'].exists(x, int(x) == 8)"
            })
    void usualExpressionsOnFieldsAreEvaluated(String text) throws Exception {
        CelEnvironment predicate = CelEnvironment.timedPredicate("resource", Set.of(), new BoundedRuntime(50_000));
        Map<String, Object> status = Map.of(
                "allocatable", Map.of("nvidia.com/gpu", "7"),
                "capacity", Map.of("nvidia.com/gpu", "8"),
                "times", Map.of("last", "2026-11-29T00:00:00Z", "most", "1h"),
                "lists", Map.of("a", List.of(1L, 2L)),
                "texts", List.of("7", "8"));
        CelExpression expression = CelExpression.compile(predicate, ANY, text);
        assertThat(expression.test(
                        Map.of("resource", Map.of("status", status), "now", Instant.parse("2026-11-29T02:00:00Z"))))
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"bytes(resource.a) + bytes(resource.a)", "[bytes(resource.a)].map(x, x + x)[0]"})
    void bytesAreChargedAsTheyGrow(String one) throws Exception {
        String doubled = "[" + one + "]" + ".map(x, x + x)".repeat(40);
        CelExpression expression = CelExpression.compile(BOUNDED, ANY, "string(size(" + doubled + "))");
        assertThatThrownBy(() -> expression.eval(Map.of("resource", Map.of("a", "text"), "now", Instant.EPOCH)))
                .isInstanceOfSatisfying(
                        CelEvaluationException.class,
                        e -> assertThat(Cost.exceeded(e)).isTrue());
    }

    @ParameterizedTest
    @ValueSource(strings = {"quantity('1Gi').isGreaterThan(quantity('1Mi'))", "resource.?a.orValue(1) == 1"})
    void additionsOfKubernetesAreRefusedByTheCompiler(String text) {
        assertThatThrownBy(() -> CelExpression.compile(
                        CelEnvironment.predicate("resource", new BoundedRuntime(50_000)), ANY, text))
                .isInstanceOf(InvalidExpressionException.class);
    }

    private interface Evaluation {
        Object run() throws CelEvaluationException;
    }

    /** Returns the result with its type, or the error without its place. */
    private static String outcome(Evaluation evaluation) {
        try {
            Object result = evaluation.run();
            return result.getClass().getSimpleName() + " " + result;
        } catch (CelEvaluationException e) {
            return e.getErrorCode() + " "
                    + e.getMessage().replaceFirst("at <input>:\\d+", "").replaceFirst("Overload candidates: .*", "");
        }
    }

    private static Map<String, Object> named(List<Object> arguments) {
        Map<String, Object> named = new HashMap<>();
        for (int at = 0; at < arguments.size(); at++) {
            named.put(String.valueOf((char) ('a' + at)), arguments.get(at));
        }
        return named;
    }

    private static Map<String, Object> places(Map<String, Object> named) {
        Map<String, Object> object = new HashMap<>(named);
        object.put("map", named);
        named.forEach((name, value) -> object.put(name + "_list", List.of(value)));
        return object;
    }

    private static List<List<Object>> arguments(String form) {
        List<List<Object>> all = List.of(List.of());
        for (char name = 'a'; form.contains("{" + name + "}"); name++) {
            List<List<Object>> longer = new ArrayList<>();
            for (List<Object> before : all) {
                for (Object value : form.contains("{c}") ? FEW : VALUES) {
                    List<Object> with = new ArrayList<>(before);
                    with.add(value);
                    longer.add(with);
                }
            }
            all = longer;
        }
        return all;
    }

    private static String call(String form, String place) {
        String text = form;
        for (String name : List.of("a", "b", "c")) {
            text = text.replace("{" + name + "}", String.format(place, name));
        }
        return text;
    }

    /** Returns each call of a standard function, with `{a}`, `{b}` and `{c}` for its arguments. */
    private static Set<String> forms() {
        Set<String> forms = new LinkedHashSet<>();
        for (StandardFunction function : StandardFunction.values()) {
            for (CelOverloadDecl overload : function.functionDecl().overloads()) {
                if (!INNER.contains(function.functionName())) {
                    forms.add(form(function.functionName(), overload));
                }
            }
        }
        return forms;
    }

    private static String form(String function, CelOverloadDecl overload) {
        return switch (function) {
            case "_?_:_" -> "{a} ? {b} : {c}";
            case "_[_]" -> "{a}[{b}]";
            case "@in" -> "{a} in {b}";
            case "!_", "-_" -> function.charAt(0) + "{a}";
            default -> {
                if (function.startsWith("_")) {
                    yield "{a} " + function.replace("_", "") + " {b}";
                }
                List<String> arguments = List.of("{a}", "{b}", "{c}")
                        .subList(0, overload.parameterTypes().size());
                yield overload.isInstanceFunction()
                        ? "{a}." + function + "(" + String.join(", ", arguments.subList(1, arguments.size())) + ")"
                        : function + "(" + String.join(", ", arguments) + ")";
            }
        };
    }
}
