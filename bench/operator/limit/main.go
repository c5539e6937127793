// The lower limit of bench/operator/workload.ts: the writes that it needs and nothing else. There is no cache, no queue with one
// entry per object, and nothing is compared: ten workers with a connection each send the writes of each object as it arrives.
//
//	limit create    POST of the child, PUT of the status
//	limit apply     the same by server-side apply
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const workers = 10

// Objects are as small as the writes allow; the PUT of a status needs a resource version.
type metadata struct {
	Name            string           `json:"name"`
	Namespace       string           `json:"namespace"`
	UID             string           `json:"uid,omitempty"`
	ResourceVersion string           `json:"resourceVersion,omitempty"`
	Generation      int64            `json:"generation,omitempty"`
	OwnerReferences []map[string]any `json:"ownerReferences,omitempty"`
}

type status struct {
	Value              string      `json:"value"`
	Child              string      `json:"child"`
	ObservedGeneration int64       `json:"observedGeneration"`
	Conditions         []condition `json:"conditions"`
}

type condition struct {
	Type               string `json:"type"`
	Status             string `json:"status"`
	Reason             string `json:"reason"`
	Message            string `json:"message"`
	ObservedGeneration int64  `json:"observedGeneration"`
	LastTransitionTime string `json:"lastTransitionTime"`
}

type object struct {
	APIVersion string            `json:"apiVersion,omitempty"`
	Kind       string            `json:"kind,omitempty"`
	Metadata   metadata          `json:"metadata"`
	Spec       map[string]string `json:"spec,omitempty"`
	Status     *status           `json:"status,omitempty"`
	Data       map[string]string `json:"data,omitempty"`
}

type limit struct {
	client *http.Client
	server string
	apply  bool
	// Deep enough for every object: the watch never waits for a worker.
	writes chan func()
}

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	must(err)
	// Over HTTP/2 all workers would share one connection.
	config.NextProtos = []string{"http/1.1"}
	client, err := rest.HTTPClientFor(config)
	must(err)
	l := &limit{client, config.Host, len(os.Args) > 1 && os.Args[1] == "apply", make(chan func(), 1<<20)}
	for range workers {
		go func() {
			for write := range l.writes {
				write()
			}
		}()
	}
	var list struct {
		Metadata metadata `json:"metadata"`
		Items    []object `json:"items"`
	}
	must(json.NewDecoder(l.get("/apis/bench.konverge.dev/v1/widgets")).Decode(&list))
	for _, widget := range list.Items {
		l.widget(widget)
	}
	since := list.Metadata.ResourceVersion
	go l.watch("/apis/bench.konverge.dev/v1/widgets", since, "ADDED", l.widget)
	l.watch("/api/v1/configmaps", since, "DELETED", func(child object) { l.writes <- func() { l.child(child) } })
}

// What one new Widget takes.
func (l *limit) widget(widget object) {
	if widget.Status != nil && widget.Status.Value == widget.Spec["value"] {
		return
	}
	l.writes <- func() {
		name := widget.Metadata.Name
		owner := map[string]any{
			"apiVersion": "bench.konverge.dev/v1", "kind": "Widget", "name": name, "uid": widget.Metadata.UID,
			"controller": true, "blockOwnerDeletion": true,
		}
		l.child(object{
			Metadata: metadata{Name: name, Namespace: widget.Metadata.Namespace, OwnerReferences: []map[string]any{owner}},
			Data:     map[string]string{"value": widget.Spec["value"]},
		})
		done := object{
			APIVersion: "bench.konverge.dev/v1", Kind: "Widget",
			Metadata: metadata{Name: name, Namespace: widget.Metadata.Namespace},
			Status:   statusOf(widget),
		}
		path := "/apis/bench.konverge.dev/v1/namespaces/" + widget.Metadata.Namespace + "/widgets/" + name + "/status"
		if l.apply {
			l.write("PATCH", path, done)
			return
		}
		done.Metadata.ResourceVersion = widget.Metadata.ResourceVersion
		done.Spec = widget.Spec
		l.write("PUT", path, done)
	}
}

func statusOf(widget object) *status {
	generation, now := widget.Metadata.Generation, time.Now().UTC().Format(time.RFC3339)
	as := func(kind, value string) condition {
		return condition{kind, value, "AsExpected", "", generation, now}
	}
	conditions := []condition{as("Ready", "True"), as("Progressing", "False"), as("Degraded", "False")}
	return &status{widget.Spec["value"], widget.Metadata.Name, generation, conditions}
}

func (l *limit) child(child object) {
	child.APIVersion, child.Kind = "v1", "ConfigMap"
	child.Metadata.UID, child.Metadata.ResourceVersion, child.Metadata.Generation = "", "", 0
	path := "/api/v1/namespaces/" + child.Metadata.Namespace + "/configmaps"
	if l.apply {
		l.write("PATCH", path+"/"+child.Metadata.Name, child)
	} else {
		l.write("POST", path, child)
	}
}

func (l *limit) write(method, path string, body object) {
	encoded, err := json.Marshal(body)
	must(err)
	kind := "application/json"
	if method == "PATCH" {
		kind, path = "application/apply-patch+yaml", path+"?fieldManager=limit&force=true"
	}
	request, err := http.NewRequest(method, l.server+path, bytes.NewReader(encoded))
	must(err)
	request.Header.Set("Content-Type", kind)
	response := l.send(request)
	// A connection is used again only after its response has been read.
	_, err = io.Copy(io.Discard, response)
	must(err)
	must(response.Close())
}

func (l *limit) get(path string) io.ReadCloser {
	request, err := http.NewRequest("GET", l.server+path, nil)
	must(err)
	return l.send(request)
}

// The server ends watches now and then; the next one continues after the last event.
func (l *limit) watch(path, since, wanted string, handle func(object)) {
	for {
		stream := l.get(path + "?watch=true&resourceVersion=" + since)
		decoder := json.NewDecoder(stream)
		for {
			var event struct {
				Type   string `json:"type"`
				Object object `json:"object"`
			}
			if err := decoder.Decode(&event); err == io.EOF || err == io.ErrUnexpectedEOF {
				break
			} else {
				must(err)
			}
			if event.Type == "ERROR" {
				must(fmt.Errorf("the watch of %s failed", path))
			}
			since = event.Object.Metadata.ResourceVersion
			if event.Type == wanted {
				handle(event.Object)
			}
		}
		must(stream.Close())
	}
}

func (l *limit) send(request *http.Request) io.ReadCloser {
	response, err := l.client.Do(request)
	must(err)
	if response.StatusCode >= 300 {
		body, _ := io.ReadAll(response.Body)
		must(fmt.Errorf("%s %s: %s", request.Method, request.URL.Path, body))
	}
	return response.Body
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
