package dev.gpuwarden.core.compute;

import dev.gpuwarden.core.compute.ProductResult.Round;
import dev.gpuwarden.core.model.Reading;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The comparison of GPUs that computed the same product. The digest of a right product decides, which the host computes without a GPU; if
 * there is none, the majority of equal boards. Pure.
 */
public final class EqualWork {

    /** Fewer GPUs with a result have no majority that names one of them. */
    private static final int LEAST_FOR_MAJORITY = 3;

    private EqualWork() {}

    /** One GPU's result. */
    public record Part(String gpu, EqualBoard board, Reading<ProductResult> result) {}

    /**
     * Returns a verdict for each GPU, in their order.
     *
     * @param expected the digest of the right product; empty if there is no closed form for it
     */
    public static List<ResultVerdict> judge(List<Part> parts, Optional<Digest> expected) {
        return parts.stream().map(part -> judge(part, parts, expected)).toList();
    }

    private static ResultVerdict judge(Part part, List<Part> parts, Optional<Digest> expected) {
        if (part.result() instanceof Reading.Absent<ProductResult> why) {
            return ResultVerdict.absent(part.gpu(), why);
        }
        ProductResult result = part.result().asOptional().orElseThrow();
        Optional<Digest> right = expected.or(() -> majority(part.board(), parts));
        List<Round> wrong = result.rounds().stream()
                .filter(round -> round.verification().hasWrong()
                        || right.isPresent() && !round.digest().equals(right.get()))
                .toList();
        if (!wrong.isEmpty()) {
            return ResultVerdict.wrong(
                    part.gpu(), wrong.size(), text(result, wrong.get(0), right, expected.isPresent()));
        }
        return right.isPresent() || !differs(part, parts)
                ? ResultVerdict.notWrong(
                        part.gpu(),
                        result.verification().planted(),
                        result.rounds().size() + " products are right")
                : ResultVerdict.undecided(
                        part.gpu(),
                        "its product differs from that of an equal board, and no majority decides which is right");
    }

    private static String text(ProductResult result, Round wrong, Optional<Digest> right, boolean closedForm) {
        String which = "round " + (result.rounds().indexOf(wrong) + 1) + " of "
                + result.rounds().size() + ": ";
        boolean sameDigest = right.isPresent() && wrong.digest().equals(right.get());
        if (wrong.verification().hasWrong()) {
            return which
                    + WrongResults.describe(wrong.verification())
                    + (sameDigest ? "; the product's digest is right, so the GPU's comparison is wrong" : "");
        }
        return which + "the product's digest is " + wrong.digest() + ", but "
                + (closedForm ? "the closed form's" : "that of most equal boards") + " is "
                + right.map(Digest::toString).orElse("not known")
                + "; the GPU's own comparison found no wrong element";
    }

    /** Returns the digest of more than half of the equal boards' rounds. */
    private static Optional<Digest> majority(EqualBoard board, List<Part> parts) {
        List<ProductResult> results = parts.stream()
                .filter(part -> part.board().equals(board))
                .flatMap(part -> part.result().asOptional().stream())
                .toList();
        Map<Digest, Integer> votes = new HashMap<>();
        results.forEach(result -> usual(result).ifPresent(digest -> votes.merge(digest, 1, Integer::sum)));
        return results.size() < LEAST_FOR_MAJORITY
                ? Optional.empty()
                : votes.entrySet().stream()
                        .filter(vote -> 2 * vote.getValue() > results.size())
                        .map(Map.Entry::getKey)
                        .findFirst();
    }

    /** Returns the digest of more than half of one GPU's rounds: a GPU has one vote. */
    private static Optional<Digest> usual(ProductResult result) {
        Map<Digest, Integer> counts = new HashMap<>();
        result.rounds().forEach(round -> counts.merge(round.digest(), 1, Integer::sum));
        return counts.entrySet().stream()
                .filter(count -> 2 * count.getValue() > result.rounds().size())
                .map(Map.Entry::getKey)
                .findFirst();
    }

    private static boolean differs(Part part, List<Part> parts) {
        return parts.stream()
                        .filter(other -> other.board().equals(part.board()))
                        .flatMap(other -> other.result().asOptional().stream())
                        .flatMap(result -> result.rounds().stream())
                        .map(Round::digest)
                        .distinct()
                        .count()
                > 1;
    }
}
