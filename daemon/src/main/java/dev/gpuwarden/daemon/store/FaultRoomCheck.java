package dev.gpuwarden.daemon.store;

import com.google.auto.service.AutoService;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.event.LeftOut;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.model.Reading;
import java.util.List;
import java.util.stream.Collectors;

/** A check that every reported fault is among the current ones. A node must not pass while a reported fault is not shown. */
@AutoService(HealthCheck.class)
public final class FaultRoomCheck implements HealthCheck {

    @Override
    public CheckInfo info() {
        return CheckInfo.of("fault-room", "NODE", "Every reported fault has room among the current ones.");
    }

    @Override
    public List<Finding> run(CheckContext context) {
        return List.of(judge(context.source(LeftOut.class)));
    }

    static Finding judge(Reading<LeftOut> leftOut) {
        if (leftOut instanceof Reading.Absent<?> absent) {
            return Finding.skipped("fault-room", Subject.NODE, "no reported faults are kept here: " + absent.text());
        }
        LeftOut now = leftOut.asOptional().orElseThrow();
        if (now.isEmpty()) {
            return Finding.pass("fault-room", Subject.NODE, "every reported fault has room");
        }
        String agents = now.shares().stream().map(FaultRoomCheck::text).collect(Collectors.joining(", "));
        return new Finding(
                Outcome.UNKNOWN,
                "faults-left-out",
                Subject.NODE,
                "reports found no room among the current faults: " + agents
                        + "; they are in the history, and are raised when there is room",
                "see 'gpuwarden events --agent NAME'; stop the reporter that floods, then clear its faults with"
                        + " 'gpuwarden set-healthy'",
                RecommendedAction.NONE,
                now.shares().stream()
                        .map(share -> new Measurement("left_out_reports." + share.agent(), share.reports(), "0"))
                        .toList());
    }

    private static String text(LeftOut.Share share) {
        return share.reports() + " of " + share.agent() + (share.fatal() == 0 ? "" : " (" + share.fatal() + " fatal)");
    }
}
