// Package suite is an operator's test suite as kubebuilder lays it out: it runs on whatever KUBEBUILDER_ASSETS names.
package suite

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

var (
	config *rest.Config
	hooks  envtest.WebhookInstallOptions
)

func TestMain(m *testing.M) {
	started := time.Now()
	environment := &envtest.Environment{
		CRDDirectoryPaths:     []string{"crds"},
		ErrorIfCRDPathMissing: true,
		WebhookInstallOptions: envtest.WebhookInstallOptions{
			ValidatingWebhooks: []*admissionregistrationv1.ValidatingWebhookConfiguration{widgetWebhook()},
		},
	}
	var err error
	if config, err = environment.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("environment started in %v\n", time.Since(started).Round(time.Millisecond))
	hooks = environment.WebhookInstallOptions
	code := m.Run()
	if err := environment.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

var widgetKind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}

// reconciler gives each Widget a ConfigMap of the same name, and says so in its status.
type reconciler struct{ client.Client }

func (r reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	widget := &unstructured.Unstructured{}
	widget.SetGroupVersionKind(widgetKind)
	if err := r.Get(ctx, request.NamespacedName, widget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	size, _, _ := unstructured.NestedInt64(widget.Object, "spec", "size")
	made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: request.Name, Namespace: request.Namespace}}
	if _, err := controllerutil.CreateOrUpdate(ctx, r, made, func() error {
		made.Data = map[string]string{"size": fmt.Sprint(size)}
		return controllerutil.SetControllerReference(widget, made, r.Scheme())
	}); err != nil {
		return ctrl.Result{}, err
	}
	if err := unstructured.SetNestedField(widget.Object, size, "status", "observed"); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.Status().Update(ctx, widget)
}

func TestWidgetsAreReconciled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	manager, err := ctrl.NewManager(config, ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	widget := &unstructured.Unstructured{}
	widget.SetGroupVersionKind(widgetKind)
	if err := ctrl.NewControllerManagedBy(manager).Named("widget").For(widget).Owns(&corev1.ConfigMap{}).
		Complete(reconciler{manager.GetClient()}); err != nil {
		t.Fatal(err)
	}
	go func() {
		if err := manager.Start(ctx); err != nil {
			t.Error(err)
		}
	}()
	direct, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	made := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(3)}}}
	made.SetGroupVersionKind(widgetKind)
	made.SetName("first")
	made.SetNamespace("default")
	if err := direct.Create(ctx, made); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the ConfigMap follows the Widget", func() bool {
		found := &corev1.ConfigMap{}
		err := direct.Get(ctx, client.ObjectKeyFromObject(made), found)
		return err == nil && found.Data["size"] == "3"
	})
	eventually(t, "the status tells the size", func() bool {
		if err := direct.Get(ctx, client.ObjectKeyFromObject(made), made); err != nil {
			return false
		}
		observed, _, _ := unstructured.NestedInt64(made.Object, "status", "observed")
		return observed == 3
	})
	tooLarge := made.DeepCopy()
	tooLarge.SetName("second")
	tooLarge.SetResourceVersion("")
	_ = unstructured.SetNestedField(tooLarge.Object, int64(1000), "spec", "size")
	if err := direct.Create(ctx, tooLarge); !apierrors.IsInvalid(err) {
		t.Fatalf("a Widget that is too large was not refused: %v", err)
	}
}

func TestAnotherUserMayOnlyDoWhatItsRoleAllows(t *testing.T) {
	other := rest.CopyConfig(config)
	other.Impersonate = rest.ImpersonationConfig{UserName: "nobody"}
	as, err := client.New(other, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = as.List(context.Background(), &corev1.SecretList{})
	if !apierrors.IsForbidden(err) {
		t.Fatalf("expected to be refused, got %v", err)
	}
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("it never came true that %s", what)
}
