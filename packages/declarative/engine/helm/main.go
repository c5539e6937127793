// Helm's template engine, and KUDO's, as a program without files and without a network: one request on stdin, one response on stdout.
// The host ends it when it takes too long.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	kjson "k8s.io/apimachinery/pkg/util/json"
)

func main() {
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		fail(err)
	}
	var asked request
	// Whole numbers stay whole, as in objects that a Go client reads.
	if err := kjson.Unmarshal(input, &asked); err != nil {
		fail(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(answer(asked)); err != nil {
		fail(err)
	}
}

func answer(asked request) response {
	if asked.Task != nil {
		return renderTask(*asked.Task)
	}
	return render(asked)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
