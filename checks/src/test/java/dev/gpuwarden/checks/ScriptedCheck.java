package dev.gpuwarden.checks;

import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Subject;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/** A check whose results the test sets. */
class ScriptedCheck implements HealthCheck {

    static final Subject PORT = Subject.of(new Entity("NIC", "mlx5_0/1"));
    static final Finding GOOD = Finding.pass("port-up", PORT, "mlx5_0/1: is up");
    static final Finding BAD =
            Finding.fail("port-down", PORT, "mlx5_0/1: is down", "plug it in", RecommendedAction.CONTACT_SUPPORT);

    final AtomicInteger runs = new AtomicInteger();
    private final CheckInfo info;
    private final Duration deadline;
    private final Function<CheckContext, List<Finding>> script;

    ScriptedCheck(CheckInfo info, Duration deadline, Function<CheckContext, List<Finding>> script) {
        this.info = info;
        this.deadline = deadline;
        this.script = script;
    }

    static ScriptedCheck of(String id, Function<CheckContext, List<Finding>> script) {
        return new ScriptedCheck(CheckInfo.of(id, "NIC", "Says what the test wants."), Duration.ofSeconds(1), script);
    }

    @Override
    public CheckInfo info() {
        return info;
    }

    @Override
    public Duration deadline() {
        return deadline;
    }

    @Override
    public List<Finding> run(CheckContext context) {
        runs.incrementAndGet();
        return script.apply(context);
    }
}
