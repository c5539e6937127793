// An operator on controller-runtime that makes one of three mistakes that public operators have made, or, with -fixed, does
// not. It is explored as a black box.
package main

import (
	"flag"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// What a reconciler needs to be run: itself, and what it watches besides widgets.
type variant struct {
	reconciler reconcile.Reconciler
	owns       client.Object
}

func main() {
	pattern := flag.String("pattern", "", "resize, duplicate or status")
	fixed := flag.Bool("fixed", false, "without the mistake")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	if err := run(*pattern, *fixed); err != nil {
		ctrl.Log.Error(err, "the manager ended")
		os.Exit(1)
	}
}

func run(pattern string, fixed bool) error {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	addToScheme(scheme)
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:                  scheme,
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		LeaderElection:          true,
		LeaderElectionID:        "widget-controller",
		LeaderElectionNamespace: "default",
	})
	if err != nil {
		return err
	}
	chosen, err := variantOf(pattern, fixed, mgr.GetClient())
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(mgr).Named("widget").For(&Widget{}).Owns(chosen.owns).Complete(chosen.reconciler)
	if err != nil {
		return err
	}
	return mgr.Start(ctrl.SetupSignalHandler())
}

func variantOf(pattern string, fixed bool, c client.Client) (variant, error) {
	switch pattern {
	case "resize":
		return resizeVariant(c, fixed), nil
	case "duplicate":
		return duplicateVariant(c, fixed), nil
	case "status":
		return statusVariant(c, fixed), nil
	}
	return variant{}, fmt.Errorf("no pattern is called %q", pattern)
}
