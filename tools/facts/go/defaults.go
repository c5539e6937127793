package main

import (
	"encoding/json"
	"hash/fnv"
	"math/rand/v2"
	"reflect"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// How many random objects of a kind are defaulted. Deterministic: the generator is seeded by the kind's name.
const trials = 1500

// observation is one outcome at a path that was unset although what encloses it was there.
type observation struct {
	// Value is null when the path stayed unset.
	Value json.RawMessage `json:"value"`
	Count int             `json:"count"`
}

// observeDefaults runs the server's defaulting functions over random objects. A path with one outcome has a plain
// default; one with several is computed from other fields, and its outcomes tell what to look for.
//
// Outcomes are counted by path for this kind and, in ofFields, by definition and field over all kinds.
func observeDefaults(scheme *runtime.Scheme, gvk schema.GroupVersionKind, enums map[string][]string, ofFields outcomes) map[string][]observation {
	seed := fnv.New64a()
	seed.Write([]byte(gvk.String()))
	random := rand.New(rand.NewPCG(seed.Sum64(), 1))
	ofPaths := outcomes{}
	for trial := range trials {
		object, err := scheme.New(gvk)
		if err != nil {
			panic(err)
		}
		f := filler{random: random, enums: enums, presence: []float64{0.1, 0.5, 0.9}[trial%3], set: []float64{0.02, 0.3, 0.6}[(trial/3)%3]}
		f.fill(reflect.ValueOf(object).Elem(), "", map[reflect.Type]int{})
		before := object.DeepCopyObject()
		if !defaulted(scheme, object) {
			continue
		}
		root := reflect.ValueOf(object).Elem()
		compare(reflect.ValueOf(before).Elem(), root, place{field: definitionName(root.Type())}, func(at place, value string) {
			ofPaths.add(at.path, value)
			ofFields.add(at.field, value)
		})
	}
	return ofPaths.observations()
}

// outcomes counts, by place, the values that appeared there.
type outcomes map[string]map[string]int

func (o outcomes) add(place, value string) {
	if o[place] == nil {
		o[place] = map[string]int{}
	}
	o[place][value]++
}

// observations leaves out the places that always stay unset.
func (o outcomes) observations() map[string][]observation {
	defaults := map[string][]observation{}
	for path, values := range o {
		if len(values) == 1 && values["null"] > 0 {
			continue
		}
		for value, count := range values {
			defaults[path] = append(defaults[path], observation{json.RawMessage(value), count})
		}
		sort.Slice(defaults[path], func(i, j int) bool {
			a, b := defaults[path][i], defaults[path][j]
			return a.Count > b.Count || a.Count == b.Count && string(a.Value) < string(b.Value)
		})
	}
	return defaults
}

// Defaulting functions may trip over objects that validation would never let through; those tell nothing.
func defaulted(scheme *runtime.Scheme, object runtime.Object) (ok bool) {
	defer func() { ok = recover() == nil }()
	scheme.Default(object)
	return true
}

type filler struct {
	random   *rand.Rand
	enums    map[string][]string
	presence float64 // how likely an optional struct, list or map is there
	set      float64 // how likely a scalar is set
}

var opaque = map[reflect.Type]bool{
	reflect.TypeFor[metav1.Time]():          true,
	reflect.TypeFor[metav1.MicroTime]():     true,
	reflect.TypeFor[metav1.ObjectMeta]():    true,
	reflect.TypeFor[metav1.TypeMeta]():      true,
	reflect.TypeFor[metav1.FieldsV1]():      true,
	reflect.TypeFor[runtime.RawExtension](): true,
}

func (f *filler) fill(v reflect.Value, enumKey string, depth map[reflect.Type]int) {
	t := v.Type()
	switch {
	case opaque[t]:
		return
	case t == reflect.TypeFor[resource.Quantity]():
		if f.chance(f.set) {
			v.Set(reflect.ValueOf(resource.MustParse([]string{"1", "100m", "1Gi"}[f.random.IntN(3)])))
		}
		return
	case t == reflect.TypeFor[intstr.IntOrString]():
		if f.chance(f.set) {
			v.Set(reflect.ValueOf(intstr.FromInt32(int32(f.random.IntN(3)))))
		}
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		// Schemas contain schemas: twice is deep enough.
		if depth[t] >= 2 {
			return
		}
		depth[t]++
		for i := range t.NumField() {
			field := t.Field(i)
			if field.IsExported() {
				name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
				f.fill(v.Field(i), definitionName(t)+"."+name, depth)
			}
		}
		depth[t]--
	case reflect.Pointer:
		chance := f.presence
		if t.Elem().Kind() != reflect.Struct {
			chance = f.set
		}
		if f.chance(chance) {
			v.Set(reflect.New(t.Elem()))
			f.fill(v.Elem(), enumKey, depth)
		}
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 && f.chance(f.presence) {
			v.Set(reflect.MakeSlice(t, 1, 1))
			f.fill(v.Index(0), enumKey, depth)
		}
	case reflect.Map:
		if t.Key().Kind() == reflect.String && f.chance(f.presence) {
			v.Set(reflect.MakeMap(t))
			element := reflect.New(t.Elem()).Elem()
			f.fill(element, enumKey, depth)
			v.SetMapIndex(reflect.ValueOf([]string{"cpu", "memory"}[f.random.IntN(2)]).Convert(t.Key()), element)
		}
	case reflect.String:
		if f.chance(f.set) {
			v.SetString("x")
			if values := f.enums[enumKey]; len(values) > 0 {
				v.SetString(values[f.random.IntN(len(values))])
			}
		}
	case reflect.Bool:
		v.SetBool(f.chance(f.set))
	case reflect.Int, reflect.Int32, reflect.Int64:
		if f.chance(f.set) {
			v.SetInt(int64(1 + f.random.IntN(3)))
		}
	}
}

func (f *filler) chance(p float64) bool { return f.random.Float64() < p }

// place is a path in an object and, in terms of types, the definition or the field of a definition found there.
type place struct{ path, field string }

// into steps into a struct, whose fields are then named by its own definition.
func (p place) into(t reflect.Type, suffix string) place {
	if t.Kind() == reflect.Struct && !isLeaf(t) {
		return place{p.path + suffix, definitionName(t)}
	}
	return place{p.path + suffix, p.field}
}

// compare reports what became of everything that was unset before.
func compare(before, after reflect.Value, at place, report func(at place, value string)) {
	t := before.Type()
	if isLeaf(t) {
		if before.IsZero() {
			report(at, jsonOf(after))
		}
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			field := t.Field(i)
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "-" || !field.IsExported() || opaque[field.Type] && name != "creationTimestamp" {
				continue
			}
			inner := at // a struct that is inlined in JSON has no place of its own
			if name != "" {
				inner = place{strings.TrimPrefix(at.path+"."+name, "."), at.field + "." + name}
			}
			if name != "" && field.Type.Kind() == reflect.Struct {
				inner = inner.into(field.Type, "")
			}
			compare(before.Field(i), after.Field(i), inner, report)
		}
	case reflect.Pointer:
		if before.IsNil() {
			report(at, jsonOf(after))
		} else if !after.IsNil() && !isLeaf(t.Elem()) {
			compare(before.Elem(), after.Elem(), at.into(t.Elem(), ""), report)
		}
	case reflect.Slice:
		if before.Len() == 0 {
			report(at, jsonOf(after))
			return
		}
		for i := range min(before.Len(), after.Len()) {
			compare(before.Index(i), after.Index(i), at.into(t.Elem(), "[]"), report)
		}
	case reflect.Map:
		if before.Len() == 0 {
			report(at, jsonOf(after))
			return
		}
		for _, key := range before.MapKeys() {
			if value := after.MapIndex(key); value.IsValid() && t.Elem().Kind() == reflect.Struct && !isLeaf(t.Elem()) {
				compare(before.MapIndex(key), value, at.into(t.Elem(), "{}"), report)
			}
		}
	}
}

func isLeaf(t reflect.Type) bool {
	switch t {
	case reflect.TypeFor[resource.Quantity](), reflect.TypeFor[intstr.IntOrString](), reflect.TypeFor[metav1.Duration]():
		return true
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Pointer, reflect.Slice, reflect.Map:
		return opaque[t]
	}
	return true
}

func jsonOf(v reflect.Value) string {
	if v.IsZero() || (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0 {
		return "null"
	}
	switch v.Interface().(type) {
	case metav1.Time, *metav1.Time, metav1.MicroTime, *metav1.MicroTime:
		return `"now"` // the clock is the only thing a time can come from
	}
	text, err := json.Marshal(v.Interface())
	if err != nil {
		return "null"
	}
	return string(text)
}
