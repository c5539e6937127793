// The operator of bench/operator/workload.ts on controller-runtime.
//
//	operator            works until it is told to stop
//	operator cache N    caches all ConfigMaps, says so when there are N of them, and waits
package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type widgets struct {
	client.Client
	scheme *runtime.Scheme
}

var conditions = []metav1.Condition{
	{Type: "Ready", Status: metav1.ConditionTrue, Reason: "AsExpected"},
	{Type: "Progressing", Status: metav1.ConditionFalse, Reason: "AsExpected"},
	{Type: "Degraded", Status: metav1.ConditionFalse, Reason: "AsExpected"},
}

func (r *widgets) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	widget := &Widget{}
	if err := r.Get(ctx, request.NamespacedName, widget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: widget.Name, Namespace: widget.Namespace}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, child, func() error {
		child.Data = map[string]string{"value": widget.Spec.Value}
		return controllerutil.SetControllerReference(widget, child, r.scheme)
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	status := widget.Status
	status.Value, status.Child, status.ObservedGeneration = widget.Spec.Value, child.Name, widget.Generation
	status.Conditions = slices.Clone(status.Conditions)
	for _, condition := range conditions {
		condition.ObservedGeneration = widget.Generation
		meta.SetStatusCondition(&status.Conditions, condition)
	}
	if equality.Semantic.DeepEqual(status, widget.Status) {
		return ctrl.Result{}, nil
	}
	widget.Status = status
	return ctrl.Result{}, r.Status().Update(ctx, widget)
}

func main() {
	log.SetLogger(zap.New(zap.UseDevMode(false)))
	scheme := runtime.NewScheme()
	must(clientgoscheme.AddToScheme(scheme))
	must(builder.AddToScheme(scheme))
	config := ctrl.GetConfigOrDie()
	// Servers limit their clients by themselves.
	config.QPS = -1
	ctx := ctrl.SetupSignalHandler()
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Metrics: server.Options{BindAddress: "0"},
		// What most operators do about memory: fields that nobody reads are not kept.
		Cache: cache.Options{DefaultTransform: cache.TransformStripManagedFields()},
	})
	must(err)
	if len(os.Args) > 2 && os.Args[1] == "cache" {
		count, err := strconv.Atoi(os.Args[2])
		must(err)
		must(manager.Add(&counter{manager.GetCache(), count}))
	} else {
		must(ctrl.NewControllerManagedBy(manager).
			For(&Widget{}).
			Owns(&corev1.ConfigMap{}).
			WithOptions(controller.Options{MaxConcurrentReconciles: 10}).
			Complete(&widgets{manager.GetClient(), scheme}))
	}
	must(manager.Start(ctx))
}

type counter struct {
	cache cache.Cache
	count int
}

func (c *counter) Start(ctx context.Context) error {
	if _, err := c.cache.GetInformer(ctx, &corev1.ConfigMap{}); err != nil {
		return err
	}
	for {
		list := &corev1.ConfigMapList{}
		if err := c.cache.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return err
		}
		if len(list.Items) >= c.count {
			fmt.Println("cached")
			<-ctx.Done()
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
