package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.breaker.Breaker;
import dev.gpuwarden.aggregator.breaker.BreakerState;

/** Where the breaker's state is kept, and its nodes are counted. One who asks holds the gate until it has kept the answer. */
public interface BreakerGate {

    /** What the breaker says of this node now. Changes nothing. */
    Breaker.Answer ask(NodeRead node);

    /** Blocks until the state is where a restart finds it. */
    void keep(BreakerState next);
}
