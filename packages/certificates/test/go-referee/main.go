// Asks Go's crypto/x509 about certificates, for the tests of packages/certificates.
//
// "verify" reads cases as JSON from standard input and writes Go's answer to each; "issue" writes chains that Go made
// itself, the way programs of the Kubernetes world make them.
package main

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

type verifyCase struct {
	// DER; the certificate to judge first, then what its server sends with it.
	Chain [][]byte  `json:"chain"`
	Roots [][]byte  `json:"roots"`
	Host  string    `json:"host"`
	Time  time.Time `json:"time"`
}

func main() {
	if len(os.Args) != 2 {
		fail(fmt.Errorf("usage: %s verify|issue", os.Args[0]))
	}
	var output any
	switch os.Args[1] {
	case "verify":
		var cases []verifyCase
		if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
			fail(err)
		}
		answers := []string{}
		for _, each := range cases {
			answers = append(answers, answer(each))
		}
		output = answers
	case "issue":
		output = issued()
	default:
		fail(fmt.Errorf("unknown command %q", os.Args[1]))
	}
	if err := json.NewEncoder(os.Stdout).Encode(output); err != nil {
		fail(err)
	}
}

// answer is what a TLS client would find out: nothing, if it trusts the server.
func answer(one verifyCase) string {
	options := x509.VerifyOptions{
		DNSName:       one.Host,
		CurrentTime:   one.Time,
		Roots:         x509.NewCertPool(),
		Intermediates: x509.NewCertPool(),
	}
	for _, der := range one.Roots {
		// One that cannot be read is not trusted: so does AppendCertsFromPEM.
		if root, err := x509.ParseCertificate(der); err == nil {
			options.Roots.AddCert(root)
		}
	}
	var leaf *x509.Certificate
	for i, der := range one.Chain {
		certificate, err := x509.ParseCertificate(der)
		if err != nil {
			return "parse: " + err.Error()
		}
		if i == 0 {
			leaf = certificate
		} else {
			options.Intermediates.AddCert(certificate)
		}
	}
	if _, err := leaf.Verify(options); err != nil {
		return "verify: " + err.Error()
	}
	return ""
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
