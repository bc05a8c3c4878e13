package dev.gpuwarden.aggregator.objectmonitor;

import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.ast.CelExpr;
import dev.cel.common.ast.CelExpr.ExprKind.Kind;
import dev.cel.common.navigation.CelNavigableAst;
import dev.gpuwarden.cli.Spelling;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Finds what compiles and no object can have: misspelt fields where it is known which there are. */
final class Slips {

    private static final Set<String> CORE = Set.of("apiVersion", "kind", "metadata", "spec", "status");

    /** What every object's metadata can have, and nothing else can be there. */
    private static final Set<String> METADATA = Set.of(
            "annotations",
            "creationTimestamp",
            "deletionGracePeriodSeconds",
            "deletionTimestamp",
            "finalizers",
            "generateName",
            "generation",
            "labels",
            "managedFields",
            "name",
            "namespace",
            "ownerReferences",
            "resourceVersion",
            "selfLink",
            "uid");

    /** Of these it is known what lies beside their metadata. */
    private static final Set<String> WITH_SPEC_AND_STATUS = Set.of("Pod", "Node");

    private Slips() {}

    static void find(ResourceType type, CelAbstractSyntaxTree ast) throws PolicyProblem {
        for (CelExpr node : nodes(ast)) {
            if (node.getKind() != Kind.SELECT) {
                continue;
            }
            CelExpr operand = node.select().operand();
            String field = node.select().field();
            if (isVariable(operand, PolicyExpression.RESOURCE)) {
                if (type.group().isEmpty() && WITH_SPEC_AND_STATUS.contains(type.kind())) {
                    known("resource", field, CORE, place(ast, node));
                }
            } else if (operand.getKind() == Kind.SELECT
                    && operand.select().field().equals("metadata")
                    && isVariable(operand.select().operand(), PolicyExpression.RESOURCE)) {
                known("resource.metadata", field, METADATA, place(ast, node));
            }
        }
    }

    private static void known(String where, String field, Set<String> fields, String place) throws PolicyProblem {
        if (!fields.contains(field)) {
            throw new PolicyProblem(
                    PolicyProblem.Verdict.DoesNotCompile,
                    place + ": " + where + " has no field " + field
                            + Spelling.nearest(field, fields)
                                    .map(meant -> ", did you mean " + meant + "?")
                                    .orElse("")
                            + "; available: " + String.join(", ", new TreeSet<>(fields)));
        }
    }

    /** Whether the expression looks neither at the object nor at the time. */
    static boolean constant(CelAbstractSyntaxTree ast) {
        return !mentions(ast, PolicyExpression.RESOURCE) && !mentions(ast, PolicyExpression.NOW);
    }

    static boolean mentions(CelAbstractSyntaxTree ast, String variable) {
        return nodes(ast).stream().anyMatch(node -> isVariable(node, variable));
    }

    static String available(ResourceType type) {
        return "resource (" + type + ", as the API server has it: resource.metadata.name, resource.status …), now (the"
                + " time), has(), timestamp(), duration(), exists, all, filter, map, and CEL's text functions";
    }

    private static boolean isVariable(CelExpr expr, String name) {
        return expr.getKind() == Kind.IDENT && expr.ident().name().equals(name);
    }

    private static List<CelExpr> nodes(CelAbstractSyntaxTree ast) {
        return CelNavigableAst.fromAst(ast)
                .getRoot()
                .allNodes()
                .map(node -> node.expr())
                .toList();
    }

    private static String place(CelAbstractSyntaxTree ast, CelExpr expr) {
        return Optional.ofNullable(ast.getSource().getPositionsMap().get(expr.id()))
                .flatMap(ast.getSource()::getOffsetLocation)
                .map(at -> "line " + at.getLine() + " column " + (at.getColumn() + 1))
                .orElse("somewhere");
    }
}
