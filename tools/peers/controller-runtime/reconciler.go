package main

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	applymeta "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
)

const (
	finalizer  = "peers.example.com/farewell"
	fieldOwner = "gadget-controller"
	colorIndex = "spec.color"
)

type reconciler struct {
	client.Client
	events events.EventRecorder
	name   string
}

func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	gadget := &Gadget{}
	if err := r.Get(ctx, req.NamespacedName, gadget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !gadget.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.farewell(ctx, gadget)
	}
	if controllerutil.AddFinalizer(gadget, finalizer) {
		return ctrl.Result{}, r.Update(ctx, gadget)
	}
	if err := r.applySettings(ctx, gadget); err != nil {
		return ctrl.Result{}, err
	}
	deployment, err := r.ensureDeployment(ctx, gadget)
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.report(ctx, gadget, deployment)
}

// The settings are applied on the server's side, with an owner reference.
func (r *reconciler) applySettings(ctx context.Context, gadget *Gadget) error {
	owner := applymeta.OwnerReference().
		WithAPIVersion(v1Version.String()).WithKind("Gadget").WithName(gadget.Name).WithUID(gadget.UID).
		WithController(true).WithBlockOwnerDeletion(true)
	settings := applycore.ConfigMap(gadget.Name+"-settings", gadget.Namespace).
		WithOwnerReferences(owner).
		WithData(map[string]string{"size": fmt.Sprint(gadget.Spec.Size), "color": gadget.Spec.Color})
	return r.Apply(ctx, settings, client.FieldOwner(fieldOwner), client.ForceOwnership)
}

// The deployment is read from the cache and updated when it differs.
func (r *reconciler) ensureDeployment(ctx context.Context, gadget *Gadget) (*appsv1.Deployment, error) {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: gadget.Name, Namespace: gadget.Namespace}}
	result, err := controllerutil.CreateOrUpdate(ctx, r.Client, deployment, func() error {
		labels := map[string]string{"gadget": gadget.Name}
		deployment.Spec.Replicas = &gadget.Spec.Size
		deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		deployment.Spec.Template.Labels = labels
		if len(deployment.Spec.Template.Spec.Containers) == 0 {
			deployment.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "gadget:1"}}
		}
		return controllerutil.SetControllerReference(gadget, deployment, r.Scheme())
	})
	if err == nil && result != controllerutil.OperationResultNone {
		r.events.Eventf(gadget, deployment, corev1.EventTypeNormal, "Deployed", "Deploy", "deployment %s %s", deployment.Name, result)
	}
	return deployment, err
}

func (r *reconciler) report(ctx context.Context, gadget *Gadget, deployment *appsv1.Deployment) error {
	siblings := &GadgetList{}
	same := client.MatchingFields{colorIndex: gadget.Spec.Color}
	if err := r.List(ctx, siblings, client.InNamespace(gadget.Namespace), same); err != nil {
		return err
	}
	// Secrets are cached without what they hold.
	secrets := &metav1.PartialObjectMetadataList{}
	secrets.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	mine := client.MatchingLabels{"gadget": gadget.Name}
	if err := r.List(ctx, secrets, client.InNamespace(gadget.Namespace), mine); err != nil {
		return err
	}
	before := gadget.DeepCopyObject().(*Gadget)
	gadget.Status.Handler = r.name
	gadget.Status.Secrets = len(secrets.Items)
	gadget.Status.Ready = deployment.Status.ReadyReplicas
	gadget.Status.Siblings = len(siblings.Items)
	gadget.Status.Observed = gadget.Generation
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Progressing", ObservedGeneration: gadget.Generation}
	if deployment.Status.ReadyReplicas == gadget.Spec.Size {
		ready.Status, ready.Reason = metav1.ConditionTrue, "Available"
	}
	meta.SetStatusCondition(&gadget.Status.Conditions, ready)
	return r.Status().Patch(ctx, gadget, client.MergeFrom(before))
}

func (r *reconciler) farewell(ctx context.Context, gadget *Gadget) error {
	note := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: gadget.Name + "-farewell", Namespace: gadget.Namespace},
		Data:       map[string]string{"color": gadget.Spec.Color},
	}
	if err := r.Create(ctx, note); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	if controllerutil.RemoveFinalizer(gadget, finalizer) {
		return client.IgnoreNotFound(r.Update(ctx, gadget))
	}
	return nil
}

func gadgetOf(_ context.Context, secret client.Object) []ctrl.Request {
	name := secret.GetLabels()["gadget"]
	if name == "" {
		return nil
	}
	return []ctrl.Request{{NamespacedName: client.ObjectKey{Namespace: secret.GetNamespace(), Name: name}}}
}

func (r *reconciler) setUp(ctx context.Context, mgr ctrl.Manager) error {
	byColor := func(object client.Object) []string { return []string{object.(*Gadget).Spec.Color} }
	if err := mgr.GetFieldIndexer().IndexField(ctx, &Gadget{}, colorIndex, byColor); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		For(&Gadget{}).
		Owns(&appsv1.Deployment{}).
		Owns(&corev1.ConfigMap{}).
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(gadgetOf)).
		Complete(r)
}
