package main

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

type gadgetWebhook struct{}

func (gadgetWebhook) Default(_ context.Context, gadget *Gadget) error {
	if gadget.Spec.Color == "" {
		gadget.Spec.Color = "grey"
	}
	return nil
}

func (gadgetWebhook) ValidateCreate(_ context.Context, gadget *Gadget) (admission.Warnings, error) {
	return validate(gadget)
}

func (gadgetWebhook) ValidateUpdate(_ context.Context, old, gadget *Gadget) (admission.Warnings, error) {
	if gadget.Spec.Color != old.Spec.Color {
		return nil, invalid(gadget, field.Forbidden(field.NewPath("spec", "color"), "a gadget keeps its color"))
	}
	return validate(gadget)
}

func (gadgetWebhook) ValidateDelete(_ context.Context, gadget *Gadget) (admission.Warnings, error) {
	if gadget.Labels["keep"] == "true" {
		return nil, fmt.Errorf("%s is to be kept", gadget.Name)
	}
	return nil, nil
}

func validate(gadget *Gadget) (admission.Warnings, error) {
	if gadget.Spec.Size > 9 {
		return nil, invalid(gadget, field.Invalid(field.NewPath("spec", "size"), gadget.Spec.Size, "at most 9"))
	}
	if gadget.Spec.Size > 5 {
		return admission.Warnings{"a large gadget"}, nil
	}
	return nil, nil
}

func invalid(gadget *Gadget, err *field.Error) error {
	kind := schema.GroupKind{Group: v1Version.Group, Kind: "Gadget"}
	return apierrors.NewInvalid(kind, gadget.Name, field.ErrorList{err})
}

// Serves /mutate-…, /validate-… and /convert.
func addWebhooks(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &Gadget{}).
		WithDefaulter(gadgetWebhook{}).
		WithValidator(gadgetWebhook{}).
		Complete()
}
