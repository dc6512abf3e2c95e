package dev.pgapply.bench;

import java.util.ArrayList;
import java.util.List;

/// Measures pgapply against the server's own subscription.
///
/// ```
/// bench/run [--scale 1] [--rounds 3] [--seconds 20] [--only-ours] [workload …]
/// ```
///
/// Without a workload all of them and `latency`; `pgbench*` stands for all that begin so.
public final class Bench {

    private Bench() {}

    public static void main(String[] arguments) throws Exception {
        double scale = 1;
        int rounds = 3;
        int seconds = 20;
        boolean oursOnly = false;
        List<String> wanted = new ArrayList<>();
        for (int i = 0; i < arguments.length; i++) {
            switch (arguments[i]) {
                case "--scale" -> scale = Double.parseDouble(arguments[++i]);
                case "--rounds" -> rounds = Integer.parseInt(arguments[++i]);
                case "--seconds" -> seconds = Integer.parseInt(arguments[++i]);
                case "--only-ours" -> oursOnly = true;
                default -> wanted.add(arguments[i]);
            }
        }
        try (BenchServers servers = BenchServers.start()) {
            DrainBench.printHead();
            for (Workload workload : Workload.all(scale)) {
                if (isWanted(workload.name(), wanted)) {
                    new DrainBench(servers, oursOnly).measure(workload, rounds);
                }
            }
            if (isWanted("latency", wanted)) {
                new LatencyBench(servers, seconds).measure();
            }
        }
    }

    private static boolean isWanted(String name, List<String> wanted) {
        return wanted.isEmpty()
                || wanted.stream()
                        .anyMatch(one -> one.endsWith("*")
                                ? name.startsWith(one.substring(0, one.length() - 1))
                                : name.equals(one));
    }
}
