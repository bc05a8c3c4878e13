package dev.gpuwarden.aggregator.cel;

import com.google.common.collect.ImmutableSet;
import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.CelOptions;
import dev.cel.common.navigation.CelNavigableAst;
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
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * CEL's functions, each of which is charged to the evaluation's {@link Cost} before it is called. CEL itself bounds the steps of
 * loops only: texts double with each `replace`, and a pattern is matched in one step.
 */
public final class BoundedRuntime {

    /** Far beyond any expression that a person can review. */
    private static final int MOST_CHARACTERS = 4096;

    /** Parts of an expression times the steps of its loops: what a loop does beside calling functions is not charged. */
    private static final int MOST_PARTS_WALKED = 5_000_000;

    private final List<CelRuntime> byIterations = new ArrayList<>();
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
        for (int most = mostIterations; byIterations.size() < 4; most /= 5) {
            byIterations.add(
                    runtime(options.toBuilder().comprehensionMaxIterations(most).build()));
        }
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
        int slower = 0;
        for (long most = mostIterations;
                most * parts > MOST_PARTS_WALKED && slower < byIterations.size() - 1;
                most /= 5) {
            slower++;
        }
        return byIterations.get(slower).createProgram(ast);
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

    /** The same library, whose functions are charged as it hands them over. */
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

    /** By function: CEL groups overloads by itself, and adds one that chooses among them, which is made again here. */
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
}
