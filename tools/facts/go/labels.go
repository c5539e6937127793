package main

import (
	"reflect"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Names that selectors know although no field is called so.
var labelsWithoutField = []string{"status.successful", "source", "reportingComponent"}

// selectableFields asks the server's own conversion function about each path of the type.
func selectableFields(scheme *runtime.Scheme, gvk schema.GroupVersionKind, t reflect.Type) []string {
	candidates := append([]string(nil), labelsWithoutField...)
	paths(t, "", 3, &candidates)
	seen := map[string]bool{}
	var accepted []string
	for _, label := range candidates {
		if seen[label] {
			continue
		}
		seen[label] = true
		if _, _, err := scheme.ConvertFieldLabel(gvk, label, "x"); err == nil {
			accepted = append(accepted, label)
		}
	}
	sort.Strings(accepted)
	return accepted
}

func paths(t reflect.Type, prefix string, depth int, into *[]string) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if depth == 0 || t.Kind() != reflect.Struct {
		return
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" {
			paths(f.Type, prefix, depth, into)
			continue
		}
		*into = append(*into, prefix+name)
		paths(f.Type, prefix+name+".", depth-1, into)
	}
}
