package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.app.Workshop.Running;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.janitor.JanitorSettings.JanitorTimes;
import dev.gpuwarden.aggregator.janitor.JanitorSettings.RebootProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A running janitor on a real API server, and the programs of its nodes. */
abstract class JanitorFixture {

    private final JanitorTimes times;

    TestFleet fleet;
    Workshop shop;
    KubeClient api;
    Running running;

    JanitorFixture(JanitorTimes times) {
        this.times = times;
    }

    @BeforeEach
    void start() {
        fleet = TestFleet.start();
        shop = new Workshop(fleet);
        api = fleet.asAggregator();
        running = Workshop.start(api, "one", RebootProvider.JOB, times);
    }

    @AfterEach
    void end() {
        if (running != null) {
            running.close();
            api.close();
            fleet.client.delete("lease/gpuwarden/gpuwarden-aggregator");
        }
        if (fleet != null) {
            shop.remove();
            fleet.close();
        }
    }
}
