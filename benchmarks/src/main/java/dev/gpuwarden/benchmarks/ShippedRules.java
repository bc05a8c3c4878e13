package dev.gpuwarden.benchmarks;

import dev.gpuwarden.aggregator.json.Trees;
import dev.gpuwarden.aggregator.rules.RuleSet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** The rule sets that are installed. */
final class ShippedRules {

    private ShippedRules() {}

    /** @param manifests the folder */
    static List<RuleSet> read(Path manifests) throws IOException {
        List<RuleSet> all = new ArrayList<>();
        String text = Files.readString(manifests.resolve("quarantine-rules.yaml"));
        for (Object document : new Load(LoadSettings.builder().build()).loadAllFromString(text)) {
            all.add(RuleSet.of(Trees.copy((Map<?, ?>) document)));
        }
        return all;
    }
}
