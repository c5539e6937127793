package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"time"
)

// chain is one that Go made: the certificate of a server, and the authority above it.
type chain struct {
	Leaf []byte `json:"leaf"`
	Root []byte `json:"root"`
}

var (
	from  = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	until = time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
)

func issued() map[string]chain {
	return map[string]chain{
		"knative": knative(),
		"envtest": envtest(),
		"rsa":     withRSA(),
	}
}

// knative's webhooks: one template for both certificates, so that subject and issuer of the server's are the same, in which
// case Go writes no authority key identifier.
func knative() chain {
	template := func(serial int64) *x509.Certificate {
		return &x509.Certificate{
			SerialNumber:          big.NewInt(serial),
			Subject:               pkix.Name{Organization: []string{"knative.dev"}, CommonName: "webhook.knative.svc"},
			NotBefore:             from,
			NotAfter:              until,
			BasicConstraintsValid: true,
			DNSNames:              []string{"webhook", "webhook.knative", "webhook.knative.svc", "webhook.knative.svc.cluster.local"},
		}
	}
	ca, server := template(1), template(2)
	ca.IsCA = true
	ca.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature
	ca.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	server.KeyUsage = x509.KeyUsageKeyEncipherment | x509.KeyUsageDigitalSignature
	server.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	return signed(ca, server, ecKey(), ecKey())
}

// envtest's webhooks: its own authority, which has a DNS name, and a certificate that does not say whether it is one.
func envtest() chain {
	ca := &x509.Certificate{
		SerialNumber:          big.NewInt(0),
		Subject:               pkix.Name{Organization: []string{"envtest"}, CommonName: "envtest-environment"},
		DNSNames:              []string{"envtest-environment"},
		NotBefore:             from,
		NotAfter:              until,
		KeyUsage:              x509.KeyUsageKeyEncipherment | x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	server := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "localhost"},
		DNSNames:     []string{"localhost"},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore:    from,
		NotAfter:     until,
		KeyUsage:     x509.KeyUsageKeyEncipherment | x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	return signed(ca, server, ecKey(), ecKey())
}

func withRSA() chain {
	ca := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "rsa root"},
		NotBefore:             from,
		NotAfter:              until,
		BasicConstraintsValid: true,
		IsCA:                  true,
		SignatureAlgorithm:    x509.SHA384WithRSAPSS,
	}
	server := &x509.Certificate{
		SerialNumber:       big.NewInt(2),
		Subject:            pkix.Name{CommonName: "server"},
		DNSNames:           []string{"server.example.com"},
		NotBefore:          from,
		NotAfter:           until,
		SignatureAlgorithm: x509.SHA384WithRSAPSS,
	}
	return signed(ca, server, rsaKey(), ecKey())
}

func signed(ca, server *x509.Certificate, caKey, serverKey crypto.Signer) chain {
	root, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		fail(err)
	}
	parent, err := x509.ParseCertificate(root)
	if err != nil {
		fail(err)
	}
	leaf, err := x509.CreateCertificate(rand.Reader, server, parent, serverKey.Public(), caKey)
	if err != nil {
		fail(err)
	}
	return chain{Leaf: leaf, Root: root}
}

func ecKey() crypto.Signer {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		fail(err)
	}
	return key
}

func rsaKey() crypto.Signer {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		fail(err)
	}
	return key
}
