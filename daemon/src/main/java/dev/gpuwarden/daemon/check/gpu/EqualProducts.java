package dev.gpuwarden.daemon.check.gpu;

import dev.gpuwarden.core.compute.Digest;
import dev.gpuwarden.core.compute.EqualBoard;
import dev.gpuwarden.core.compute.EqualWork;
import dev.gpuwarden.core.compute.EqualWork.Part;
import dev.gpuwarden.core.compute.ProductResult;
import dev.gpuwarden.core.compute.ResultVerdict;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.util.List;
import java.util.Optional;

/** The verdict on one GPU's product by the closed form. */
final class EqualProducts {

    private static final EqualBoard ANY =
            new EqualBoard("", Reading.absent(Absence.OFF), Reading.absent(Absence.OFF), Reading.absent(Absence.OFF));

    private EqualProducts() {}

    /** Returns the verdict by the comparisons that the GPU made itself. */
    static ResultVerdict judge(String what, Reading<ProductResult> product) {
        return EqualWork.judge(List.of(new Part(what, ANY, product)), Optional.empty())
                .get(0);
    }

    /** Returns the verdict that also compares the digest of the product's bits. */
    static ResultVerdict judge(String what, ProductResult product, Digest expected) {
        return EqualWork.judge(List.of(new Part(what, ANY, Reading.of(product))), Optional.of(expected))
                .get(0);
    }
}
