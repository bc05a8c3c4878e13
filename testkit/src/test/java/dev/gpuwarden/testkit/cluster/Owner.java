package dev.gpuwarden.testkit.cluster;

import java.io.IOException;
import java.nio.file.Path;

/** A Java process that runs a control plane in the folder it is given, until it is killed. */
final class Owner {

    private Owner() {}

    public static void main(String[] arguments) throws IOException {
        ControlPlane plane = ControlPlane.start(Path.of(arguments[0]));
        System.out.println(plane.url());
        System.in.read();
    }
}
