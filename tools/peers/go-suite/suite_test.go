// Tests as people write them for their controllers, on the single executable: with the module, and with envtest.
package suite

import (
	"context"
	"fmt"
	"testing"
	"time"

	konverge "github.com/konverge/konverge/packages/envtest-go"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	server "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func TestAControllerReconcilesOnTheCluster(t *testing.T) {
	cluster := konverge.ForTest(t)
	config, err := clientcmd.BuildConfigFromFlags("", cluster.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	labelsEveryConfigMap(t, config)
	// The built-in controllers, the scheduler and simulated nodes are there as well.
	c := clientFor(t, config)
	labels := map[string]string{"app": "web"}
	two := int32(2)
	container := corev1.Container{Name: "web", Image: "example/web"}
	web := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &two,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{container}},
			},
		},
	}
	if err := c.Create(t.Context(), web); err != nil {
		t.Fatal(err)
	}
	until(t, "the Deployment is available", func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(web), web)
		return web.Status.AvailableReplicas == 2, err
	})
}

func TestTheCertificatesFillARestConfig(t *testing.T) {
	cluster := konverge.ForTest(t, konverge.WithArgs("--nodes", "1", "--gpus", "none"))
	tls := rest.TLSClientConfig{CAData: cluster.CAData, CertData: cluster.CertData, KeyData: cluster.KeyData}
	c := clientFor(t, &rest.Config{Host: cluster.Host, TLSClientConfig: tls})
	var nodes corev1.NodeList
	if err := c.List(t.Context(), &nodes); err != nil || len(nodes.Items) != 1 {
		t.Errorf("%d nodes: %v", len(nodes.Items), err)
	}
}

func TestASuiteOnEnvtestRunsUnchanged(t *testing.T) {
	assets, err := konverge.EnvtestAssets(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	environment := &envtest.Environment{BinaryAssetsDirectory: assets}
	config, err := environment.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			t.Error(err)
		}
	})
	labelsEveryConfigMap(t, config)
}

// labelsEveryConfigMap runs a controller on controller-runtime and waits for what it does.
func labelsEveryConfigMap(t *testing.T, config *rest.Config) {
	t.Helper()
	manager, err := ctrl.NewManager(config, ctrl.Options{Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("labels-%s", t.Name())
	err = ctrl.NewControllerManagedBy(manager).Named(name).For(&corev1.ConfigMap{}).Complete(
		reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			var found corev1.ConfigMap
			if err := manager.GetClient().Get(ctx, request.NamespacedName, &found); err != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			if found.Labels["seen"] == "yes" {
				return reconcile.Result{}, nil
			}
			patch := client.MergeFrom(found.DeepCopy())
			found.Labels = map[string]string{"seen": "yes"}
			return reconcile.Result{}, manager.GetClient().Patch(ctx, &found, patch)
		}),
	)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- manager.Start(ctx) }()
	defer func() {
		stop()
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	}()
	c := clientFor(t, config)
	one := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "one", Namespace: "default"}}
	if err := c.Create(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	until(t, "the ConfigMap is labeled", func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(one), one)
		return one.Labels["seen"] == "yes", err
	})
}

func clientFor(t *testing.T, config *rest.Config) client.Client {
	t.Helper()
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func until(t *testing.T, what string, holds func(context.Context) (bool, error)) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, holds); err != nil {
		t.Fatalf("it never came true that %s: %v", what, err)
	}
}
