package main

import (
	"bytes"
	"io/fs"
	"path"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/ignore"
)

// loaded reads the chart as Helm reads it from a folder or from an archive.
func (s chartSource) loaded() (*chart.Chart, error) {
	if len(s.Archive) > 0 {
		return loader.LoadArchive(bytes.NewReader(s.Archive))
	}
	rules := ignore.Empty()
	for _, file := range s.Files {
		if file.Name == ignore.HelmIgnore {
			parsed, err := ignore.Parse(bytes.NewReader(file.Data))
			if err != nil {
				return nil, err
			}
			rules = parsed
		}
	}
	rules.AddDefaults()
	var files []*archive.BufferedFile
	for _, file := range s.Files {
		if isIgnored(rules, file.Name) {
			continue
		}
		data := bytes.TrimPrefix(file.Data, []byte("\uFEFF"))
		files = append(files, &archive.BufferedFile{Name: file.Name, Data: data})
	}
	return loader.LoadFiles(files)
}

// isIgnored: a file is ignored with each folder that it is in.
func isIgnored(rules *ignore.Rules, name string) bool {
	parts := strings.Split(name, "/")
	for i := range parts {
		isFolder := i < len(parts)-1
		if rules.Ignore(strings.Join(parts[:i+1], "/"), entry{name: parts[i], folder: isFolder}) {
			return true
		}
	}
	return false
}

// entry is a file or a folder as rules see it.
type entry struct {
	name   string
	folder bool
}

func (e entry) Name() string       { return path.Base(e.name) }
func (e entry) Size() int64        { return 0 }
func (e entry) ModTime() time.Time { return time.Time{} }
func (e entry) IsDir() bool        { return e.folder }
func (e entry) Sys() any           { return nil }
func (e entry) Mode() fs.FileMode {
	if e.folder {
		return fs.ModeDir
	}
	return 0
}

// factsOf returns what the host has to know of a chart whose dependencies have been processed.
func factsOf(c *chart.Chart, values map[string]any) *chartFacts {
	templates := map[string]string{}
	collectTemplates(c, templates)
	return &chartFacts{
		Name:        c.Name(),
		Version:     c.Metadata.Version,
		AppVersion:  c.Metadata.AppVersion,
		Values:      values,
		Schema:      c.Schema,
		Templates:   templates,
		KubeVersion: c.Metadata.KubeVersion,
	}
}

func collectTemplates(c *chart.Chart, into map[string]string) {
	for _, file := range c.Templates {
		into[path.Join(c.ChartFullPath(), file.Name)] = string(file.Data)
	}
	for _, dependency := range c.Dependencies() {
		collectTemplates(dependency, into)
	}
}
