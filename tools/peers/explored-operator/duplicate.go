package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// Each widget has one pod, which is found by its label.
//
// The mistake: the name of the pod is generated, and whether there is one is read from the cache. If the cache does not
// show the pod yet when the widget's own status update triggers the next reconcile, a second one is created.
type duplicateReconciler struct {
	client.Client
	fixed bool
}

func duplicateVariant(c client.Client, fixed bool) variant {
	return variant{reconciler: &duplicateReconciler{c, fixed}, owns: &corev1.Pod{}}
}

func (r *duplicateReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	widget := &Widget{}
	if err := r.Get(ctx, req.NamespacedName, widget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	pods := &corev1.PodList{}
	labels := client.MatchingLabels{"widget": widget.Name}
	if err := r.List(ctx, pods, client.InNamespace(widget.Namespace), labels); err != nil {
		return ctrl.Result{}, err
	}
	if len(pods.Items) == 0 {
		if err := r.createPod(ctx, widget, labels); err != nil {
			return ctrl.Result{}, err
		}
	}
	if widget.Status.Phase == "Running" && widget.Status.Observed == widget.Generation {
		return ctrl.Result{}, nil
	}
	widget.Status = WidgetStatus{Phase: "Running", Observed: widget.Generation}
	return ctrl.Result{}, r.Status().Update(ctx, widget)
}

func (r *duplicateReconciler) createPod(ctx context.Context, widget *Widget, labels map[string]string) error {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: widget.Namespace, Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "widget:1"}}},
	}
	if r.fixed {
		// There cannot be two of one name, whatever the cache shows.
		pod.Name = widget.Name
	} else {
		pod.GenerateName = widget.Name + "-"
	}
	if err := controllerutil.SetControllerReference(widget, pod, r.Scheme()); err != nil {
		return err
	}
	return client.IgnoreAlreadyExists(r.Create(ctx, pod))
}
