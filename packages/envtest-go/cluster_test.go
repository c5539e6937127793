package konverge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	konverge "github.com/konverge/konverge/packages/envtest-go"
)

func TestAClusterAnswersItsAdministratorAndEnds(t *testing.T) {
	cluster := konverge.ForTest(t, konverge.WithArgs("--nodes", "1", "--gpus", "none"))
	config, err := cluster.TLSConfig()
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
	body := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one"},"data":{"a":"b"}}`
	response, err := client.Post(cluster.Host+"/api/v1/namespaces/default/configmaps", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var created struct {
		Metadata struct{ UID string }
	}
	if err := json.NewDecoder(response.Body).Decode(&created); err != nil || response.StatusCode != 201 || created.Metadata.UID == "" {
		t.Fatalf("status %d: %v", response.StatusCode, err)
	}
	folder := filepath.Dir(cluster.Kubeconfig)
	for range 2 {
		if err := cluster.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("%s is still there", folder)
	}
	client.CloseIdleConnections()
	if _, err := client.Get(cluster.Host + "/livez"); err == nil {
		t.Error("a cluster that was stopped still answers")
	}
}

func TestWhatIsWrongIsPartOfTheError(t *testing.T) {
	_, err := konverge.Start(context.Background(), konverge.WithArgs("--nodes", "many"))
	if err == nil || !strings.Contains(err.Error(), "it must be a whole number") {
		t.Errorf("the error is %v", err)
	}
	t.Setenv(konverge.ExecutableEnv, "")
	t.Setenv("PATH", t.TempDir())
	_, err = konverge.Start(context.Background())
	if err == nil || !strings.Contains(err.Error(), "no konverge in PATH") {
		t.Errorf("the error is %v", err)
	}
}

func TestTheLogOfTheClusterCanBeRead(t *testing.T) {
	var log bytes.Buffer
	_, err := konverge.Start(context.Background(), konverge.WithArgs("--operators", "all"), konverge.WithLog(&log))
	if err == nil || !strings.Contains(log.String(), "has no operators") {
		t.Errorf("the log is %q, the error %v", log.String(), err)
	}
}
