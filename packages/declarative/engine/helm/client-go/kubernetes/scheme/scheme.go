// Package scheme knows the versions of Kubernetes' APIs, without their types.
package scheme

import (
	_ "embed"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The versions that the real package registers, one in each line; written by the build.
//
//go:embed versions.txt
var versions string

// Scheme of all versions.
var Scheme = runtime.NewScheme()

func init() {
	for _, text := range strings.Fields(versions) {
		version, err := schema.ParseGroupVersion(text)
		if err != nil {
			panic(err)
		}
		Scheme.AddKnownTypeWithName(version.WithKind("Status"), &metav1.Status{})
	}
}
