package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
	"helm.sh/helm/v4/pkg/strvals"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// render does what `helm install` does up to the first request to the cluster.
func render(asked request) (given response) {
	lookups := lookups{known: asked.Lookups}
	defer func() {
		if problem := recover(); problem != nil {
			given.Error = fmt.Sprint(problem)
		}
		given.Missing = lookups.missing
	}()
	if err := renderInto(&given, asked, lookups.call); err != nil {
		given.Error = err.Error()
	}
	return given
}

func renderInto(given *response, asked request, lookup lookupFunction) error {
	c, err := asked.Chart.loaded()
	if err != nil {
		return err
	}
	if c.Metadata.Type == "library" {
		return fmt.Errorf("chart %s is a library chart: it renders nothing itself", c.Name())
	}
	if err := checkDependencies(c); err != nil {
		return err
	}
	values, err := withOverrides(asked.Values, asked.Overrides)
	if err != nil {
		return err
	}
	if err := chartutil.ProcessDependencies(c, values); err != nil {
		return fmt.Errorf("the chart's dependencies: %w", err)
	}
	served, err := asked.Capabilities.resolved()
	if err != nil {
		return err
	}
	options := common.ReleaseOptions{
		Name:      asked.Release.Name,
		Namespace: asked.Release.Namespace,
		Revision:  asked.Release.Revision,
		IsInstall: !asked.Release.Upgrade,
		IsUpgrade: asked.Release.Upgrade,
	}
	defaults, err := util.CoalesceValues(c, nil)
	if err != nil {
		return err
	}
	given.Chart = factsOf(c, defaults)
	if given.CRDs, err = definitionsOf(c); err != nil {
		return err
	}
	top, err := util.ToRenderValues(c, values, options, served)
	if err != nil {
		return err
	}
	if required := c.Metadata.KubeVersion; required != "" && !chartutil.IsCompatibleRange(required, served.KubeVersion.String()) {
		return fmt.Errorf("chart requires kubeVersion: %s which is incompatible with Kubernetes %s", required, served.KubeVersion.Version)
	}
	templates := engine.Engine{CustomTemplateFuncs: template.FuncMap{"lookup": lookup}}
	files, err := templates.RenderWithContext(context.Background(), c, top)
	if err != nil {
		return err
	}
	given.Notes = takeNotes(c, files)
	return sortInto(given, files)
}

// checkDependencies: a chart without what its Chart.yaml names would render something else.
func checkDependencies(c *chart.Chart) error {
	var missing []string
	for _, wanted := range c.Metadata.Dependencies {
		isThere := slices.ContainsFunc(c.Dependencies(), func(one *chart.Chart) bool { return one.Name() == wanted.Name })
		if !isThere {
			missing = append(missing, wanted.Name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("found in Chart.yaml, but missing in charts/ directory: %s: run helm dependency build", strings.Join(missing, ", "))
}

// withOverrides sets values as `helm --set` does. Each may be a template with sprig's functions.
func withOverrides(values map[string]any, overrides map[string]string) (map[string]any, error) {
	if values == nil {
		values = map[string]any{}
	}
	functions := sprig.TxtFuncMap()
	delete(functions, "env")
	delete(functions, "expandenv")
	names := make([]string, 0, len(overrides))
	for name := range overrides {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		parsed, err := template.New(name).Funcs(functions).Parse(overrides[name])
		if err != nil {
			return nil, fmt.Errorf("overrideValues %s: %w", name, err)
		}
		var text strings.Builder
		if err := parsed.Execute(&text, nil); err != nil {
			return nil, fmt.Errorf("overrideValues %s: %w", name, err)
		}
		if err := strvals.ParseInto(name+"="+text.String(), values); err != nil {
			return nil, fmt.Errorf("overrideValues %s: %w", name, err)
		}
	}
	return values, nil
}

func (c *capabilities) resolved() (*common.Capabilities, error) {
	all := common.DefaultCapabilities.Copy()
	if c == nil {
		return all, nil
	}
	version, err := common.ParseKubeVersion(c.KubeVersion)
	if err != nil {
		return nil, fmt.Errorf("the cluster's version %q: %w", c.KubeVersion, err)
	}
	all.KubeVersion = *version
	all.APIVersions = c.APIVersions
	return all, nil
}

// takeNotes removes the notes of all charts from the files, and returns those of the main one.
func takeNotes(c *chart.Chart, files map[string]string) string {
	own := files[path.Join(c.Name(), "templates", "NOTES.txt")]
	for name := range files {
		if strings.HasSuffix(name, "NOTES.txt") {
			delete(files, name)
		}
	}
	return own
}

func sortInto(given *response, files map[string]string) error {
	hooks, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		return err
	}
	for _, one := range manifests {
		made, err := documentOf(one.Name, one.Content)
		if err != nil {
			return err
		}
		given.Manifests = append(given.Manifests, made)
	}
	for _, one := range hooks {
		made, err := documentOf(one.Path, one.Manifest)
		if err != nil {
			return err
		}
		events := []string{}
		for _, event := range one.Events {
			events = append(events, event.String())
		}
		policies := []string{}
		for _, policy := range one.DeletePolicies {
			policies = append(policies, policy.String())
		}
		given.Hooks = append(given.Hooks, hook{document: made, Events: events, Weight: one.Weight, DeletePolicies: policies})
	}
	return nil
}

func definitionsOf(c *chart.Chart) ([]document, error) {
	var all []document
	for _, crd := range c.CRDObjects() {
		made, err := documentOf(crd.Filename, string(crd.File.Data))
		if err != nil {
			return nil, err
		}
		all = append(all, made)
	}
	return all, nil
}

// documentOf parses what a template rendered. Lists become their items.
func documentOf(name, text string) (document, error) {
	made := document{Path: name, Text: text, Objects: []map[string]any{}}
	reader := utilyaml.NewYAMLReader(bufferOf(text))
	for {
		part, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return made, nil
		}
		if err != nil {
			return made, fmt.Errorf("%s: %w", name, err)
		}
		var object map[string]any
		if err := yaml.Unmarshal(part, &object, wholeNumbers); err != nil {
			return made, fmt.Errorf("%s renders what is not an object: %w", name, err)
		}
		if len(bytes.TrimSpace(part)) == 0 || object == nil {
			continue
		}
		made.Objects = append(made.Objects, itemsOf(object)...)
	}
}

func itemsOf(object map[string]any) []map[string]any {
	kind, _ := object["kind"].(string)
	items, isList := object["items"].([]any)
	if !isList || !strings.HasSuffix(kind, "List") {
		return []map[string]any{object}
	}
	var all []map[string]any
	for _, item := range items {
		if one, isObject := item.(map[string]any); isObject {
			all = append(all, itemsOf(one)...)
		}
	}
	return all
}
