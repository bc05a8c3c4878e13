package dev.gpuwarden.aggregator.cel;

import com.google.common.collect.ImmutableSet;
import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.CelOptions;
import dev.cel.common.navigation.CelNavigableAst;
import dev.cel.common.values.CelByteString;
import dev.cel.extensions.CelExtensions;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelFunctionBinding;
import dev.cel.runtime.CelFunctionOverload;
import dev.cel.runtime.CelRuntime;
import dev.cel.runtime.CelRuntimeBuilder;
import dev.cel.runtime.CelRuntimeFactory;
import dev.cel.runtime.CelRuntimeLibrary;
import dev.cel.runtime.CelStandardFunctions;
import dev.cel.runtime.InternalCelFunctionBinding;
import dev.cel.runtime.RuntimeEquality;
import dev.cel.runtime.RuntimeHelpers;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * CEL's functions, each charged to the evaluation's {@link Cost} before it is called. CEL itself bounds only the steps of
 * loops: texts double with each `replace`, and a pattern is matched in one step.
 */
public final class BoundedRuntime {

    /** The longest expression in characters, far beyond one that a reviewer can read. */
    private static final int MOST_CHARACTERS = 4096;

    /**
     * The parts of an expression times the steps of its loops. It bounds a loop that calls no function: there nothing is charged, and
     * the clock is not read. A part takes about 0.1 µs.
     */
    private static final int MOST_PARTS_WALKED = 1_000_000;

    /** The longest expression may still walk over a list of this size. */
    private static final int FEWEST_ITERATIONS = 64;

    private final Map<Integer, CelRuntime> byIterations = new ConcurrentHashMap<>();
    private final int mostIterations;
    private final CelOptions options;

    /** @param mostIterations the bound of steps of loops in one evaluation of a short expression */
    public BoundedRuntime(int mostIterations) {
        this(CelOptions.current()
                .maxExpressionCodePointSize(MOST_CHARACTERS)
                .maxParseRecursionDepth(100)
                .comprehensionMaxIterations(mostIterations)
                .maxRegexProgramSize(1000)
                .enableHeterogeneousNumericComparisons(true)
                .build());
    }

    private BoundedRuntime(CelOptions options) {
        this.options = options;
        mostIterations = options.comprehensionMaxIterations();
    }

    CelOptions options() {
        return options;
    }

    /** Returns a runtime that reports what it cannot answer without the value of a variable. */
    BoundedRuntime withUnknowns() {
        return new BoundedRuntime(
                options.toBuilder().enableUnknownTracking(true).build());
    }

    /** Returns a program that must be evaluated inside {@link Cost#within}. */
    CelRuntime.Program program(CelAbstractSyntaxTree ast) throws CelEvaluationException {
        long parts = CelNavigableAst.fromAst(ast).getRoot().allNodes().count();
        int most = mostIterations;
        while (most * parts > MOST_PARTS_WALKED && most / 2 >= FEWEST_ITERATIONS) {
            most /= 2;
        }
        return byIterations
                .computeIfAbsent(
                        most,
                        iterations -> runtime(options.toBuilder()
                                .comprehensionMaxIterations(iterations)
                                .build()))
                .createProgram(ast);
    }

    private static CelRuntime runtime(CelOptions options) {
        CelStandardFunctions standard = CelStandardFunctions.newBuilder().build();
        RuntimeEquality equality = RuntimeEquality.create(RuntimeHelpers.create(), options);
        return CelRuntimeFactory.standardCelRuntimeBuilder()
                .setOptions(options)
                .setStandardEnvironmentEnabled(false)
                .addFunctionBindings(charged(standard.newFunctionBindings(equality, options)))
                .addLibraries(charged(CelExtensions.strings()))
                .build();
    }

    /** Returns the same library with charged functions. */
    private static CelRuntimeLibrary charged(CelRuntimeLibrary library) {
        return builder -> library.setRuntimeOptions((CelRuntimeBuilder) Proxy.newProxyInstance(
                CelRuntimeBuilder.class.getClassLoader(),
                new Class<?>[] {CelRuntimeBuilder.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("addFunctionBindings") && arguments[0] instanceof Iterable<?> given) {
                        return builder.addFunctionBindings(charged(bindings(given)));
                    }
                    try {
                        return method.invoke(builder, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getTargetException();
                    }
                }));
    }

    private static Set<CelFunctionBinding> bindings(Iterable<?> given) {
        Set<CelFunctionBinding> bindings = new LinkedHashSet<>();
        given.forEach(binding -> bindings.add((CelFunctionBinding) binding));
        return bindings;
    }

    /**
     * Charges the overloads of each function. CEL groups overloads and adds one that chooses among them; it is created here
     * again.
     */
    private static Set<CelFunctionBinding> charged(Set<CelFunctionBinding> bindings) {
        Map<String, List<CelFunctionBinding>> byFunction = new LinkedHashMap<>();
        Set<CelFunctionBinding> all = new LinkedHashSet<>();
        for (CelFunctionBinding binding : bindings) {
            String function = binding instanceof InternalCelFunctionBinding named
                    ? named.getFunctionName()
                    : binding.getOverloadId();
            if (!binding.isStrict()) {
                all.add(binding);
            } else if (!binding.getOverloadId().equals(function)) {
                byFunction.computeIfAbsent(function, any -> new ArrayList<>()).add(charged(function, binding));
            }
        }
        byFunction.forEach((function, overloads) -> all.addAll(CelFunctionBinding.fromOverloads(function, overloads)));
        return ImmutableSet.copyOf(all);
    }

