package dev.gpuwarden.benchmarks;

import dev.gpuwarden.aggregator.ruleset.QuarantineRuleSet;
import dev.gpuwarden.core.util.JsonTrees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** The shipped rule sets. */
final class ShippedRules {

    private ShippedRules() {}

    /** @param manifests folder of the manifests */
    static List<QuarantineRuleSet> read(Path manifests) throws IOException {
        List<QuarantineRuleSet> all = new ArrayList<>();
        String text = Files.readString(manifests.resolve("quarantine-rules.yaml"));
        for (Object document : new Load(LoadSettings.builder().build()).loadAllFromString(text)) {
            all.add(QuarantineRuleSet.of(JsonTrees.copy((Map<?, ?>) document)));
        }
        return all;
    }
}
