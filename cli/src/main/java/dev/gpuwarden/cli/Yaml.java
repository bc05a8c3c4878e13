package dev.gpuwarden.cli;

import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Dump;
import org.snakeyaml.engine.v2.api.DumpSettings;
import org.snakeyaml.engine.v2.common.FlowStyle;

/** A writer of a normal {@link Tree} as YAML 1.2 in block style. Characters outside ASCII are escaped. */
final class Yaml {

    private static final DumpSettings SETTINGS = DumpSettings.builder()
            .setDefaultFlowStyle(FlowStyle.BLOCK)
            .setUseUnicodeEncoding(false)
            .setWidth(Integer.MAX_VALUE)
            .build();

    private Yaml() {}

    static String write(@Nullable Object tree) {
        return new Dump(SETTINGS).dumpToString(Tree.normal(tree));
    }
}
