package dev.gpuwarden.aggregator.cel;

import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.ast.CelConstant;
import dev.cel.common.ast.CelExpr;
import dev.cel.common.ast.CelExpr.ExprKind.Kind;
import dev.cel.common.navigation.CelNavigableAst;
import dev.gpuwarden.cli.Spelling;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** A search for errors that compile: fields that do not exist, and comparisons that are never equal. For one expression. */
final class CelLinter {

    private static final Set<String> COMPARISONS = Set.of("_==_", "_!=_");

    private final CelAbstractSyntaxTree ast;
    private final Set<String> variables;
    private final KnownFields known;
    private final List<CelExpr> nodes;

    CelLinter(CelAbstractSyntaxTree ast, Set<String> variables, KnownFields known) {
        this.ast = ast;
        this.variables = variables;
        this.known = known;
        this.nodes = CelNavigableAst.fromAst(ast)
                .getRoot()
                .allNodes()
                .map(node -> node.expr())
                .toList();
    }

    void check() throws InvalidExpressionException {
        for (CelExpr node : nodes) {
            checkField(node);
            if (node.getKind() == Kind.CALL && COMPARISONS.contains(node.call().function())) {
                checkComparison(
                        node, node.call().args().get(0), node.call().args().get(1));
                checkComparison(
                        node, node.call().args().get(1), node.call().args().get(0));
            }
        }
    }

    /** Returns whether the expression mentions no variable. */
    boolean isConstant() {
        return variables.stream().noneMatch(this::mentions);
    }

    /** Returns whether the expression mentions a variable, or a field of one such as `event.agent`. */
    boolean mentions(String path) {
        return nodes.stream().anyMatch(node -> path(node).filter(path::equals).isPresent());
    }

    private void checkField(CelExpr node) throws InvalidExpressionException {
        Optional<String> path = path(node);
        int end = path.map(text -> text.lastIndexOf('.')).orElse(-1);
        if (end < 0) {
            return;
        }
        String object = path.get().substring(0, end);
        String field = path.get().substring(end + 1);
        Set<String> fields = known.fields().getOrDefault(object, Set.of());
        if (!fields.isEmpty() && !fields.contains(field)) {
            String meant = Spelling.nearest(field, fields)
                    .map(name -> ", did you mean " + name + "?")
                    .orElse("");
            throw new InvalidExpressionException(
                    InvalidExpressionException.Reason.DoesNotCompile,
                    place(node) + ": " + object + " has no field " + field + meant + "; available: "
                            + String.join(", ", new TreeSet<>(fields)));
        }
    }

    private void checkComparison(CelExpr call, CelExpr side, CelExpr other) throws InvalidExpressionException {
        Optional<String> path = path(side);
        Optional<KnownFields.Type> type = path.map(known.types()::get);
        if (type.isEmpty() || other.getKind() != Kind.CONSTANT) {
            return;
        }
        boolean same = switch (other.constant().getKind()) {
            case NULL_VALUE -> true;
            case BOOLEAN_VALUE -> type.get() == KnownFields.Type.BOOL;
            case INT64_VALUE, UINT64_VALUE, DOUBLE_VALUE -> type.get() == KnownFields.Type.INT;
            case STRING_VALUE -> type.get() == KnownFields.Type.TEXT;
            default -> false;
        };
        if (!same) {
            throw new InvalidExpressionException(
                    InvalidExpressionException.Reason.NeverMatches,
                    place(call) + ": " + path.get() + " is a " + type.get().noun()
                            + " and never equal to what it is compared with"
                            + (type.get() == KnownFields.Type.LIST ? ": ask '…' in " + path.get() : ""));
        }
    }

    /**
     * Returns `event.agent` for `event.agent` and `event['agent']`; empty for an expression that does not begin with a
     * variable.
     */
    private Optional<String> path(CelExpr expr) {
        return switch (expr.getKind()) {
            case IDENT -> Optional.of(expr.ident().name()).filter(variables::contains);
            case SELECT ->
                path(expr.select().operand())
                        .map(object -> object + "." + expr.select().field());
            case CALL -> index(expr);
            default -> Optional.empty();
        };
    }

    private Optional<String> index(CelExpr expr) {
        if (!expr.call().function().equals("_[_]")) {
            return Optional.empty();
        }
        CelExpr index = expr.call().args().get(1);
        return index.getKind() == Kind.CONSTANT && index.constant().getKind() == CelConstant.Kind.STRING_VALUE
                ? path(expr.call().args().get(0))
                        .map(object -> object + "." + index.constant().stringValue())
                : Optional.empty();
    }

    private String place(CelExpr expr) {
        return Optional.ofNullable(ast.getSource().getPositionsMap().get(expr.id()))
                .flatMap(ast.getSource()::getOffsetLocation)
                .map(at -> "line " + at.getLine() + " column " + (at.getColumn() + 1))
                .orElse("somewhere");
    }
}
