package dev.konverge.bench;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.api.reconciler.Workflow;
import io.javaoperatorsdk.operator.api.reconciler.dependent.Dependent;

@Workflow(dependents = @Dependent(type = Child.class))
@ControllerConfiguration
public class Widgets implements Reconciler<Widget> {
  @Override
  public UpdateControl<Widget> reconcile(Widget widget, Context<Widget> context) {
    var name = widget.getMetadata().getName();
    var status = new Widget.Status(widget.getSpec().value(), name);
    if (status.equals(widget.getStatus())) return UpdateControl.noUpdate();
    // The status is applied: what is sent holds nothing that others own.
    var applied = new Widget();
    applied.setMetadata(
        new ObjectMetaBuilder().withName(name).withNamespace(widget.getMetadata().getNamespace()).build());
    applied.setStatus(status);
    return UpdateControl.patchStatus(applied);
  }
}
