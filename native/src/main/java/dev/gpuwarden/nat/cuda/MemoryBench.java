package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.compute.ExpectedElements;
import dev.gpuwarden.core.compute.HostDigest;
import dev.gpuwarden.core.compute.MemoryPattern;
import dev.gpuwarden.core.compute.MemoryResult;
import dev.gpuwarden.core.compute.MemoryResult.PatternResult;
import dev.gpuwarden.core.compute.MemoryWork;
import dev.gpuwarden.core.compute.Rates;
import dev.gpuwarden.core.compute.Verification;
import dev.gpuwarden.core.model.Absence;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SplittableRandom;
import java.util.function.LongUnaryOperator;
import java.util.random.RandomGenerator;

/**
 * A test of memory (pattern.cu). All pieces hold a pattern before the first one is verified, so that a write to one piece that changes
 * another shows. In one piece of each pattern, chosen at random, the host plants an error before the comparison, and computes a digest.
 */
final class MemoryBench implements CudaContext.Work<MemoryResult> {

    private static final long ALTERNATING = 0x5555555555555555L;

    private final MemoryWork work;
    private final Rendezvous start;
    private final StopSignal stop;
    private final RandomGenerator random = new SplittableRandom();

    MemoryBench(MemoryWork work, Rendezvous start, StopSignal stop) {
        this.work = work;
        this.start = start;
        this.stop = stop;
    }

    @Override
    public MemoryResult run(CudaLibrary library) throws CudaException {
        try (Resources resources = new Resources(library)) {
            return tested(resources);
        }
    }

    private MemoryResult tested(Resources resources) throws CudaException {
        Workspace space = new Workspace(resources);
        KernelModule module = new KernelModule(resources, "pattern");
        Kernel fill = space.kernel(module, "pattern_fill");
        Kernel verify = space.kernel(module, "pattern_verify");
        ErrorPlanter planter = new ErrorPlanter(resources, space.stream(), random);
        HostWitness witness = new HostWitness(resources, space, words(), random);
        long free = resources.freeBytes();
        List<Piece> pieces = pieces(resources, free);
        start.arriveAndWait();
        List<PatternResult> results = new ArrayList<>();
        for (MemoryPattern pattern : work.patterns()) {
            if (stop.isSet()) {
                break;
            }
            results.add(tested(space, pattern, pieces, fill, verify, planter, witness));
        }
        long bytes = pieces.size() * work.pieceBytes();
        boolean complete = results.size() == work.patterns().size()
                && results.stream().allMatch(result -> result.verification().elements() == bytes / Long.BYTES);
        return new MemoryResult(bytes, free, complete, results);
    }

    /** A part of the memory under test, and the SMs of its blocks. */
    private record Piece(long address, long sm) {}

    /** Takes memory until the share is reached, or others have left no more than the reserve. */
    private List<Piece> pieces(Resources resources, long free) throws CudaException {
        int count = work.pieces(free);
        List<Piece> pieces = new ArrayList<>();
        long sms = count == 0 ? 0 : resources.memory(Long.BYTES * Workspace.blocks(words()) * count);
        while (pieces.size() < count
                && !stop.isSet()
                && resources.freeBytes() - work.pieceBytes() >= work.reserveBytes()) {
            try {
                long sm = sms + Long.BYTES * Workspace.blocks(words()) * pieces.size();
                pieces.add(new Piece(resources.memory(work.pieceBytes()), sm));
            } catch (CudaException e) {
                if (e.result() != CudaResult.OUT_OF_MEMORY || pieces.isEmpty()) {
                    throw e;
                }
                break;
            }
        }
        if (pieces.isEmpty()) {
            stop.check();
            throw new NoResult(
                    Absence.NO_DATA,
                    "no piece of " + work.pieceBytes() + " bytes fits: " + free + " bytes are free, of which "
                            + work.reserveBytes() + " are reserved");
        }
        return pieces;
    }

    private long words() {
        return work.pieceBytes() / Long.BYTES;
    }

    private PatternResult tested(
            Workspace space,
            MemoryPattern pattern,
            List<Piece> pieces,
            Kernel fill,
            Kernel verify,
            ErrorPlanter planter,
            HostWitness witness)
            throws CudaException {
        long blocks = Workspace.blocks(words());
        double filling = 0;
        int filled = 0;
        for (; filled < pieces.size() && !stop.isSet(); filled++) {
            Piece piece = pieces.get(filled);
            long value = value(pattern, piece, filled);
            filling += space.stopwatch()
                    .seconds(() -> fill.launch(
                            blocks,
                            piece.address(),
                            words(),
                            Workspace.PER_BLOCK,
                            pattern.ordinal(),
                            value,
                            piece.sm()));
        }
        double[] verifying = {0};
        int verified = 0;
        int chosen = random.nextInt(pieces.size());
        Verification verification = Verification.NOTHING;
        Optional<HostDigest> digest = Optional.empty();
        for (; verified < filled && !stop.isSet(); verified++) {
            Piece piece = pieces.get(verified);
            long value = value(pattern, piece, verified);
            long firstIndex = verified * words();
            ErrorPlanter.Comparison<Verification> comparison = () -> {
                space.report().clear();
                verifying[0] += space.stopwatch()
                        .seconds(() -> verify.launch(
                                blocks,
                                piece.address(),
                                words(),
                                Workspace.PER_BLOCK,
                                pattern.ordinal(),
                                value,
                                piece.sm(),
                                Workspace.PER_BLOCK,
                                Workspace.PER_BLOCK,
                                1,
                                space.report().address()));
                return space.report().read(words(), firstIndex);
            };
            if (verified != chosen) {
                verification = verification.and(comparison.run());
                continue;
            }
            LongUnaryOperator expected = ExpectedElements.words(pattern, value);
            ErrorPlanter.Elements elements =
                    new ErrorPlanter.Elements(piece.address(), Long.BYTES, words(), Workspace.PER_BLOCK, firstIndex);
            verification = verification.and(planter.compared(elements, expected, comparison));
            digest = Optional.of(witness.of(piece.address(), expected));
        }
        return new PatternResult(pattern, rate(filled, filling), rate(verified, verifying[0]), verification, digest);
    }

    private OptionalDouble rate(int pieces, double seconds) {
        double rate = pieces * (double) work.pieceBytes() / seconds;
        if (pieces > 0 && !Rates.isPlausibleMemory(rate, OptionalDouble.empty(), work.pieceBytes())) {
            throw new NoResult(Absence.IMPLAUSIBLE, rate + " bytes a second");
        }
        return pieces > 0 ? OptionalDouble.of(rate) : OptionalDouble.empty();
    }

    private long value(MemoryPattern pattern, Piece piece, int index) {
        return switch (pattern) {
            case CONSTANT -> ALTERNATING;
            case WALKING -> 1;
            case ADDRESS -> piece.address();
            case RANDOM -> work.seed() + index * words();
        };
    }
}
