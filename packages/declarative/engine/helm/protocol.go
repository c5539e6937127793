package main

// request is what the host wants to have rendered.
type request struct {
	Chart chartSource `json:"chart"`
	// What the user set. The chart's defaults are below it.
	Values map[string]any `json:"values"`
	// As with `helm --set`, above everything else; a value is a template.
	Overrides    map[string]string `json:"overrides"`
	Release      release           `json:"release"`
	Capabilities *capabilities     `json:"capabilities"`
	// What `lookup` returns, by the text of its arguments.
	Lookups map[string]lookupResult `json:"lookups"`
	// Templates of a KUDO package, instead of a chart.
	Task *taskRequest `json:"task"`
}

// chartSource has the files of a folder, or a packaged chart.
type chartSource struct {
	Files   []sourceFile `json:"files"`
	Archive []byte       `json:"archive"`
}

type sourceFile struct {
	Name string `json:"name"`
	Data []byte `json:"data"`
}

type release struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	Revision  int    `json:"revision"`
	Upgrade   bool   `json:"upgrade"`
}

// capabilities of the cluster; those of `helm template` without.
type capabilities struct {
	KubeVersion string   `json:"kubeVersion"`
	APIVersions []string `json:"apiVersions"`
}

type lookupResult struct {
	Object map[string]any `json:"object"`
	Error  string         `json:"error"`
}

// lookup is a call that the request had no result for.
type lookup struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
}

type response struct {
	Chart     *chartFacts `json:"chart,omitempty"`
	CRDs      []document  `json:"crds,omitempty"`
	Manifests []document  `json:"manifests,omitempty"`
	Hooks     []hook      `json:"hooks,omitempty"`
	Notes     string      `json:"notes,omitempty"`
	// Calls that returned nothing because the request had no result for them: what was rendered is preliminary.
	Missing []lookup `json:"missing,omitempty"`
	// What a file with parameters has.
	Parameters map[string]string `json:"parameters,omitempty"`
	Error      string            `json:"error,omitempty"`
}

type chartFacts struct {
	Name       string `json:"name"`
	Version    string `json:"version"`
	AppVersion string `json:"appVersion,omitempty"`
	// Of the chart and its enabled subcharts, merged.
	Values map[string]any `json:"values"`
	Schema []byte         `json:"schema,omitempty"`
	// Texts of all templates, by their names.
	Templates map[string]string `json:"templates"`
	// What the chart requires of Kubernetes.
	KubeVersion string `json:"kubeVersion,omitempty"`
}

type document struct {
	Path string `json:"path"`
	Text string `json:"text"`
	// Empty if there are only comments in the text.
	Objects []map[string]any `json:"objects"`
}

type hook struct {
	document
	Events         []string `json:"events"`
	Weight         int      `json:"weight"`
	DeletePolicies []string `json:"deletePolicies"`
}
