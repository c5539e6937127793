package suite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.github.konverge.junit.KonvergeCluster;
import io.github.konverge.junit.KonvergeExtension;
import io.javaoperatorsdk.operator.Operator;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests as people write them, with the official clients and the extension, on the single executable. */
class BeaconOperatorTest {
  @RegisterExtension
  static final KonvergeExtension konverge = new KonvergeExtension("--nodes", "2", "--gpus", "none");

  static KubernetesClient client;

  @BeforeAll
  static void install(KonvergeCluster cluster) {
    Config config = Config.fromKubeconfig(cluster.kubeconfigText());
    // Other suites keep the machine busy at the same time.
    config.setConnectionTimeout(60_000);
    config.setRequestTimeout(60_000);
    client = new KubernetesClientBuilder().withConfig(config).build();
    CustomResourceDefinition definition =
        client.apiextensions().v1().customResourceDefinitions()
            .load(BeaconOperatorTest.class.getResourceAsStream("/beacons.yaml")).create();
    client.resource(definition).waitUntilCondition(
        found -> found != null && found.getStatus() != null && found.getStatus().getConditions().stream()
            .anyMatch(one -> one.getType().equals("Established") && one.getStatus().equals("True")),
        2, TimeUnit.MINUTES);
  }

  @AfterAll
  static void close() {
    client.close();
  }

  @Test
  void theOperatorLightsLampsChangesTheirNumberAndReplacesWhatIsDeleted() {
    Operator operator = new Operator(overrider -> overrider.withKubernetesClient(client).withCloseClientOnStop(false));
    operator.register(new BeaconReconciler());
    operator.start();
    try {
      Resource<Beacon> north = client.resource(beacon("north", 2));
      north.create();
      north.waitUntilCondition(burning(2), 2, TimeUnit.MINUTES);
      north.edit(one -> {
        one.getSpec().setLamps(3);
        return one;
      });
      north.waitUntilCondition(burning(3), 2, TimeUnit.MINUTES);

      Resource<Deployment> deployment = client.apps().deployments().inNamespace("default").withName("north");
      String first = deployment.get().getMetadata().getUid();
      deployment.delete();
      deployment.waitUntilCondition(
          found -> found != null && !found.getMetadata().getUid().equals(first), 2, TimeUnit.MINUTES);

      north.delete();
      deployment.waitUntilCondition(Objects::isNull, 2, TimeUnit.MINUTES);
    } finally {
      operator.stop();
    }
  }

  @Test
  void theSchemaOfTheKindIsEnforced() {
    var refused = assertThrows(KubernetesClientException.class, () -> client.resource(beacon("bright", 11)).create());
    assertEquals(422, refused.getCode());
    assertTrue(refused.getMessage().contains("should be less than or equal to 10"), refused.getMessage());
  }

  private static Predicate<Beacon> burning(int expected) {
    return one -> one != null && one.getStatus() != null && one.getStatus().getBurning() == expected;
  }

  private static Beacon beacon(String name, int lamps) {
    Beacon beacon = new Beacon();
    beacon.setMetadata(new ObjectMetaBuilder().withName(name).withNamespace("default").build());
    BeaconSpec spec = new BeaconSpec();
    spec.setLamps(lamps);
    beacon.setSpec(spec);
    return beacon;
  }
}
