package suite;

import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.javaoperatorsdk.operator.api.config.informer.InformerEventSourceConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** An operator as people write it with the Java Operator SDK: it keeps a Deployment of each Beacon and reports its state. */
@ControllerConfiguration
public class BeaconReconciler implements Reconciler<Beacon> {
  @Override
  public UpdateControl<Beacon> reconcile(Beacon beacon, Context<Beacon> context) {
    Deployment desired = deployment(beacon);
    desired.addOwnerReference(beacon);
    Deployment applied = context.getClient().resource(desired).forceConflicts().serverSideApply();
    Integer ready = applied.getStatus() == null ? null : applied.getStatus().getReadyReplicas();
    BeaconStatus status = new BeaconStatus();
    status.setBurning(Optional.ofNullable(ready).orElse(0));
    beacon.setStatus(status);
    return UpdateControl.patchStatus(beacon);
  }

  @Override
  public List<EventSource<?, Beacon>> prepareEventSources(EventSourceContext<Beacon> context) {
    var deployments = InformerEventSourceConfiguration.from(Deployment.class, Beacon.class).build();
    return List.of(new InformerEventSource<>(deployments, context));
  }

  private static Deployment deployment(Beacon beacon) {
    Map<String, String> labels = Map.of("beacon", beacon.getMetadata().getName());
    return new DeploymentBuilder()
        .withNewMetadata()
        .withName(beacon.getMetadata().getName())
        .withNamespace(beacon.getMetadata().getNamespace())
        .endMetadata()
        .withNewSpec()
        .withReplicas(beacon.getSpec().getLamps())
        .withNewSelector()
        .withMatchLabels(labels)
        .endSelector()
        .withNewTemplate()
        .withNewMetadata()
        .withLabels(labels)
        .endMetadata()
        .withNewSpec()
        .addNewContainer()
        .withName("lamp")
        .withImage("example/lamp:1")
        .endContainer()
        .endSpec()
        .endTemplate()
        .endSpec()
        .build();
  }
}
