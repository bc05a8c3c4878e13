package dev.gpuwarden.nat.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.gpuwarden.core.port.AbortSignal;
import dev.gpuwarden.core.port.CollectiveDriver;
import dev.gpuwarden.core.port.CollectiveDriver.Member;
import dev.gpuwarden.core.port.CollectiveException;
import dev.gpuwarden.core.port.CollectiveException.Kind;
import dev.gpuwarden.core.port.CollectiveOptions;
import dev.gpuwarden.core.port.CollectiveProvider;
import dev.gpuwarden.core.port.Communicator;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.port.ElementType;
import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.core.port.Opening.Opened;
import dev.gpuwarden.core.port.Opening.Reason;
import dev.gpuwarden.core.port.Opening.Unavailable;
import dev.gpuwarden.nat.sim.SimNode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NcclDriverTest {

    private static final Duration LONG = Duration.ofSeconds(20);

    @TempDir
    Path folder;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final AbortSignal abort = new AbortSignal();
    private SimNode node;

    @BeforeEach
    void start() {
        node = SimNode.of("550", folder).set("header.cuda_version", 12040);
    }

    @AfterEach
    void end() {
        threads.shutdownNow();
    }

    private Opening<CollectiveDriver> open() {
        CollectiveProvider provider =
                ServiceLoader.load(CollectiveProvider.class).findFirst().orElseThrow();
        List<String> paths = List.of(node.folder().toString());
        return provider.open(new CollectiveOptions(paths, new DriverOptions(paths, SamplerPath.AUTO)));
    }

    private CollectiveDriver driver() {
        Opening<CollectiveDriver> opening = open();
        assertThat(opening).as(opening.toString()).isInstanceOf(Opened.class);
        return ((Opened<CollectiveDriver>) opening).driver();
    }

    /** The work of a rank after it has joined. */
    private interface Part<T> {
        T play(Communicator communicator) throws CollectiveException;
    }

    private <T> Future<T> rank(CollectiveDriver driver, byte[] id, int rank, Duration deadline, Part<T> part) {
        return threads.submit(() -> {
            Member member = new Member(rank, rank, 2, id, deadline, false, abort);
            try (Communicator communicator = driver.join(member)) {
                return part.play(communicator);
            }
        });
    }

    private static CollectiveException failure(Future<?> rank) {
        try {
            throw new AssertionError("no failure but " + rank.get());
        } catch (ExecutionException e) {
            if (e.getCause() instanceof CollectiveException failure) {
                return failure;
            }
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static int[] sum(Communicator communicator, int mine) throws CollectiveException {
        ByteBuffer memory = ByteBuffer.allocateDirect(8).order(ByteOrder.nativeOrder());
        memory.putInt(0, mine).putInt(4, 10 * mine);
        long send = communicator.allocate(8);
        long receive = communicator.allocate(8);
        communicator.write(send, memory);
        communicator.allReduce(send, receive, 2, ElementType.INT32, 0);
        communicator.await(LONG);
        communicator.read(receive, memory);
        return new int[] {memory.getInt(0), memory.getInt(4)};
    }

    @Test
    void gpusHaveNameAndAddress() {
        CollectiveDriver driver = driver();
        assertThat(driver.version()).isEqualTo(22105);
        assertThat(driver.libraryPath())
                .isEqualTo(node.folder().resolve("libnccl.so.2").toString());
        CollectiveDriver.Gpu second = driver.gpu("1").orElseThrow();
        assertThat(second.name()).isEqualTo("NVIDIA H100 80GB HBM3");
        assertThat(second.pciAddress()).isEqualTo("0000:2b:00");
        assertThat(second.computeCapability()).isEqualTo(90);
        assertThat(driver.gpu(second.uuid())).contains(second);
        assertThat(driver.gpu("2")).isEmpty();
    }

    @Test
    void ranksAddTheirNumbers() throws Exception {
        CollectiveDriver driver = driver();
        byte[] id = driver.newUniqueId();
        Future<int[]> other = rank(driver, id, 1, LONG, communicator -> sum(communicator, 2));
        assertThat(rank(driver, id, 0, LONG, communicator -> sum(communicator, 1))
                        .get())
                .containsExactly(3, 30);
        assertThat(other.get()).containsExactly(3, 30);
    }

    /** Captures one sum, and launches it twice with other numbers. */
    private static List<Integer> sumsOfAGraph(Communicator communicator, int mine) throws CollectiveException {
        ByteBuffer memory = ByteBuffer.allocateDirect(4).order(ByteOrder.nativeOrder());
        long send = communicator.allocate(4);
        long receive = communicator.allocate(4);
        communicator.fill(receive, 4, (byte) 0);
        communicator.startCapture();
        communicator.allReduce(send, receive, 1, ElementType.INT32, 0);
        long graph = communicator.endCapture();
        communicator.read(receive, memory);
        List<Integer> sums = new ArrayList<>(List.of(memory.getInt(0)));
        for (int times = 1; times <= 2; times++) {
            communicator.write(send, memory.clear().putInt(0, times * mine));
            communicator.launch(graph);
            communicator.await(LONG);
            communicator.read(receive, memory.clear());
            sums.add(memory.getInt(0));
        }
        communicator.discard(graph);
        return sums;
    }

    @Test
    void graphRunsTheOperationsThatWereCaptured() throws Exception {
        CollectiveDriver driver = driver();
        byte[] id = driver.newUniqueId();
        Future<List<Integer>> other = rank(driver, id, 1, LONG, communicator -> sumsOfAGraph(communicator, 2));
        assertThat(rank(driver, id, 0, LONG, communicator -> sumsOfAGraph(communicator, 1))
                        .get())
                .containsExactly(0, 3, 6);
        assertThat(other.get()).containsExactly(0, 3, 6);
    }

    @Test
    void waitForAGraphWithoutItsPeerEndsByTheLimit() throws Exception {
        CollectiveDriver driver = driver();
        byte[] id = driver.newUniqueId();
        CountDownLatch over = new CountDownLatch(1);
        Future<Boolean> other = rank(driver, id, 1, LONG, communicator -> {
            long memory = communicator.allocate(8);
            communicator.startCapture();
            communicator.receive(memory, 1, ElementType.INT64, 0);
            communicator.discard(communicator.endCapture());
            return awaited(over);
        });
        Future<Integer> waiting = rank(driver, id, 0, LONG, communicator -> {
            long memory = communicator.allocate(8);
            communicator.startCapture();
            communicator.receive(memory, 1, ElementType.INT64, 1);
            communicator.launch(communicator.endCapture());
            communicator.await(Duration.ofMillis(200));
            return 0;
        });
        assertThat(failure(waiting).kind()).isEqualTo(Kind.TIMEOUT);
        over.countDown();
        other.get();
    }

    private static boolean awaited(CountDownLatch latch) {
        try {
            return latch.await(20, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Test
    void aMissingRankEndsTheJoiningAtItsDeadline() throws Exception {
        CollectiveDriver driver = driver();
        CollectiveException failure =
                failure(rank(driver, driver.newUniqueId(), 0, Duration.ofMillis(300), communicator -> 0));
        assertThat(failure.kind()).isEqualTo(Kind.TIMEOUT);
        assertThat(failure).hasMessage("rank 0: ncclCommInitRankConfig is not done after 300 ms");
    }

    @Test
    void aRequestAbortsAWaitAndALaterJoining() throws Exception {
        CollectiveDriver driver = driver();
        byte[] id = driver.newUniqueId();
        Future<Integer> other = rank(driver, id, 1, LONG, communicator -> {
            communicator.receive(communicator.allocate(8), 1, ElementType.INT64, 0);
            return 1;
        });
        Future<Integer> waiting = rank(driver, id, 0, LONG, communicator -> {
            long memory = communicator.allocate(8);
            abort.request();
            communicator.receive(memory, 1, ElementType.INT64, 1);
            return 0;
        });
        // The rank that aborts first leaves the other one without a peer.
        assertThat(List.of(failure(waiting).kind(), failure(other).kind()))
                .contains(Kind.ABORTED)
                .isSubsetOf(Kind.ABORTED, Kind.COLLECTIVES);
        Future<Integer> joining = rank(driver, driver.newUniqueId(), 0, LONG, communicator -> 0);
        assertThat(failure(joining).kind()).isEqualTo(Kind.ABORTED);
    }

    @Test
    void anErrorNamesRankFunctionResultAndCause() throws Exception {
        // Without a GPU the error is that of both, and the later rank sees the end of the other one.
        node.error(0, "ncclAllReduce", 3).set("fault[0].gpu", 0);
        CollectiveDriver driver = driver();
        byte[] id = driver.newUniqueId();
        Future<int[]> other = rank(driver, id, 1, LONG, communicator -> sum(communicator, 2));
        CollectiveException failure = failure(rank(driver, id, 0, LONG, communicator -> sum(communicator, 1)));
        CollectiveException remote = failure(other);
        assertThat(failure.getMessage())
                .as("the other rank: %s", remote)
                .startsWith("rank 0: ncclAllReduce answered 3 (internal error")
                .contains("NCCL_DEBUG=WARN", "planned error");
        assertThat(failure.kind()).isEqualTo(Kind.COLLECTIVES);
        assertThat(failure.code()).isEqualTo(3);
        assertThat(remote.code()).isEqualTo(6);
        node.heal(0);
    }

    @Test
    void memoryThatIsNotThereIsAnErrorOfCuda() throws Exception {
        CollectiveDriver driver = driver();
        byte[] id = driver.newUniqueId();
        Future<Long> other = rank(driver, id, 1, LONG, Communicator::freeBytes);
        CollectiveException failure =
                failure(rank(driver, id, 0, LONG, communicator -> communicator.allocate(1L << 40)));
        assertThat(failure.code()).isEqualTo(1);
        assertThat(failure.getMessage()).contains("ncclMemAlloc", "out of memory");
        assertThat(other.get()).isPositive();
    }

    /** Seven elements on the GPU, whose third one is wrong, and a pattern of three. */
    private static long countWrong(Communicator communicator) throws CollectiveException {
        ByteBuffer memory = ByteBuffer.allocateDirect(28).order(ByteOrder.nativeOrder());
        for (int i = 0; i < 7; i++) {
            memory.putInt(4 * i, i == 2 ? -1 : 100 + (5 + i) % 3);
        }
        long seen = communicator.allocate(28);
        communicator.write(seen, memory);
        long pattern = communicator.allocate(12);
        memory.putInt(0, 100).putInt(4, 101).putInt(8, 102).limit(12);
        communicator.write(pattern, memory);
        return communicator.countWrong(seen, 7, ElementType.INT32, pattern, 5, 3);
    }

    private Future<Long> alone(CollectiveDriver driver, Part<Long> part) throws CollectiveException {
        byte[] id = driver.newUniqueId();
        return threads.submit(() -> {
            try (Communicator communicator = driver.join(new Member(0, 0, 1, id, LONG, false, abort))) {
                return part.play(communicator);
            }
        });
    }

    @Test
    void gpuCountsElementsThatDifferFromAPattern() throws Exception {
        assertThat(alone(driver(), NcclDriverTest::countWrong).get()).isEqualTo(1);
    }

    /** A kernel that counts nothing would find all data right. */
    @Test
    void aComparisonThatMissesAPlantedErrorIsNoResult() throws Exception {
        CollectiveDriver driver = driver();
        node.set("gpu[0].wrong_pattern", "WRONG_NOTHING").set("gpu[0].wrong_kernel", "compare_pattern");
        Future<Long> counted = alone(driver, communicator -> {
            CollectiveException blind = catchThrowableOfType(CollectiveException.class, () -> countWrong(communicator));
            assertThat(blind.kind()).isEqualTo(Kind.BLIND);
            assertThat(blind.getMessage()).startsWith("GPU 0: compare_pattern found 0 of 7 elements wrong");
            node.set("gpu[0].wrong_pattern", "WRONG_NONE");
            return countWrong(communicator);
        });
        assertThat(counted.get()).isEqualTo(1);
    }

    @Test
    void oldDriverCannotCountAndTheCommunicatorStaysUsable() throws Exception {
        CollectiveDriver driver = driver();
        node.error(0, "cuModuleLoadData", 222);
        Future<Long> counted = alone(driver, communicator -> {
            CollectiveException refused =
                    catchThrowableOfType(CollectiveException.class, () -> countWrong(communicator));
            assertThat(refused.kind()).isEqualTo(Kind.NOT_SUPPORTED);
            node.heal(0);
            return countWrong(communicator);
        });
        assertThat(counted.get()).isEqualTo(1);
    }

    @Test
    void anOldLibraryIsUnusable() {
        node.set("header.nccl_version", 21701);
        assertThat(open()).isInstanceOfSatisfying(Unavailable.class, none -> {
            assertThat(none.reason()).isEqualTo(Reason.LIBRARY_UNUSABLE);
            assertThat(none.detail()).contains("21701", "2.18");
        });
    }

    @Test
    void anUnknownRankIsAWrongArgument() throws CollectiveException {
        CollectiveDriver driver = driver();
        byte[] id = driver.newUniqueId();
        assertThatThrownBy(() -> driver.join(new Member(0, 5, 2, id, LONG, false, abort)))
                .isInstanceOfSatisfying(
                        CollectiveException.class,
                        failure -> assertThat(failure.code()).isEqualTo(4));
    }
}
