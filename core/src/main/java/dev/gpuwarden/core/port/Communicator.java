package dev.gpuwarden.core.port;

import java.nio.ByteBuffer;
import java.time.Duration;

/**
 * One rank of a group of GPUs, with a stream and memory of its GPU. All methods belong to the thread that joined.
 *
 * <p>Collectives are enqueued, and {@link #await} waits for them. Addresses are of the GPU, and counts are of elements. A call that throws
 * leaves the communicator unusable: only {@link #close} is permitted.
 */
public interface Communicator extends AutoCloseable {

    /** Returns the address of new memory, which {@link #close} frees. Its content is undefined. */
    long allocate(long bytes) throws CollectiveException;

    /** Fills memory with one byte, and waits until it is done. */
    void fill(long to, long bytes, byte value) throws CollectiveException;

    /** Copies the remaining bytes of a direct buffer to the GPU, and waits until it is done. */
    void write(long to, ByteBuffer from) throws CollectiveException;

    /** Copies from the GPU until the direct buffer has no room, and waits until it is done. */
    void read(long from, ByteBuffer to) throws CollectiveException;

    /**
     * Returns how many elements differ from a repeated pattern, bit by bit, by a kernel of the GPU, and waits for it. A second comparison,
     * for which the host makes one element wrong for that time, proves that the kernel sees. The first call compiles the kernel in the
     * calling thread, which needs a stack of some MiB.
     *
     * @param pattern address of the elements that repeat
     * @param position in the pattern of the first element; may be larger than the period
     * @throws CollectiveException NOT_SUPPORTED if the driver or the GPU is too old for the kernel, BLIND if the kernel missed the planted
     *     error; the communicator stays usable after both
     */
    long countWrong(long address, long count, ElementType type, long pattern, long position, long period)
            throws CollectiveException;

    /** Enqueues a copy within the GPU. */
    void copy(long to, long from, long bytes) throws CollectiveException;

    /** Begins a group: the operations up to {@link #endGroup} are one for the library. Groups nest. */
    void startGroup() throws CollectiveException;

    void endGroup() throws CollectiveException;

    /** @param operator of {@link ReduceOperator} or {@link #scaledSum} */
    void allReduce(long send, long receive, long count, ElementType type, int operator) throws CollectiveException;

    void allGather(long send, long receive, long sendCount, ElementType type) throws CollectiveException;

    void reduceScatter(long send, long receive, long receiveCount, ElementType type, int operator)
            throws CollectiveException;

    void broadcast(long send, long receive, long count, ElementType type, int root) throws CollectiveException;

    void reduce(long send, long receive, long count, ElementType type, int operator, int root)
            throws CollectiveException;

    void send(long from, long count, ElementType type, int peer) throws CollectiveException;

    void receive(long to, long count, ElementType type, int peer) throws CollectiveException;

    /**
     * Returns an operator that multiplies this rank's elements by a number before they are added.
     *
     * @param scalar one element of the type, in the machine's byte order
     */
    int scaledSum(byte[] scalar, ElementType type) throws CollectiveException;

    /** Gives an operator of {@link #scaledSum} back. */
    void release(int operator) throws CollectiveException;

    /** Registers memory with the library, which may then use it without copies, until {@link #close}. */
    void register(long address, long bytes) throws CollectiveException;

    /**
     * Registers memory of {@link #allocate} as a symmetric window until {@link #close}. All ranks call it, with buffers of the same size in the same
     * order.
     *
     * @throws CollectiveException NOT_SUPPORTED before version 2.27
     */
    void registerWindow(long address, long bytes) throws CollectiveException;

    /**
     * Waits until the stream is empty. An error of another rank ends the wait.
     *
     * @param limit after which the communicator is aborted and TIMEOUT is thrown; zero waits without limit
     */
    void await(Duration limit) throws CollectiveException;

    /**
     * Begins a capture: collectives and copies are recorded, and not run, until {@link #endCapture}. Only those calls are permitted in between,
     * and not on the default stream of a GPU.
     */
    void startCapture() throws CollectiveException;

    /** Ends the capture, and returns its operations as a graph. */
    long endCapture() throws CollectiveException;

    /** Enqueues all operations of a graph, as often as it is called. */
    void launch(long graph) throws CollectiveException;

    /** Frees a graph. None of its operations is running. */
    void discard(long graph) throws CollectiveException;

    /** Returns a mark of the GPU's clock; at most as many exist as are recorded at the same time. */
    long newMark() throws CollectiveException;

    /** Enqueues a mark. */
    void record(long mark) throws CollectiveException;

    /** Returns the time between two recorded marks, in seconds. */
    double seconds(long from, long to) throws CollectiveException;

    /** Returns the memory of the GPU that became used while this rank joined, in bytes. */
    long joiningBytes();

    /** Returns the free bytes of the GPU. */
    long freeBytes() throws CollectiveException;

    /** Frees everything. After a failure only memory whose use has certainly ended is freed. */
    @Override
    void close();
}
