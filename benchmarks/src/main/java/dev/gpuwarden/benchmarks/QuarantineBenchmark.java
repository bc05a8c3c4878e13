package dev.gpuwarden.benchmarks;

import dev.gpuwarden.aggregator.breaker.BreakerPolicy;
import dev.gpuwarden.aggregator.breaker.BreakerPolicy.BreakerState;
import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.quarantine.FaultReport;
import dev.gpuwarden.aggregator.quarantine.QuarantineDecider;
import dev.gpuwarden.aggregator.quarantine.QuarantineDecider.Decision;
import dev.gpuwarden.aggregator.ruleset.QuarantineRuleSet;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** A quarantine decision for one node with the shipped rule sets, and their compilation. Run it in the repository. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@State(Scope.Thread)
@Fork(
        value = 2,
        jvmArgsAppend = {"-XX:+UseSerialGC", "-Xmx128m"})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class QuarantineBenchmark {

    private static final Path MANIFESTS = Path.of("packaging/src/main/kubernetes");
    private static final Instant THEN = Instant.parse("2026-11-22T03:00:00Z");

    /** Number of GPUs with an XID. */
    @Param({"0", "1", "8"})
    int faults;

    private List<QuarantineRuleSet> sets = List.of();
    private RuleEvaluator rules = RuleEvaluator.EMPTY;
    private String node = "";
    private FaultReport report = FaultReport.trusted("node-1", List.of());
    private final BreakerPolicy.Answer yes = new BreakerPolicy.Answer(true, "", BreakerState.NEW);

    @Setup
    public void read() throws IOException {
        sets = ShippedRules.read(MANIFESTS);
        rules = RuleEvaluator.compile(sets);
        node = "{\"metadata\":{\"name\":\"node-1\",\"uid\":\"u\",\"resourceVersion\":\"1\",\"labels\":{"
                + "\"nvidia.com/gpu.present\":\"true\",\"zone\":\"a\"},\"annotations\":{\"a\":\"b\"}},"
                + "\"spec\":{\"taints\":[{\"key\":\"dedicated\",\"effect\":\"NoSchedule\"}]},\"status\":{}}";
        FaultTable table = new FaultTable();
        for (int gpu = 0; gpu < faults; gpu++) {
            HealthEvent xid = HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                    .nodeName("node-1")
                    .fatal(true)
                    .message("GPU has fallen off the bus")
                    .errorCodes(List.of("79"))
                    .entities(List.of(new Entity("PCI", "0000:0" + gpu + ":00"), new Entity("GPU_UUID", "GPU-" + gpu)))
                    .build();
            table.apply(xid, gpu + 1, THEN);
        }
        report = FaultReport.trusted("node-1", table.faults());
        boolean acts = decide() instanceof Decision.Act;
        if (acts != faults > 0) {
            throw new IllegalStateException("expected a patch for a fault and none for none, found " + decide());
        }
    }

    /** Decides, and parses the Node's JSON first. */
    @Benchmark
    public Decision decide() throws IOException {
        return QuarantineDecider.decide(
                CachedNode.of(Json.readObject(node)),
                report,
                rules,
                any -> yes,
                dev.gpuwarden.aggregator.controller.ActionMode.ARMED,
                THEN);
    }

    /** Compiles the shipped rule sets and tries each on the largest events. */
    @Benchmark
    public RuleEvaluator compile() {
        return RuleEvaluator.compile(sets);
    }
}
