package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
)

var (
	v1Version = schema.GroupVersion{Group: "peers.example.com", Version: "v1"}
	v2Version = schema.GroupVersion{Group: "peers.example.com", Version: "v2"}
)

func addToScheme(scheme *runtime.Scheme) {
	scheme.AddKnownTypes(v1Version, &Gadget{}, &GadgetList{})
	scheme.AddKnownTypeWithName(v2Version.WithKind("Gadget"), &GadgetV2{})
	metav1.AddToGroupVersion(scheme, v1Version)
	metav1.AddToGroupVersion(scheme, v2Version)
}

// GadgetSpec is the stored form: a size in one number.
type GadgetSpec struct {
	Size  int32  `json:"size"`
	Color string `json:"color,omitempty"`
}

type GadgetStatus struct {
	Ready      int32              `json:"ready"`
	Handler    string             `json:"handler,omitempty"`
	Siblings   int                `json:"siblings"`
	Secrets    int                `json:"secrets"`
	Observed   int64              `json:"observedGeneration,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

type Gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              GadgetSpec   `json:"spec"`
	Status            GadgetStatus `json:"status,omitempty"`
}

type GadgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Gadget `json:"items"`
}

// Hub says that the other versions are converted by way of this one.
func (*Gadget) Hub() {}

func (in *Gadget) DeepCopyObject() runtime.Object {
	out := *in
	out.ObjectMeta = *in.ObjectMeta.DeepCopy()
	out.Status.Conditions = append([]metav1.Condition(nil), in.Status.Conditions...)
	return &out
}

func (in *GadgetList) DeepCopyObject() runtime.Object {
	out := &GadgetList{TypeMeta: in.TypeMeta, ListMeta: *in.ListMeta.DeepCopy()}
	for i := range in.Items {
		out.Items = append(out.Items, *in.Items[i].DeepCopyObject().(*Gadget))
	}
	return out
}

// GadgetV2 has the size in an object of its own.
type GadgetV2 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              GadgetV2Spec `json:"spec"`
	Status            GadgetStatus `json:"status,omitempty"`
}

type GadgetV2Spec struct {
	Dimensions Dimensions `json:"dimensions"`
	Color      string     `json:"color,omitempty"`
}

type Dimensions struct {
	Size int32 `json:"size"`
}

func (in *GadgetV2) DeepCopyObject() runtime.Object {
	out := *in
	out.ObjectMeta = *in.ObjectMeta.DeepCopy()
	out.Status.Conditions = append([]metav1.Condition(nil), in.Status.Conditions...)
	return &out
}

func (in *GadgetV2) ConvertTo(hub conversion.Hub) error {
	out := hub.(*Gadget)
	out.ObjectMeta = in.ObjectMeta
	out.Spec = GadgetSpec{Size: in.Spec.Dimensions.Size, Color: in.Spec.Color}
	out.Status = in.Status
	return nil
}

func (in *GadgetV2) ConvertFrom(hub conversion.Hub) error {
	from := hub.(*Gadget)
	in.ObjectMeta = from.ObjectMeta
	in.Spec = GadgetV2Spec{Dimensions: Dimensions{Size: from.Spec.Size}, Color: from.Spec.Color}
	in.Status = from.Status
	return nil
}
