package dev.konverge.bench;

import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.javaoperatorsdk.operator.Operator;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** The operator of bench/operator/workload.ts on the Java Operator SDK: a dependent resource and a reconciler for the status. */
public final class Main {
  public static void main(String[] arguments) {
    if (arguments.length > 1 && arguments[0].equals("cache")) {
      cache(Integer.parseInt(arguments[1]));
      return;
    }
    var operator = new Operator(overrider -> overrider.withConcurrentReconciliationThreads(10));
    operator.register(new Widgets());
    operator.installShutdownHook(Duration.ofSeconds(1));
    operator.start();
  }

  private static void cache(int count) {
    var client = new KubernetesClientBuilder().build();
    var informer = client.configMaps().inAnyNamespace().inform();
    var size = informer.getStore().list().size();
    if (size < count) throw new IllegalStateException("there are only " + size + " objects");
    System.out.println("cached");
    // The threads of an informer do not keep a process alive.
    LockSupport.park();
  }
}
