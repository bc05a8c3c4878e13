package dev.gpuwarden.aggregator.ruleset;

import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.CelOptions;
import dev.cel.common.CelValidationException;
import dev.cel.common.types.MapType;
import dev.cel.common.types.SimpleType;
import dev.cel.compiler.CelCompiler;
import dev.cel.compiler.CelCompilerFactory;
import dev.cel.extensions.CelExtensions;
import dev.cel.parser.CelStandardMacro;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelRuntime;
import dev.gpuwarden.aggregator.cel.BoundedRuntime;
import dev.gpuwarden.aggregator.cel.Cost;
import java.util.Map;
import java.util.stream.Collectors;

/** A clause, compiled. Thread-safe. */
public final class CelExpression {

    /** Far beyond any rule that a person can review. */
    private static final int MOST_CHARACTERS = 4096;

    /** An event's entities and codes are 512 pairs at most; a walk over each of them, and a few more, fit. */
    private static final int MOST_ITERATIONS = 10_000;

    private static final CelOptions OPTIONS = CelOptions.current()
            .maxExpressionCodePointSize(MOST_CHARACTERS)
            .maxParseRecursionDepth(100)
            .comprehensionMaxIterations(MOST_ITERATIONS)
            .maxRegexProgramSize(1000)
            .enableHeterogeneousNumericComparisons(true)
            .build();

    private static final BoundedRuntime RUNTIME = new BoundedRuntime(OPTIONS);

    private static final CelCompiler EVENTS = compiler(Clause.Kind.HEALTH_EVENT);
    private static final CelCompiler NODES = compiler(Clause.Kind.NODE);

    private final Clause.Kind kind;
    private final CelRuntime.Program program;

    private CelExpression(Clause.Kind kind, CelRuntime.Program program) {
        this.kind = kind;
        this.program = program;
    }

    private static CelCompiler compiler(Clause.Kind kind) {
        return CelCompilerFactory.standardCelCompilerBuilder()
                .setOptions(OPTIONS)
                .setStandardMacros(CelStandardMacro.STANDARD_MACROS)
                .addLibraries(CelExtensions.strings())
                .addVar(kind.variable(), MapType.create(SimpleType.STRING, SimpleType.DYN))
                .setResultType(SimpleType.BOOL)
                .build();
    }

    public static CelExpression compile(Clause clause) throws InvalidExpressionException {
        Clause.Kind kind = clause.kind();
        try {
            CelAbstractSyntaxTree ast = (kind == Clause.Kind.NODE ? NODES : EVENTS)
                    .compile(clause.expression())
                    .getAst();
            CelLinter.find(kind, ast);
            CelExpression expression = new CelExpression(kind, RUNTIME.program(ast));
            if (CelLinter.constant(kind, ast) && !expression.test(Map.of())) {
                throw new InvalidExpressionException(
                        InvalidExpressionException.Verdict.NeverMatches, "the expression is always false");
            }
            return expression;
        } catch (CelValidationException e) {
            String errors = e.getErrors().stream()
                    .map(issue -> "line " + issue.getSourceLocation().getLine() + " column "
                            + (issue.getSourceLocation().getColumn() + 1) + ": " + issue.getMessage())
                    .collect(Collectors.joining("; "));
            throw new InvalidExpressionException(
                    InvalidExpressionException.Verdict.DoesNotCompile,
                    errors + "; available: " + CelLinter.available(kind));
        } catch (CelEvaluationException e) {
            throw new InvalidExpressionException(
                    InvalidExpressionException.Verdict.DoesNotCompile, String.valueOf(e.getMessage()));
        }
    }

    /**
     * @param subject a plain tree
     * @throws CelEvaluationException where the expression asks for what the subject does not have, or for too much
     */
    public boolean test(Map<String, Object> subject) throws CelEvaluationException {
        Object result = Cost.within(() -> program.eval(Map.of(kind.variable(), subject)));
        if (result instanceof Boolean truth) {
            return truth;
        }
        throw new CelEvaluationException("expected true or false, the expression gives " + result);
    }
}
