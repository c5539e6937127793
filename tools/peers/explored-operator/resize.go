package main

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

const sizeAnnotation = "explored.example.com/size"

// The StatefulSet is deleted and created again to change its size, and what it stores is resized in between: here a
// ConfigMap stands for the volume.
//
// The mistake: whether the volume has to be resized is inferred from the StatefulSet alone. After a crash between the
// deletion and the resize there is none, so a new one is created with the new size, and the volume keeps the old one.
type resizeReconciler struct {
	client.Client
	fixed bool
}

func resizeVariant(c client.Client, fixed bool) variant {
	return variant{reconciler: &resizeReconciler{c, fixed}, owns: &appsv1.StatefulSet{}}
}

func (r *resizeReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	widget := &Widget{}
	if err := r.Get(ctx, req.NamespacedName, widget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	size := fmt.Sprint(widget.Spec.Size)
	if r.fixed {
		// The volume is compared itself, and before anything is deleted.
		if err := r.resizeVolume(ctx, widget, size); err != nil {
			return ctrl.Result{}, err
		}
	}
	set := &appsv1.StatefulSet{}
	err := r.Get(ctx, req.NamespacedName, set)
	switch {
	case apierrors.IsNotFound(err):
		if err := r.createVolume(ctx, widget, size); err != nil {
			return ctrl.Result{}, err
		}
		return ctrl.Result{}, r.createSet(ctx, widget, size)
	case err != nil:
		return ctrl.Result{}, err
	case set.DeletionTimestamp != nil || set.Annotations[sizeAnnotation] == size:
		return ctrl.Result{}, nil
	}
	if err := r.Delete(ctx, set); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	return ctrl.Result{}, r.resizeVolume(ctx, widget, size)
}

func (r *resizeReconciler) createVolume(ctx context.Context, widget *Widget, size string) error {
	volume := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: widget.Name + "-volume", Namespace: widget.Namespace},
		Data:       map[string]string{"size": size},
	}
	if err := controllerutil.SetControllerReference(widget, volume, r.Scheme()); err != nil {
		return err
	}
	return client.IgnoreAlreadyExists(r.Create(ctx, volume))
}

func (r *resizeReconciler) resizeVolume(ctx context.Context, widget *Widget, size string) error {
	volume := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: widget.Namespace, Name: widget.Name + "-volume"}
	if err := r.Get(ctx, key, volume); err != nil {
		return client.IgnoreNotFound(err)
	}
	if volume.Data["size"] == size {
		return nil
	}
	volume.Data = map[string]string{"size": size}
	return r.Update(ctx, volume)
}

func (r *resizeReconciler) createSet(ctx context.Context, widget *Widget, size string) error {
	labels := map[string]string{"widget": widget.Name}
	set := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{
			Name:        widget.Name,
			Namespace:   widget.Namespace,
			Annotations: map[string]string{sizeAnnotation: size},
		},
		Spec: appsv1.StatefulSetSpec{
			ServiceName: widget.Name,
			Selector:    &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "widget:1"}}},
			},
		},
	}
	if err := controllerutil.SetControllerReference(widget, set, r.Scheme()); err != nil {
		return err
	}
	return client.IgnoreAlreadyExists(r.Create(ctx, set))
}
