package io.github.konverge.junit;

import java.util.List;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives tests an embedded Kubernetes cluster, as a parameter of type {@link KonvergeCluster}:
 *
 * <pre>{@code
 * @ExtendWith(KonvergeExtension.class)
 * class MyOperatorTest {
 *   @Test
 *   void reconciles(KonvergeCluster cluster) {
 *     Config config = Config.fromKubeconfig(cluster.kubeconfigText());
 *   }
 * }
 * }</pre>
 *
 * <p>Test classes that want the same options share one cluster, which ends with the test run: use namespaces to keep tests apart.
 */
public final class KonvergeExtension implements BeforeAllCallback, BeforeEachCallback, ParameterResolver {
  private static final ExtensionContext.Namespace CLUSTERS = ExtensionContext.Namespace.create(KonvergeExtension.class);

  private final List<String> args;
  private volatile KonvergeCluster cluster;

  /** With the defaults of {@code konverge up}. */
  public KonvergeExtension() {
    this(new String[0]);
  }

  /**
   * With options of {@code konverge up}: {@code @RegisterExtension static final KonvergeExtension konverge = new
   * KonvergeExtension("--nodes", "1");}
   */
  public KonvergeExtension(String... args) {
    this.args = List.of(args);
  }

  /** The cluster, once tests of the class run. */
  public KonvergeCluster cluster() {
    if (cluster == null) throw new IllegalStateException("there is no cluster yet: it starts before the tests of the class");
    return cluster;
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    cluster = shared(context);
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    cluster = shared(context);
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == KonvergeCluster.class;
  }

  @Override
  public KonvergeCluster resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return shared(context);
  }

  private KonvergeCluster shared(ExtensionContext context) {
    return context
        .getRoot()
        .getStore(CLUSTERS)
        .getOrComputeIfAbsent(args, all -> KonvergeCluster.start(all.toArray(new String[0])), KonvergeCluster.class);
  }
}
