package konverge

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Explore explores a program of this module with faults on virtual time, and fails the test with the timeline of each finding:
// `konverge explore --go` with a package main, such as "./cmd", and a file with a scenario. It takes options of
// `konverge explore` by WithArgs. The program is compiled for js/wasm with the Go that runs the test, and its sources stay as they are.
//
//	func TestItSurvives(t *testing.T) {
//		konverge.Explore(t, "../cmd", "testdata/story.yaml", konverge.WithArgs("--faults", "crash,error"))
//	}
func Explore(t testing.TB, program, scenario string, options ...Option) {
	t.Helper()
	s := settings{}
	for _, option := range options {
		option(&s)
	}
	executable, err := s.find()
	if err != nil {
		t.Fatal(err)
	}
	results := t.TempDir()
	args := append([]string{"explore", "--go", program, "--scenario", scenario, "--results", results}, s.args...)
	command := exec.Command(executable, args...)
	var said, reported bytes.Buffer
	command.Stdout, command.Stderr = &reported, &said
	if s.log != nil {
		command.Stderr = io.MultiWriter(&said, s.log)
	}
	failure := command.Run()
	// Written when the exploration has ended, whatever it has found.
	if _, err := os.Stat(filepath.Join(results, "exploration.json")); err != nil {
		t.Fatalf("konverge explore: %v\n%s%s", failure, reported.String(), strings.TrimSpace(said.String()))
	}
	findings, err := filepath.Glob(filepath.Join(results, "finding-*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range findings {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Errorf("konverge explore found:\n%s", text)
	}
	if len(findings) == 0 {
		t.Log(strings.TrimSpace(reported.String()))
	}
}
