package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Each widget has a ConfigMap with its size, and reports when that is up to date.
//
// The mistake: an error of the status update is logged and forgotten. Nothing triggers another reconcile, so the phase
// stays what it was.
type statusReconciler struct {
	client.Client
	fixed bool
}

func statusVariant(c client.Client, fixed bool) variant {
	return variant{reconciler: &statusReconciler{c, fixed}, owns: &corev1.ConfigMap{}}
}

func (r *statusReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	widget := &Widget{}
	if err := r.Get(ctx, req.NamespacedName, widget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: widget.Name, Namespace: widget.Namespace}}
	result, err := controllerutil.CreateOrUpdate(ctx, r.Client, config, func() error {
		config.Data = map[string]string{"size": fmt.Sprint(widget.Spec.Size)}
		return controllerutil.SetControllerReference(widget, config, r.Scheme())
	})
	// What was written comes back as an event, which triggers the next reconcile.
	if err != nil || result != controllerutil.OperationResultNone {
		return ctrl.Result{}, err
	}
	if widget.Status.Phase == "Ready" && widget.Status.Observed == widget.Generation {
		return ctrl.Result{}, nil
	}
	widget.Status = WidgetStatus{Phase: "Ready", Observed: widget.Generation}
	if err := r.Status().Update(ctx, widget); err != nil {
		if r.fixed {
			return ctrl.Result{}, err
		}
		log.FromContext(ctx).Error(err, "the status could not be updated")
	}
	return ctrl.Result{}, nil
}
