package suite

import (
	"context"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

const webhookPath = "/validate-widgets"

// widgetWebhook is a configuration as controller-gen writes it; envtest puts its own address and certificate into it.
func widgetWebhook() *admissionregistrationv1.ValidatingWebhookConfiguration {
	path, none, fail := webhookPath, admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.Fail
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "widgets.example.com",
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				Service: &admissionregistrationv1.ServiceReference{Name: "webhooks", Namespace: "system", Path: &path},
			},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule: admissionregistrationv1.Rule{
					APIGroups: []string{"example.com"}, APIVersions: []string{"v1"}, Resources: []string{"widgets"},
				},
			}},
			ObjectSelector:          &metav1.LabelSelector{MatchLabels: map[string]string{"checked": "yes"}},
			FailurePolicy:           &fail,
			SideEffects:             &none,
			AdmissionReviewVersions: []string{"v1"},
		}},
	}
}

func TestWebhooksWithEnvtestsOwnCertificatesAreCalled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	server := webhook.NewServer(webhook.Options{
		Host: hooks.LocalServingHost, Port: hooks.LocalServingPort, CertDir: hooks.LocalServingCertDir,
	})
	server.Register(webhookPath, &admission.Webhook{Handler: admission.HandlerFunc(
		func(_ context.Context, request admission.Request) admission.Response {
			if request.Name == "bad" {
				return admission.Denied("bad widgets are not wanted")
			}
			return admission.Allowed("")
		},
	)})
	go func() {
		if err := server.Start(ctx); err != nil {
			t.Error(err)
		}
	}()
	direct, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	create := func(name string) error {
		widget := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(1)}}}
		widget.SetGroupVersionKind(widgetKind)
		widget.SetName(name)
		widget.SetNamespace("default")
		widget.SetLabels(map[string]string{"checked": "yes"})
		return direct.Create(ctx, widget)
	}
	eventually(t, "the webhook admits a Widget", func() bool {
		err := create("good")
		// Until the server listens; anything else would stay as it is.
		if err != nil && !strings.Contains(err.Error(), "connection refused") {
			t.Fatal(err)
		}
		return err == nil
	})
	if err := create("bad"); err == nil || !strings.Contains(err.Error(), "bad widgets are not wanted") {
		t.Fatalf("the webhook did not deny a Widget: %v", err)
	}
}
