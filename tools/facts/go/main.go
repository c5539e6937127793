// Command facts prints, as JSON, what the Go types of the built-in kinds know and no server publishes: protobuf field
// numbers, omitempty, pointers, the defaults that the server's functions set, and the fields that selectors may name.
//
// It reads {"groupVersions": ["apps/v1", …], "enums": {"apps.v1.DeploymentStrategy.type": ["Recreate", …]}} from its
// standard input: what a real server serves, and the enumerations it publishes.
package main

import (
	"encoding/json"
	"os"
	"reflect"
	"sort"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/install"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/authentication/install"
	_ "k8s.io/kubernetes/pkg/apis/authorization/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	_ "k8s.io/kubernetes/pkg/apis/storagemigration/install"
)

type input struct {
	GroupVersions []string            `json:"groupVersions"`
	Enums         map[string][]string `json:"enums"`
}

// kind is one registered type of a served group-version.
type kind struct {
	Group      string `json:"group"`
	Version    string `json:"version"`
	Kind       string `json:"kind"`
	Definition string `json:"definition"`
	// Defaults by path: every value that was seen to appear at a path that was left unset.
	Defaults map[string][]observation `json:"defaults,omitempty"`
	// Selectable are the fields that a field selector may name.
	Selectable []string `json:"selectable,omitempty"`
}

type output struct {
	Kinds       []kind                `json:"kinds"`
	Definitions map[string]definition `json:"definitions"`
	// Defaults by definition and field, over all kinds that have the field.
	Defaults map[string][]observation `json:"defaults"`
}

func main() {
	var in input
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		panic(err)
	}
	scheme := legacyscheme.Scheme
	apiextensions.Install(scheme)
	apiregistration.Install(scheme)

	out := output{Definitions: map[string]definition{}}
	// Published as the body of a patch, though no kind refers to it.
	describe(reflect.TypeFor[metav1.Patch](), out.Definitions)
	ofFields := outcomes{}
	for _, text := range append([]string{"meta.k8s.io/v1"}, in.GroupVersions...) {
		gv, err := schema.ParseGroupVersion(text)
		if err != nil {
			panic(err)
		}
		out.Kinds = append(out.Kinds, kindsOf(scheme, gv, in.Enums, out.Definitions, ofFields)...)
	}
	out.Defaults = ofFields.observations()
	encoder := json.NewEncoder(os.Stdout)
	if err := encoder.Encode(out); err != nil {
		panic(err)
	}
}

func kindsOf(scheme *runtime.Scheme, gv schema.GroupVersion, enums map[string][]string, definitions map[string]definition, ofFields outcomes) []kind {
	types := scheme.KnownTypes(gv)
	names := make([]string, 0, len(types))
	for name := range types {
		names = append(names, name)
	}
	sort.Strings(names)
	var kinds []kind
	for _, name := range names {
		t := types[name]
		describe(t, definitions)
		k := kind{Group: gv.Group, Version: gv.Version, Kind: name, Definition: definitionName(t)}
		object, err := scheme.New(gv.WithKind(name))
		if err != nil {
			panic(err)
		}
		if _, isObject := object.(metav1.Object); isObject || gv.Group != "meta.k8s.io" && t.PkgPath() != metaPackage {
			if _, isList := object.(metav1.ListInterface); !isList {
				k.Defaults = observeDefaults(scheme, gv.WithKind(name), enums, ofFields)
				k.Selectable = selectableFields(scheme, gv.WithKind(name), t)
			}
		}
		kinds = append(kinds, k)
	}
	return kinds
}
