package dev.konverge.bench;

import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.api.reconciler.Workflow;
import io.javaoperatorsdk.operator.api.reconciler.dependent.Dependent;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;

@Workflow(dependents = @Dependent(type = Child.class))
@ControllerConfiguration
public class Widgets implements Reconciler<Widget> {
  @Override
  public UpdateControl<Widget> reconcile(Widget widget, Context<Widget> context) {
    var name = widget.getMetadata().getName();
    var generation = widget.getMetadata().getGeneration();
    var conditions =
        List.of(condition(widget, "Ready", "True"), condition(widget, "Progressing", "False"), condition(widget, "Degraded", "False"));
    var status = new Widget.Status(widget.getSpec().value(), name, generation, conditions);
    if (status.equals(widget.getStatus())) return UpdateControl.noUpdate();
    // The status is applied: what is sent holds nothing that others own.
    var applied = new Widget();
    applied.setMetadata(
        new ObjectMetaBuilder().withName(name).withNamespace(widget.getMetadata().getNamespace()).build());
    applied.setStatus(status);
    return UpdateControl.patchStatus(applied);
  }

  private static Condition condition(Widget widget, String type, String value) {
    var earlier = Optional.ofNullable(widget.getStatus()).map(Widget.Status::conditions).orElse(List.of()).stream()
        .filter(one -> one.getType().equals(type) && one.getStatus().equals(value))
        .findAny();
    return new ConditionBuilder()
        .withType(type)
        .withStatus(value)
        .withReason("AsExpected")
        .withMessage("")
        .withObservedGeneration(widget.getMetadata().getGeneration())
        .withLastTransitionTime(
            earlier.map(Condition::getLastTransitionTime)
                .orElseGet(() -> Instant.now().truncatedTo(ChronoUnit.SECONDS).toString()))
        .build();
  }
}
