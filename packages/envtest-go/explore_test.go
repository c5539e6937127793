package konverge_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	konverge "github.com/konverge/konverge/packages/envtest-go"
)

// failures are those that a test would have reported.
type failures struct {
	testing.TB
	texts []string
}

func (f *failures) Helper()                   {}
func (f *failures) Errorf(s string, a ...any) { f.texts = append(f.texts, fmt.Sprintf(s, a...)) }
func (f *failures) Fatalf(s string, a ...any) { f.Errorf(s, a...); panic(f) }

// explored explores a program with this text, and returns what fails.
func explored(t *testing.T, program string) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("programs are compiled with Go, which is not in PATH")
	}
	folder := t.TempDir()
	files := map[string]string{
		"go.mod":  "module example.com/program\n\ngo 1.24\n",
		"main.go": program,
		"story.yaml": "steps:\n- apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: one}}\n" +
			"- wait: idle\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(folder)
	found := &failures{TB: t}
	func() {
		defer func() {
			if ended := recover(); ended != nil && ended != any(found) {
				panic(ended)
			}
		}()
		konverge.Explore(found, ".", "story.yaml", konverge.WithArgs("--workers", "1", "--faults", "crash"))
	}()
	return strings.Join(found.texts, "\n")
}

func TestAnExplorationFailsWithTheTimelineOfWhatItFinds(t *testing.T) {
	text := explored(t, "package main\n\nfunc main() { panic(\"it cannot work\") }\n")
	for _, part := range []string{"panic: it cannot work", "main.go:3", "operator"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in:\n%s", part, text)
		}
	}
}

func TestAnExplorationWithoutFindingsPasses(t *testing.T) {
	if text := explored(t, "package main\n\nimport \"time\"\n\nfunc main() { time.Sleep(1 << 60) }\n"); text != "" {
		t.Error(text)
	}
}

func TestAProgramThatDoesNotCompileFailsWithTheReason(t *testing.T) {
	text := explored(t, "package main\n\nfunc main() { missing() }\n")
	if !strings.Contains(text, "undefined: missing") {
		t.Error(text)
	}
}