    private static CelFunctionBinding charged(String function, CelFunctionBinding binding) {
        CelFunctionOverload definition = binding.getDefinition();
        return CelFunctionBinding.from(binding.getOverloadId(), binding.getArgTypes(), arguments -> {
            Cost cost = Cost.current();
            cost.charge(Prices.of(function, arguments, cost.left()));
            return definition.apply(arguments);
        });
    }

    /** The highest cost of a CEL function for given arguments, before the call. Pure. */
    static final class Prices {

        /** A created character takes memory, which is scarcer than time. */
        static final long CREATED = 4;

        /** An object of its own, and its place in a list. */
        private static final long PIECE = 4 * CREATED;

        /** The number of characters that Java compares in one step of a search, at best. */
        private static final long SEARCHED_AT_ONCE = 16;

        private Prices() {}

        /**
         * @param function the function in CEL's notation; operators are written like `_+_`
         * @param most the cost above which an exact value is not needed
         */
        static long of(String function, Object[] arguments, long most) {
            return switch (function) {
                case "replace" -> replace(arguments);
                case "join" -> join(arguments);
                case "matches" -> size(arguments[0]) * (1 + program(arguments[1])) / 2;
                case "contains", "indexOf", "lastIndexOf" -> search(size(arguments[0]), size(arguments[1]));
                case "_==_", "_!=_" -> Math.min(deep(arguments[0], most), deep(arguments[1], most));
                case "@in", "in" -> in(arguments, most);
                case "_+_" -> CREATED * (size(arguments[0]) + deep(arguments[1], most));
                case "_[_]" -> 1;
                case "split" -> split(arguments);
                case "lowerAscii", "upperAscii", "quote", "strings.quote", "reverse", "substring", "trim", "charAt" ->
                    CREATED * size(arguments[0]);
                default -> all(arguments);
            };
        }

        private static long replace(Object[] arguments) {
            long text = size(arguments[0]);
            long found = text / Math.max(1, size(arguments[1])) + 1;
            return CREATED * (text + found * size(arguments[2])) + search(text, size(arguments[1]));
        }

        private static long split(Object[] arguments) {
            long text = size(arguments[0]);
            long separator = size(arguments[1]);
            return CREATED * text + PIECE * (text / Math.max(1, separator) + 1) + search(text, separator);
        }

        private static long join(Object[] arguments) {
            long separator = arguments.length > 1 ? size(arguments[1]) : 0;
            long sum = 0;
            if (arguments[0] instanceof Collection<?> items) {
                for (Object item : items) {
                    sum += size(item) + separator;
                }
            }
            return CREATED * sum;
        }

        private static long search(long text, long wanted) {
            return text + wanted + text * wanted / SEARCHED_AT_ONCE;
        }

        /**
         * Returns the steps that a pattern takes for a character. Counted repetitions are expanded, so that it can exceed the
         * length.
         */
        private static long program(Object pattern) {
            String text = String.valueOf(pattern);
            if (text.indexOf('{') < 0) {
                return text.length();
            }
            try {
                return Pattern.compile(text).programSize();
            } catch (PatternSyntaxException e) {
                // The function itself reports it.
                return text.length();
            }
        }

        private static long in(Object[] arguments, long most) {
            return arguments[1] instanceof Map<?, ?> ? 1 : size(arguments[1]) * (1 + deep(arguments[0], most));
        }

        private static long all(Object[] arguments) {
            long sum = 0;
            for (Object argument : arguments) {
                sum += argument instanceof Collection<?> || argument instanceof Map<?, ?> ? 1 : size(argument);
            }
            return sum;
        }

        /** Returns the characters of a text, the bytes of a value of bytes, or the entries of a list or map. */
        private static long size(Object value) {
            if (value instanceof CharSequence text) {
                return text.length();
            }
            if (value instanceof CelByteString bytes) {
                return bytes.size();
            }
            if (value instanceof Collection<?> items) {
                return items.size();
            }
            return value instanceof Map<?, ?> map ? map.size() : 1;
        }

        /** Returns the size of a value with all values in it, up to about the given maximum. */
        private static long deep(Object value, long most) {
            if (value instanceof Map<?, ?> map) {
                long sum = 1;
                for (Map.Entry<?, ?> entry : map.entrySet()) {
                    sum += deep(entry.getKey(), most) + deep(entry.getValue(), most - sum);
                    if (sum > most) {
                        break;
                    }
                }
                return sum;
            }
            if (value instanceof Collection<?> items) {
                long sum = 1;
                for (Object item : items) {
                    sum += deep(item, most - sum);
                    if (sum > most) {
                        break;
                    }
                }
                return sum;
            }
            return size(value);
        }
    }
}
