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

    private final CelRuntime.Program program;

    /** Present for a predicate that mentions the time or the state. */
    private final Optional<Partial> partial;

    private CelExpression(CelRuntime.Program program, Optional<Partial> partial) {
        this.program = program;
        this.partial = partial;
    }

    /** @param timed true if the expression mentions the time */
    private record Partial(CelRuntime.Program program, CelEnvironment.Unknowns unknowns, boolean timed) {}

    /** Compiles an expression in milliseconds, the first one of an environment in a second: not for a hot path. */
    public static CelExpression compile(CelEnvironment environment, KnownFields known, String text)
            throws InvalidExpressionException {
        try {
            CelAbstractSyntaxTree ast = DynamicTypes.withAllOverloads(
                    environment.compiler().compile(text).getAst());
            CelLinter linter = new CelLinter(ast, environment.variables(), known);
            linter.check();
            CelExpression expression =
                    new CelExpression(environment.runtime().program(ast), partial(environment, linter, ast));
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

    private static Optional<Partial> partial(CelEnvironment environment, CelLinter linter, CelAbstractSyntaxTree ast)
            throws CelEvaluationException {
        Optional<CelEnvironment.Unknowns> unknowns =
                environment.unknowns().filter(each -> each.paths().stream().anyMatch(linter::mentions));
        return unknowns.isEmpty()
                ? Optional.empty()
                : Optional.of(new Partial(
                        unknowns.get().runtime().program(ast), unknowns.get(), linter.mentions(CelEnvironment.NOW)));
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
        return partial.isPresent()
                && partial.get().timed()
                && without(CelEnvironment.Unknowns.TIME, partial.get(), name, object) instanceof CelUnknownSet;
    }

    /**
     * Returns whether the result for this object can be true at some time and in some state of the object. Also true for an
     * expression that mentions neither, whose result proves nothing about that.
     */
    public boolean canBeTrue(String name, Map<String, Object> object) throws CelEvaluationException {
        return partial.isEmpty()
                || !Boolean.FALSE.equals(without(partial.get().unknowns().patterns(), partial.get(), name, object));
    }

    private static Object without(
            List<CelAttributePattern> unknown, Partial partial, String name, Map<String, Object> object)
            throws CelEvaluationException {
        CelVariableResolver known = asked -> asked.equals(name) ? Optional.of(object) : Optional.empty();
        return Cost.within(() -> partial.program().advanceEvaluation(UnknownContext.create(known, unknown)));
    }
}
