package dev.gpuwarden.aggregator.objectmonitor;

import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.CelOptions;
import dev.cel.common.CelValidationException;
import dev.cel.common.types.CelType;
import dev.cel.common.types.MapType;
import dev.cel.common.types.SimpleType;
import dev.cel.compiler.CelCompiler;
import dev.cel.compiler.CelCompilerFactory;
import dev.cel.extensions.CelExtensions;
import dev.cel.parser.CelStandardMacro;
import dev.cel.runtime.CelAttributePattern;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelRuntime;
import dev.cel.runtime.CelUnknownSet;
import dev.cel.runtime.CelVariableResolver;
import dev.cel.runtime.UnknownContext;
import dev.gpuwarden.aggregator.cel.BoundedRuntime;
import dev.gpuwarden.aggregator.cel.Cost;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** An expression over an object and the time, compiled. Thread-safe. */
final class PolicyExpression {

    static final String RESOURCE = "resource";
    static final String NOW = "now";

    private static final int MOST_CHARACTERS = 4096;

    /** A walk over each of 200 items for each of 200; takes less than a tenth of a second. */
    private static final int MOST_ITERATIONS = 50_000;

    private static final CelOptions OPTIONS = CelOptions.current()
            .maxExpressionCodePointSize(MOST_CHARACTERS)
            .maxParseRecursionDepth(100)
            .comprehensionMaxIterations(MOST_ITERATIONS)
            .maxRegexProgramSize(1000)
            .enableHeterogeneousNumericComparisons(true)
            .build();

    private static final BoundedRuntime RUNTIME = new BoundedRuntime(OPTIONS);

    /** Answers also when it is not said what the time is. */
    private static final BoundedRuntime TIMELESS =
            new BoundedRuntime(OPTIONS.toBuilder().enableUnknownTracking(true).build());

    private static final List<CelAttributePattern> UNKNOWN_TIME = List.of(CelAttributePattern.create(NOW));

    private static final CelCompiler PREDICATES = compiler(SimpleType.BOOL);
    private static final CelCompiler NAMES = compiler(SimpleType.STRING);

    private final CelRuntime.Program program;
    private final Optional<CelRuntime.Program> timeless;

    private PolicyExpression(CelRuntime.Program program, Optional<CelRuntime.Program> timeless) {
        this.program = program;
        this.timeless = timeless;
    }

    private static CelCompiler compiler(CelType result) {
        return CelCompilerFactory.standardCelCompilerBuilder()
                .setOptions(OPTIONS)
                .setStandardMacros(CelStandardMacro.STANDARD_MACROS)
                .addLibraries(CelExtensions.strings())
                .addVar(RESOURCE, MapType.create(SimpleType.STRING, SimpleType.DYN))
                .addVar(NOW, SimpleType.TIMESTAMP)
                .setResultType(result)
                .build();
    }

    /** True or false of each object. */
    static PolicyExpression predicate(ResourceType type, String text) throws PolicyProblem {
        return compile(PREDICATES, type, text);
    }

    /** A text for each object. */
    static PolicyExpression name(ResourceType type, String text) throws PolicyProblem {
        return compile(NAMES, type, text);
    }

    private static PolicyExpression compile(CelCompiler compiler, ResourceType type, String text) throws PolicyProblem {
        try {
            CelAbstractSyntaxTree ast = compiler.compile(text).getAst();
            Slips.find(type, ast);
            CelRuntime.Program program = RUNTIME.program(ast);
            if (Slips.constant(ast) && Boolean.FALSE.equals(Cost.within(program::eval))) {
                throw new PolicyProblem(PolicyProblem.Verdict.NeverMatches, "the expression is always false");
            }
            return new PolicyExpression(
                    program, Slips.mentions(ast, NOW) ? Optional.of(TIMELESS.program(ast)) : Optional.empty());
        } catch (CelValidationException e) {
            String errors = e.getErrors().stream()
                    .map(issue -> "line " + issue.getSourceLocation().getLine() + " column "
                            + (issue.getSourceLocation().getColumn() + 1) + ": " + issue.getMessage())
                    .collect(Collectors.joining("; "));
            throw new PolicyProblem(
                    PolicyProblem.Verdict.DoesNotCompile, errors + "; available: " + Slips.available(type));
        } catch (CelEvaluationException e) {
            throw new PolicyProblem(PolicyProblem.Verdict.DoesNotCompile, String.valueOf(e.getMessage()));
        }
    }

    /** @throws CelEvaluationException where the object lacks what is asked for, or it would take too long */
    Object eval(Map<String, Object> object, Instant now) throws CelEvaluationException {
        return Cost.within(() -> program.eval(Map.of(RESOURCE, object, NOW, now)));
    }

    /** Whether the answer for this object can become another one as time passes. */
    boolean dependsOnTime(Map<String, Object> object) throws CelEvaluationException {
        if (timeless.isEmpty()) {
            return false;
        }
        CelVariableResolver known = name -> name.equals(RESOURCE) ? Optional.of(object) : Optional.empty();
        CelRuntime.Program program = timeless.get();
        return Cost.within(() -> program.advanceEvaluation(UnknownContext.create(known, UNKNOWN_TIME)))
                instanceof CelUnknownSet;
    }
}
