package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	goyaml "go.yaml.in/yaml/v2"
	"sigs.k8s.io/yaml"
)

// taskRequest is the templates of a task of a KUDO package.
type taskRequest struct {
	Templates []namedText `json:"templates"`
	// `.Name`, `.Namespace` and the like.
	Values     map[string]any  `json:"values"`
	Parameters []taskParameter `json:"parameters"`
	// The templates are files with parameters of another package, not objects.
	ParameterFile bool `json:"parameterFile"`
}

type namedText struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

type taskParameter struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Value string `json:"value"`
}

// notInTemplates are functions about the machine that renders.
var notInTemplates = []string{"env", "expandenv", "base", "dir", "clean", "ext", "isAbs"}

// renderTask does what KUDO does with the templates of a task.
func renderTask(asked taskRequest) (given response) {
	defer func() {
		if problem := recover(); problem != nil {
			given.Error = fmt.Sprint(problem)
		}
	}()
	if err := renderTaskInto(&given, asked); err != nil {
		given.Error = err.Error()
	}
	return given
}

func renderTaskInto(given *response, asked taskRequest) error {
	parameters := map[string]any{}
	for _, one := range asked.Parameters {
		value, err := one.unwrapped()
		if err != nil {
			return fmt.Errorf("could not parse parameters: parameter %s: %w", one.Name, err)
		}
		parameters[one.Name] = value
	}
	values := asked.Values
	values["Params"] = parameters
	functions := taskFunctions()
	for _, one := range asked.Templates {
		text, err := renderText(one, values, functions)
		if err != nil {
			return err
		}
		if asked.ParameterFile {
			if given.Parameters, err = parametersIn(one.Name, text); err != nil {
				return err
			}
			continue
		}
		made, err := documentOf(one.Name, text)
		if err != nil {
			return fmt.Errorf("parsing YAML from %w", err)
		}
		given.Manifests = append(given.Manifests, made)
	}
	return nil
}

func taskFunctions() template.FuncMap {
	functions := sprig.TxtFuncMap()
	for _, name := range notInTemplates {
		delete(functions, name)
	}
	functions["toYaml"] = func(value any) (string, error) {
		text, err := goyaml.Marshal(value)
		return string(text), err
	}
	return functions
}

func renderText(one namedText, values map[string]any, functions template.FuncMap) (string, error) {
	parsed, err := template.New("gotpl").Option("missingkey=error").New(one.Name).Funcs(functions).Parse(one.Text)
	if err != nil {
		return "", fmt.Errorf("error expanding template %s: error parsing template: %w", one.Name, err)
	}
	var text bytes.Buffer
	if err := parsed.ExecuteTemplate(&text, one.Name, values); err != nil {
		return "", fmt.Errorf("error expanding template %s: error rendering template: %w", one.Name, err)
	}
	return text.String(), nil
}

// unwrapped: all parameters are texts; those of maps and arrays are YAML.
func (p taskParameter) unwrapped() (any, error) {
	switch p.Type {
	case "map":
		var value any
		err := yaml.Unmarshal([]byte(p.Value), &value)
		return value, err
	case "array":
		var value []any
		err := yaml.Unmarshal([]byte(p.Value), &value)
		return value, err
	default:
		return p.Value, nil
	}
}

// parametersIn reads the parameters of another package as the `--parameter-file` of `kubectl kudo` has them.
func parametersIn(name, text string) (map[string]string, error) {
	data := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &data); err != nil {
		return nil, fmt.Errorf("error unmarshalling content of parameter file %s: %w", name, err)
	}
	parameters := map[string]string{}
	var nulls []string
	for key, value := range data {
		switch value.(type) {
		case nil:
			nulls = append(nulls, key)
		case map[string]any, []any:
			wrapped, err := yaml.Marshal(value)
			if err != nil {
				return nil, fmt.Errorf("parameter file %s: %s: %w", name, key, err)
			}
			parameters[key] = string(wrapped)
		default:
			parameters[key] = fmt.Sprintf("%v", value)
		}
	}
	if len(nulls) > 0 {
		slices.Sort(nulls)
		return nil, fmt.Errorf("parameter file %s: null values are not supported: %s", name, strings.Join(nulls, ", "))
	}
	return parameters, nil
}
