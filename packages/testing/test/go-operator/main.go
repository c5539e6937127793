// A small operator without dependencies, for tests of Go programs under virtual time. For each ConfigMap with the label parent it
// creates two more, and with the argument faulty it takes the first one for a sign that both exist. Other arguments show what a
// program finds around it.
package main

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"
)

func main() {
	mode := os.Args[1]
	switch mode {
	case "report":
		report()
	case "panic":
		var nobody *struct{ name string }
		fmt.Println(nobody.name)
	case "race":
		race()
	case "listen":
		go admit()
		end := make(chan os.Signal, 1)
		signal.Notify(end, syscall.SIGTERM)
		fmt.Println("received SIGTERM", <-end == syscall.SIGTERM)
	case "admitting":
		go admit()
		operate(false)
	default:
		operate(mode == "faulty")
	}
}

// report prints what the process finds: everything that its host decides.
func report() {
	greeting, err := os.ReadFile("/config/greeting")
	fmt.Println("args", os.Args[1:], "env", os.Getenv("GREETING"), "file", string(greeting), err)
	_, err = os.Stat("/etc/passwd")
	fmt.Println("passwd", os.IsNotExist(err))
	file, err := os.CreateTemp("", "note-*")
	if err != nil {
		panic(err)
	}
	file.WriteString("written")
	file.Close()
	content, _ := os.ReadFile(file.Name())
	info, _ := os.Stat(file.Name())
	fmt.Println("temporary", string(content), info.Size(), info.IsDir())
	number := make([]byte, 4)
	rand.Read(number)
	fmt.Printf("random %x\n", number)
	began := time.Now()
	time.Sleep(90 * time.Minute)
	fmt.Println("slept", time.Since(began), began.UTC().Format(time.RFC3339))
	_, err = http.Get("http://elsewhere.example.com/")
	fmt.Println("elsewhere", err)
	fmt.Fprint(os.Stderr, "without a line feed")
	os.Exit(3)
}

// race prints which of several goroutines comes first.
func race() {
	first := make(chan int, 8)
	for i := range 8 {
		go func() { first <- i }()
	}
	for range 8 {
		fmt.Print(<-first)
	}
	fmt.Println()
}

// admit serves a webhook that labels what is created.
func admit() {
	folder := "/tmp/k8s-webhook-server/serving-certs"
	http.HandleFunc("/label", func(w http.ResponseWriter, request *http.Request) {
		var review struct{ Request struct{ UID string } }
		if err := json.NewDecoder(request.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		json.NewEncoder(w).Encode(map[string]any{
			"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": map[string]any{
				"uid": review.Request.UID, "allowed": true, "patchType": "JSONPatch",
				"patch": []byte(`[{"op":"add","path":"/metadata/labels/admitted","value":"yes"}]`),
			},
		})
	})
	panic(http.ListenAndServeTLS(":9443", folder+"/tls.crt", folder+"/tls.key", nil))
}

func operate(faulty bool) {
	config, err := os.ReadFile(os.Getenv("KUBECONFIG"))
	if err != nil {
		panic(err)
	}
	server := string(regexp.MustCompile(`server: "([^"]+)"`).FindSubmatch(config)[1])
	url := server + "/api/v1/namespaces/default/configmaps"
	for {
		if err := watch(url, faulty); err != nil {
			fmt.Println("error:", err)
		}
		time.Sleep(time.Second)
	}
}

func watch(url string, faulty bool) error {
	response, err := http.Get(url + "?watch=true&labelSelector=parent")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		var event struct {
			Type   string
			Object struct{ Metadata struct{ Name string } }
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return err
		}
		if event.Type != "ADDED" {
			continue
		}
		for i, suffix := range []string{"first", "second"} {
			isNew, err := create(url, event.Object.Metadata.Name+"-"+suffix)
			if err != nil {
				return err
			}
			if faulty && i == 0 && !isNew {
				break
			}
		}
	}
	return lines.Err()
}

func create(url, name string) (bool, error) {
	body, _ := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name},
	})
	response, err := http.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	var status struct{ Reason string }
	if err := json.NewDecoder(response.Body).Decode(&status); err != nil {
		return false, err
	}
	if response.StatusCode != http.StatusCreated && status.Reason != "AlreadyExists" {
		return false, fmt.Errorf("create %s: %s %s", name, response.Status, status.Reason)
	}
	return response.StatusCode == http.StatusCreated, nil
}
