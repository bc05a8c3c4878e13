package dev.gpuwarden.aggregator.cel;

import dev.cel.common.types.CelType;
import dev.cel.common.types.MapType;
import dev.cel.common.types.SimpleType;
import dev.cel.compiler.CelCompiler;
import dev.cel.compiler.CelCompilerBuilder;
import dev.cel.compiler.CelCompilerFactory;
import dev.cel.extensions.CelExtensions;
import dev.cel.parser.CelStandardMacro;
import java.util.Optional;
import java.util.Set;

/** The variables, the result and the bounds of one kind of expressions. Immutable and thread-safe. Costly to make: keep it. */
public final class CelEnvironment {

    /** The variable with the time of the evaluation, in environments that have one. */
    public static final String NOW = "now";

    private final Set<String> variables;
    private final boolean predicate;
    private final CelCompiler compiler;
    private final BoundedRuntime runtime;
    private final Optional<BoundedRuntime> timeless;

    private CelEnvironment(
            Set<String> variables, CelType result, BoundedRuntime runtime, Optional<BoundedRuntime> timeless) {
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
        this.timeless = timeless;
    }

    /** Returns an environment of expressions that are true or false, with one variable: the object. */
    public static CelEnvironment predicate(String object, BoundedRuntime runtime) {
        return new CelEnvironment(Set.of(object), SimpleType.BOOL, runtime, Optional.empty());
    }

    /** Returns an environment like {@link #predicate}, with the variable {@link #NOW} too. */
    public static CelEnvironment timedPredicate(String object, BoundedRuntime runtime) {
        return new CelEnvironment(Set.of(object, NOW), SimpleType.BOOL, runtime, Optional.of(runtime.withUnknowns()));
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

    /** Returns the runtime that finds out whether a result depends on the time; empty if no result can. */
    Optional<BoundedRuntime> timeless() {
        return timeless;
    }
}
