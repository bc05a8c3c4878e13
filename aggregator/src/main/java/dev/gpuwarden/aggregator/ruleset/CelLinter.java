package dev.gpuwarden.aggregator.ruleset;

import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.ast.CelConstant;
import dev.cel.common.ast.CelExpr;
import dev.cel.common.ast.CelExpr.ExprKind.Kind;
import dev.cel.common.navigation.CelNavigableAst;
import dev.gpuwarden.cli.Spelling;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** Finds what compiles and can never be true: misspelt fields, and comparisons of a field with what it never holds. */
final class CelLinter {

    private static final Set<String> NODE = Set.of("apiVersion", "kind", "metadata", "spec", "status");
    private static final Set<String> COMPARISONS = Set.of("_==_", "_!=_");

    private CelLinter() {}

    static void find(Clause.Kind kind, CelAbstractSyntaxTree ast) throws InvalidExpressionException {
        List<CelExpr> nodes = CelNavigableAst.fromAst(ast)
                .getRoot()
                .allNodes()
                .map(node -> node.expr())
                .toList();
        for (CelExpr node : nodes) {
            Optional<String> field = field(kind, node);
            if (field.isPresent() && !names(kind).contains(field.get())) {
                throw unknown(kind, field.get(), place(ast, node));
            }
            if (kind == Clause.Kind.HEALTH_EVENT
                    && node.getKind() == Kind.CALL
                    && COMPARISONS.contains(node.call().function())) {
                compared(
                        ast, node, node.call().args().get(0), node.call().args().get(1));
                compared(
                        ast, node, node.call().args().get(1), node.call().args().get(0));
            }
        }
    }

    private static InvalidExpressionException unknown(Clause.Kind kind, String field, String place) {
        String meant = Spelling.nearest(field, names(kind))
                .map(name -> ", did you mean " + name + "?")
                .orElse("");
        return new InvalidExpressionException(
                InvalidExpressionException.Verdict.DoesNotCompile,
                place + ": " + kind.variable() + " has no field " + field + meant + "; available: " + available(kind));
    }

    private static void compared(CelAbstractSyntaxTree ast, CelExpr call, CelExpr side, CelExpr other)
            throws InvalidExpressionException {
        Optional<String> field = field(Clause.Kind.HEALTH_EVENT, side);
        if (field.filter(HealthEventFields.types()::containsKey).isEmpty() || other.getKind() != Kind.CONSTANT) {
            return;
        }
        HealthEventFields.Type type =
                Objects.requireNonNull(HealthEventFields.types().get(field.get()));
        CelConstant.Kind constant = other.constant().getKind();
        boolean same = constant == CelConstant.Kind.NULL_VALUE
                || switch (constant) {
                    case BOOLEAN_VALUE -> type == HealthEventFields.Type.BOOL;
                    case INT64_VALUE, UINT64_VALUE, DOUBLE_VALUE -> type == HealthEventFields.Type.INT;
                    case STRING_VALUE -> type == HealthEventFields.Type.TEXT;
                    default -> false;
                };
        if (!same) {
            throw new InvalidExpressionException(
                    InvalidExpressionException.Verdict.NeverMatches,
                    place(ast, call) + ": event." + field.get() + " is a " + word(type)
                            + " and never equal to what it is compared with"
                            + (type == HealthEventFields.Type.LIST ? ": ask '…' in event." + field.get() : ""));
        }
    }

    private static String word(HealthEventFields.Type type) {
        return switch (type) {
            case BOOL -> "boolean";
            case INT -> "number";
            case TEXT -> "text";
            case LIST -> "list";
            case MAP -> "map";
        };
    }

    /** The field that this selects from the variable, as in `event.agent` or `event['agent']`. */
    private static Optional<String> field(Clause.Kind kind, CelExpr expr) {
        if (expr.getKind() == Kind.SELECT && isVariable(kind, expr.select().operand())) {
            return Optional.of(expr.select().field());
        }
        if (expr.getKind() == Kind.CALL
                && expr.call().function().equals("_[_]")
                && isVariable(kind, expr.call().args().get(0))) {
            CelExpr index = expr.call().args().get(1);
            return index.getKind() == Kind.CONSTANT && index.constant().getKind() == CelConstant.Kind.STRING_VALUE
                    ? Optional.of(index.constant().stringValue())
                    : Optional.empty();
        }
        return Optional.empty();
    }

    private static boolean isVariable(Clause.Kind kind, CelExpr expr) {
        return expr.getKind() == Kind.IDENT && expr.ident().name().equals(kind.variable());
    }

    /** Whether the expression does not look at its subject at all. */
    static boolean constant(Clause.Kind kind, CelAbstractSyntaxTree ast) {
        return CelNavigableAst.fromAst(ast).getRoot().allNodes().noneMatch(node -> isVariable(kind, node.expr()));
    }

    private static Set<String> names(Clause.Kind kind) {
        return kind == Clause.Kind.NODE ? NODE : HealthEventFields.types().keySet();
    }

    static String available(Clause.Kind kind) {
        return kind.variable() + " with "
                + names(kind).stream().sorted().collect(java.util.stream.Collectors.joining(", "));
    }

    private static String place(CelAbstractSyntaxTree ast, CelExpr expr) {
        Integer offset = ast.getSource().getPositionsMap().get(expr.id());
        return Optional.ofNullable(offset)
                .flatMap(ast.getSource()::getOffsetLocation)
                .map(at -> "line " + at.getLine() + " column " + (at.getColumn() + 1))
                .orElse("somewhere");
    }
}
