package dev.gpuwarden.benchmarks;

import dev.gpuwarden.core.process.CgroupPath;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** The read of one `/proc/PID/cgroup`, once a minute for each process that holds a GPU. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
@Fork(
        value = 2,
        jvmArgsAppend = {"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx48m"})
@Warmup(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
public class CgroupPathBenchmark {

    private static final String POD = "3f9d2c1e_8a47_4b1c_9e55_0d6f7a8b9c10";
    private static final String ID = "9c1e5b7a".repeat(8);
    private static final String POD_PATH = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + POD
            + ".slice/cri-containerd-" + ID + ".scope";

    /** The most frequent forms, and the worst one: every hierarchy of version 1, none of which names an owner. */
    public enum Form {
        POD_V2("0::" + POD_PATH + "\n"),
        POD_V1("12:pids:" + POD_PATH + "\n5:memory:" + POD_PATH + "\n1:name=systemd:" + POD_PATH + "\n"),
        DOCKER("0::/system.slice/docker-" + ID + ".scope\n"),
        UNIT("0::/system.slice/jupyter.service\n"),
        HOSTILE(("3:cpu:" + "/kubepods-".repeat(300) + "\n").repeat(12));

        private final String text;

        Form(String text) {
            this.text = text;
        }
    }

    @Param
    Form form = Form.POD_V2;

    @Benchmark
    public CgroupPath parse() {
        return CgroupPath.parse(form.text);
    }
}
