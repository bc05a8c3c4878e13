package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.Hello;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.NodeReport.ReportCase;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * A kind of request in `NodeHealth`s, which nodes answer over their streams. All functions are thread-safe.
 *
 * @param text the answer in words, for the log, before the name of the node
 * @param sent outcome of a sent request in the metrics
 * @param most limit of open requests on a stream; where it is one, a newer request replaces the one before
 * @param supported returns whether the node with this Hello answers such requests
 * @param open returns the requests of a NodeHealth that have no answer
 * @param answers kind of the message that is an answer
 * @param id returns the id of the request that a message answers
 * @param read returns the answer in a message
 * @param unsupported returns the answer to the request with this id for a node that does not support it
 * @param writer writes an answer into the NodeHealth
 */
public record NodeRequestKind(
        String text,
        String sent,
        int most,
        Predicate<Hello> supported,
        Function<Map<String, Object>, List<OpenRequest>> open,
        ReportCase answers,
        Function<NodeReport, String> id,
        Function<NodeReport, Answer> read,
        Function<String, Answer> unsupported,
        Writer writer) {

    /** A request without an answer, with its message to the node. */
    public record OpenRequest(String id, Acknowledgement message) {}

    /**
     * The answer to a request.
     *
     * @param outcome the outcome in the metrics
     * @param tree its form in a NodeHealth
     */
    public record Answer(String id, String outcome, Map<String, Object> tree) {}

    /** A writer of answers. */
    public interface Writer {

        /** Returns whether the answer is stored; false if the request is not open any more. Blocks. */
        boolean write(String node, String id, Map<String, Object> answer) throws ApiException, InterruptedException;
    }
}
