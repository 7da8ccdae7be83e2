import edu.mit.csail.sdg.alloy4.A4Reporter;
import edu.mit.csail.sdg.ast.Command;
import edu.mit.csail.sdg.parser.CompModule;
import edu.mit.csail.sdg.parser.CompUtil;
import edu.mit.csail.sdg.translator.A4Options;
import edu.mit.csail.sdg.translator.A4Solution;
import edu.mit.csail.sdg.translator.TranslateAlloyToKodkod;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import kodkod.engine.satlab.SATFactory;

/**
 * Answers every command of the given models with the Alloy Analyzer and prints one line for each:
 * file, index, verdict, CPU milliseconds of translation and solving, wall milliseconds.
 *
 * Usage: java -cp alloy.jar AlloyTimes.java SECONDS FILE...
 */
public class AlloyTimes {
    public static void main(String[] args) throws Exception {
        long limit = Long.parseLong(args[0]);
        for (int i = 1; i < args.length; i++) {
            String file = args[i];
            CompModule module;
            try {
                module = CompUtil.parseEverything_fromFile(A4Reporter.NOP, null, file);
            } catch (Throwable error) {
                System.err.println(file + ": " + error);
                System.out.println(file + "\t-1\terror\t0\t0");
                continue;
            }
            List<Command> commands = module.getAllCommands();
            for (int index = 0; index < commands.size(); index++) {
                Command command = commands.get(index);
                A4Options options = new A4Options();
                options.solver = SATFactory.find("sat4j").get();
                options.symmetry = 20;
                options.skolemDepth = 1;
                options.noOverflow = Boolean.getBoolean("noOverflow");
                long[] cpu = new long[1];
                ExecutorService executor = Executors.newSingleThreadExecutor(work -> {
                    Thread thread = new Thread(null, work, "solve", 1L << 29);
                    thread.setDaemon(true);
                    return thread;
                });
                long start = System.nanoTime();
                Future<String> answer = executor.submit(() -> {
                    var threads = ManagementFactory.getThreadMXBean();
                    long before = threads.getCurrentThreadCpuTime();
                    A4Solution solution = TranslateAlloyToKodkod.execute_command(
                        A4Reporter.NOP, module.getAllReachableSigs(), command, options);
                    String verdict = solution.satisfiable() ? "sat" : "unsat";
                    cpu[0] = threads.getCurrentThreadCpuTime() - before;
                    return verdict;
                });
                String verdict;
                try {
                    verdict = answer.get(limit, TimeUnit.SECONDS);
                } catch (TimeoutException late) {
                    verdict = "timeout";
                } catch (Throwable error) {
                    verdict = "error";
                }
                executor.shutdownNow();
                double wall = (System.nanoTime() - start) / 1e6;
                System.out.printf("%s\t%d\t%s\t%.1f\t%.1f%n", file, index, verdict, cpu[0] / 1e6, wall);
                System.out.flush();
            }
        }
        System.exit(0);
    }
}
