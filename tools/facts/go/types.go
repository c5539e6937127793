package main

import (
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

const metaPackage = "k8s.io/apimachinery/pkg/apis/meta/v1"

// field is one JSON property of a Go struct, with structs that are inlined in JSON already dissolved.
type field struct {
	Name string `json:"name"`
	// Type: a scalar, the name of a definition, "[]" + element, "map[]" + element, or "items[]" + element for a named
	// list, which protobuf wraps in a message of its own.
	Type string `json:"type"`
	// Proto is the field number; for a field of an inlined struct the numbers on the way to it.
	Proto         []int  `json:"proto,omitempty"`
	Wire          string `json:"wire,omitempty"`
	OmitEmpty     bool   `json:"omitEmpty,omitempty"`
	OmitZero      bool   `json:"omitZero,omitempty"`
	Pointer       bool   `json:"pointer,omitempty"`
	PatchStrategy string `json:"patchStrategy,omitempty"`
	PatchMergeKey string `json:"patchMergeKey,omitempty"`
}

// definition is a struct.
type definition struct {
	Fields []field `json:"fields,omitempty"`
	// Custom: the type writes its own JSON (quantities, times, int-or-string …), so its fields say nothing about it.
	Custom bool `json:"custom,omitempty"`
}

var packageName = regexp.MustCompile(`([^/]+)/(v\d\w*)$`)

// definitionName is apps.v1.Deployment for k8s.io/api/apps/v1.Deployment and resource.Quantity for those without a version.
func definitionName(t reflect.Type) string {
	if match := packageName.FindStringSubmatch(t.PkgPath()); match != nil {
		return match[1] + "." + match[2] + "." + t.Name()
	}
	return t.PkgPath()[strings.LastIndex(t.PkgPath(), "/")+1:] + "." + t.Name()
}

// describe adds a type and all that it refers to.
func describe(t reflect.Type, definitions map[string]definition) {
	name := definitionName(t)
	if _, known := definitions[name]; known {
		return
	}
	definitions[name] = definition{}
	if _, custom := reflect.PointerTo(t).MethodByName("MarshalJSON"); custom {
		definitions[name] = definition{Custom: true}
		return
	}
	definitions[name] = definition{Fields: fieldsOf(t, []int{}, definitions)}
}

// fieldsOf lists the fields of a struct that is found within messages of these numbers; nil when protobuf does not
// carry the struct at all (kind and apiVersion travel in the envelope).
func fieldsOf(t reflect.Type, within []int, definitions map[string]definition) []field {
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		if tag == "-" || !f.IsExported() {
			continue
		}
		parts := strings.Split(tag, ",")
		number, wire := protobufTag(f.Tag.Get("protobuf"))
		var path []int
		if within != nil && number != nil {
			path = append(append(path, within...), number...)
		}
		if parts[0] == "" && f.Anonymous {
			embedded := f.Type
			if embedded.Kind() == reflect.Pointer {
				embedded = embedded.Elem()
			}
			fields = append(fields, fieldsOf(embedded, path, definitions)...)
			continue
		}
		if parts[0] == "" {
			continue // no JSON name: not part of the API
		}
		fields = append(fields, field{
			Name:          parts[0],
			Type:          typeName(f.Type, definitions),
			Proto:         path,
			Wire:          wire,
			OmitEmpty:     has(parts, "omitempty"),
			OmitZero:      has(parts, "omitzero"),
			Pointer:       f.Type.Kind() == reflect.Pointer,
			PatchStrategy: f.Tag.Get("patchStrategy"),
			PatchMergeKey: f.Tag.Get("patchMergeKey"),
		})
	}
	return fields
}

func typeName(t reflect.Type, definitions map[string]definition) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Struct {
		describe(t, definitions)
		return definitionName(t)
	}
	switch t.Kind() {
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		if t.Name() != "" && isMessage(t) {
			return "items[]" + typeName(t.Elem(), definitions)
		}
		return "[]" + typeName(t.Elem(), definitions)
	case reflect.Map:
		return "map[]" + typeName(t.Elem(), definitions)
	case reflect.Interface:
		return "any"
	default:
		return t.Kind().String()
	}
}

func isMessage(t reflect.Type) bool {
	_, ok := reflect.PointerTo(t).MethodByName("Marshal")
	return ok
}

func protobufTag(tag string) ([]int, string) {
	parts := strings.Split(tag, ",")
	if len(parts) < 2 {
		return nil, ""
	}
	number, err := strconv.Atoi(parts[1])
	if err != nil {
		panic("protobuf tag " + tag)
	}
	return []int{number}, parts[0]
}

func has(parts []string, option string) bool {
	for _, part := range parts[1:] {
		if part == option {
			return true
		}
	}
	return false
}
