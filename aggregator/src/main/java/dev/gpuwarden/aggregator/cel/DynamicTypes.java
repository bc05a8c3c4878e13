package dev.gpuwarden.aggregator.cel;

import static dev.cel.common.CelOverloadDecl.newGlobalOverload;

import dev.cel.checker.CelStandardDeclarations;
import dev.cel.checker.CelStandardDeclarations.StandardFunction;
import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.CelFunctionDecl;
import dev.cel.common.CelOverloadDecl;
import dev.cel.common.ast.CelExpr;
import dev.cel.common.ast.CelExpr.CelCall;
import dev.cel.common.ast.CelExpr.ExprKind.Kind;
import dev.cel.common.ast.CelReference;
import dev.cel.common.navigation.CelNavigableAst;
import dev.cel.common.types.ListType;
import dev.cel.common.types.MapType;
import dev.cel.common.types.SimpleType;
import dev.cel.compiler.CelCompilerBuilder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Values whose types are known at the evaluation only. CEL's type checker gives such a value the type of the first overload that
 * could take it, and then permits this overload alone: `int(resource.status.capacity['nvidia.com/gpu'])` took no text. Here an
 * element of a map or list has no type, and each call has all overloads of its function.
 */
final class DynamicTypes {

    /** The overload of maps is the first one, as {@link #ofCall} requires. */
    private static final CelFunctionDecl INDEX = CelFunctionDecl.newFunctionDeclaration(
            StandardFunction.INDEX.functionName(),
            newGlobalOverload(
                    "index_map", SimpleType.DYN, MapType.create(SimpleType.DYN, SimpleType.DYN), SimpleType.DYN),
            newGlobalOverload("index_list", SimpleType.DYN, ListType.create(SimpleType.DYN), SimpleType.INT));

    private static final CelStandardDeclarations OTHERS = CelStandardDeclarations.newBuilder()
            .excludeFunctions(StandardFunction.INDEX)
            .build();

    private static final Map<Form, List<String>> OVERLOADS = overloads();

    /** The form of a call: `size(x)` and `x.size()` differ. */
    private record Form(String function, boolean member, int arguments) {}

    private DynamicTypes() {}

    /** Declares CEL's standard functions. */
    static CelCompilerBuilder declare(CelCompilerBuilder builder) {
        return builder.setStandardEnvironmentEnabled(false)
                .setStandardDeclarations(OTHERS)
                .addFunctionDeclarations(INDEX);
    }

    /** Returns the expression with all overloads for each call of a standard function. The runtime selects one by the values. */
    static CelAbstractSyntaxTree withAllOverloads(CelAbstractSyntaxTree checked) {
        Map<Long, CelReference> references = new HashMap<>(checked.getReferenceMap());
        CelNavigableAst.fromAst(checked)
                .getRoot()
                .allNodes()
                .map(node -> node.expr())
                .filter(expr -> expr.getKind() == Kind.CALL)
                .forEach(expr -> references.computeIfPresent(expr.id(), (id, found) -> ofCall(expr, found)));
        return CelAbstractSyntaxTree.newCheckedAst(
                checked.getExpr(), checked.getSource(), references, checked.getTypeMap());
    }

    private static CelReference ofCall(CelExpr expr, CelReference found) {
        CelCall call = expr.call();
        boolean member = call.target().isPresent();
        Form form = new Form(call.function(), member, call.args().size() + (member ? 1 : 0));
        List<String> all = OVERLOADS.getOrDefault(form, List.of());
        if (!all.containsAll(found.overloadIds())) {
            return found;
        }
        // The one that was found stays the first: by the first, CEL finds the path of an index whose value is unknown.
        Set<String> ordered = new LinkedHashSet<>(found.overloadIds());
        ordered.addAll(all);
        return CelReference.newBuilder().addOverloadIds(ordered).build();
    }

    private static Map<Form, List<String>> overloads() {
        Map<Form, List<String>> all = new HashMap<>();
        for (CelFunctionDecl function : Arrays.stream(StandardFunction.values())
                .map(StandardFunction::functionDecl)
                .toList()) {
            for (CelOverloadDecl overload : function.overloads()) {
                Form form = new Form(
                        function.name(),
                        overload.isInstanceFunction(),
                        overload.parameterTypes().size());
                all.computeIfAbsent(form, any -> new ArrayList<>()).add(overload.overloadId());
            }
        }
        return all;
    }
}
