package dev.gpuwarden.aggregator.cel;

import dev.cel.common.types.CelType;
import dev.cel.common.types.MapType;
import dev.cel.common.types.SimpleType;
import dev.cel.compiler.CelCompiler;
import dev.cel.compiler.CelCompilerBuilder;
import dev.cel.compiler.CelCompilerFactory;
import dev.cel.extensions.CelExtensions;
import dev.cel.parser.CelStandardMacro;
import dev.cel.runtime.CelAttributePattern;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** The variables, the result and the bounds of one kind of expressions. Immutable and thread-safe. Costly to make: keep it. */
public final class CelEnvironment {

    /** The variable with the time of the evaluation, in environments that have one. */
    public static final String NOW = "now";

    private final Set<String> variables;
    private final boolean predicate;
    private final CelCompiler compiler;
    private final BoundedRuntime runtime;
    private final Optional<Unknowns> unknowns;

    private CelEnvironment(Set<String> variables, CelType result, BoundedRuntime runtime, Optional<Unknowns> unknowns) {
        CelCompilerBuilder builder = DynamicTypes.declare(CelCompilerFactory.standardCelCompilerBuilder())
                .setOptions(runtime.options())
                .setStandardMacros(CelStandardMacro.STANDARD_MACROS)
                .addLibraries(CelExtensions.strings())
                .setResultType(result);
        variables.forEach(name -> builder.addVar(
                name, name.equals(NOW) ? SimpleType.TIMESTAMP : MapType.create(SimpleType.STRING, SimpleType.DYN)));
        this.variables = variables;
        this.predicate = result == SimpleType.BOOL;
        this.compiler = builder.build();
        this.runtime = runtime;
        this.unknowns = unknowns;
    }

    /** Returns an environment of expressions that are true or false, with one variable: the object. */
    public static CelEnvironment predicate(String object, BoundedRuntime runtime) {
        return new CelEnvironment(Set.of(object), SimpleType.BOOL, runtime, Optional.empty());
    }

    /**
     * Returns an environment like {@link #predicate}, with the variable {@link #NOW} too.
     *
     * @param state the paths, such as `resource.status`, of an object's fields that change with its state
     */
    public static CelEnvironment timedPredicate(String object, Set<String> state, BoundedRuntime runtime) {
        return new CelEnvironment(
                Set.of(object, NOW),
                SimpleType.BOOL,
                runtime,
                Optional.of(new Unknowns(runtime.withUnknowns(), state)));
    }

    /** Returns an environment of expressions that give a text, with the object and {@link #NOW}. */
    public static CelEnvironment timedText(String object, BoundedRuntime runtime) {
        return new CelEnvironment(Set.of(object, NOW), SimpleType.STRING, runtime, Optional.empty());
    }

    Set<String> variables() {
        return variables;
    }

    boolean isPredicate() {
        return predicate;
    }

    CelCompiler compiler() {
        return compiler;
    }

    BoundedRuntime runtime() {
        return runtime;
    }

    /** Returns the means to find out what a result depends on; empty if no result depends on the time. */
    Optional<Unknowns> unknowns() {
        return unknowns;
    }

    /** The values that can change while an object stays the same, and a runtime that evaluates without them. */
    static final class Unknowns {

        static final List<CelAttributePattern> TIME = List.of(CelAttributePattern.create(NOW));

        private final BoundedRuntime runtime;
        private final Set<String> paths;
        private final List<CelAttributePattern> patterns;

        private Unknowns(BoundedRuntime runtime, Set<String> state) {
            this.runtime = runtime;
            this.paths = new TreeSet<>(state);
            this.paths.add(NOW);
            this.patterns = paths.stream()
                    .map(CelAttributePattern::fromQualifiedIdentifier)
                    .toList();
        }

        BoundedRuntime runtime() {
            return runtime;
        }

        /** Returns the paths of the time and of the state. */
        Set<String> paths() {
            return Set.copyOf(paths);
        }

        List<CelAttributePattern> patterns() {
            return patterns;
        }
    }
}
