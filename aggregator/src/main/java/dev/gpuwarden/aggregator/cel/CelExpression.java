package dev.gpuwarden.aggregator.cel;

import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.CelValidationException;
import dev.cel.runtime.CelAttributePattern;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelRuntime;
import dev.cel.runtime.CelUnknownSet;
import dev.cel.runtime.CelVariableResolver;
import dev.cel.runtime.UnknownContext;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** A compiled expression. Each evaluation is bounded by {@link Cost}. Thread-safe. */
public final class CelExpression {

    private static final List<CelAttributePattern> UNKNOWN_TIME =
            List.of(CelAttributePattern.create(CelEnvironment.NOW));

    private final CelRuntime.Program program;

    /** Present for a predicate that mentions the time. */
    private final Optional<CelRuntime.Program> timeless;

    private CelExpression(CelRuntime.Program program, Optional<CelRuntime.Program> timeless) {
        this.program = program;
        this.timeless = timeless;
    }

    /** Compiles an expression in milliseconds, the first one of an environment in a second: not for a hot path. */
    public static CelExpression compile(CelEnvironment environment, KnownFields known, String text)
            throws InvalidExpressionException {
        try {
            CelAbstractSyntaxTree ast = DynamicTypes.withAllOverloads(
                    environment.compiler().compile(text).getAst());
            CelLinter linter = new CelLinter(ast, environment.variables(), known);
            linter.check();
            Optional<BoundedRuntime> timeless =
                    environment.timeless().filter(any -> linter.mentions(CelEnvironment.NOW));
            CelExpression expression = new CelExpression(
                    environment.runtime().program(ast),
                    timeless.isPresent() ? Optional.of(timeless.get().program(ast)) : Optional.empty());
            if (environment.isPredicate() && linter.isConstant() && !expression.test(Map.of())) {
                throw new InvalidExpressionException(
                        InvalidExpressionException.Reason.NeverMatches, "the expression is always false");
            }
            return expression;
        } catch (CelValidationException e) {
            String errors = e.getErrors().stream()
                    .map(issue -> "line " + issue.getSourceLocation().getLine() + " column "
                            + (issue.getSourceLocation().getColumn() + 1) + ": " + issue.getMessage())
                    .collect(Collectors.joining("; "));
            throw new InvalidExpressionException(
                    InvalidExpressionException.Reason.DoesNotCompile, errors + "; available: " + known.available());
        } catch (CelEvaluationException e) {
            throw new InvalidExpressionException(
                    InvalidExpressionException.Reason.DoesNotCompile, String.valueOf(e.getMessage()));
        }
    }

    /**
     * @param variables all variables of the environment; objects are trees of maps, lists and plain values
     * @throws CelEvaluationException where a field is missing, the result is no boolean, or the evaluation costs too much
     */
    public boolean test(Map<String, Object> variables) throws CelEvaluationException {
        Object result = eval(variables);
        if (result instanceof Boolean truth) {
            return truth;
        }
        throw new CelEvaluationException("expected true or false, the expression gives " + result);
    }

    /** Evaluates an expression like {@link #test}, with a result of any type. */
    public Object eval(Map<String, Object> variables) throws CelEvaluationException {
        return Cost.within(() -> program.eval(variables));
    }

    /** Returns whether the result for this object can change as time passes. */
    public boolean dependsOnTime(String name, Map<String, Object> object) throws CelEvaluationException {
        if (timeless.isEmpty()) {
            return false;
        }
        CelVariableResolver known = asked -> asked.equals(name) ? Optional.of(object) : Optional.empty();
        CelRuntime.Program withoutTime = timeless.get();
        return Cost.within(() -> withoutTime.advanceEvaluation(UnknownContext.create(known, UNKNOWN_TIME)))
                instanceof CelUnknownSet;
    }
}
