// An operator as people write it with controller-runtime: a cached and typed client, leader election, webhooks,
// server-side apply, owner references, a finalizer, status and events.
package main

import (
	"flag"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

func main() {
	name := flag.String("name", "", "what this replica calls itself in the status of what it handles")
	namespace := flag.String("namespace", "default", "where it works")
	certificates := flag.String("certificates", "", "folder with tls.crt and tls.key; empty: no webhooks")
	port := flag.Int("port", 0, "where the webhooks are served")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	if err := run(*name, *namespace, *certificates, *port); err != nil {
		ctrl.Log.Error(err, "the manager ended")
		os.Exit(1)
	}
}

func run(name, namespace, certificates string, port int) error {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	addToScheme(scheme)
	lease, renew, retry := 8*time.Second, 6*time.Second, time.Second
	options := ctrl.Options{
		Scheme:                  scheme,
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		Cache:                   cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		LeaderElection:          true,
		LeaderElectionID:        "gadget-controller",
		LeaderElectionNamespace: namespace,
		LeaseDuration:           &lease,
		RenewDeadline:           &renew,
		RetryPeriod:             &retry,
	}
	if certificates != "" {
		options.WebhookServer = webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: certificates})
	}
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), options)
	if err != nil {
		return err
	}
	ctx := ctrl.SetupSignalHandler()
	r := &reconciler{Client: mgr.GetClient(), events: mgr.GetEventRecorder("gadget-controller"), name: name}
	if err := r.setUp(ctx, mgr); err != nil {
		return err
	}
	if certificates != "" {
		if err := addWebhooks(mgr); err != nil {
			return err
		}
	}
	return mgr.Start(ctx)
}
