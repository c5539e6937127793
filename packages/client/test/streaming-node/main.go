// A node that can only stream: exec, attach, logs and port forwarding with the code that kubelets use, so that a client's
// streams can be tried through a real API server. A "container" is this machine: commands run here, ports are local.
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

const idle = time.Hour
const creation = 10 * time.Second

type node struct{}

func (node) ExecInContainer(ctx context.Context, _, _, _ string, command []string, in io.Reader, out, errOut io.WriteCloser, _ bool, resize <-chan remotecommand.TerminalSize, _ time.Duration) error {
	if command[0] == "terminal-size" {
		size := <-resize
		_, err := fmt.Fprintf(out, "%dx%d", size.Width, size.Height)
		return err
	}
	process := exec.CommandContext(ctx, command[0], command[1:]...)
	if in != nil {
		process.Stdin = in
	}
	if out != nil {
		process.Stdout = out
	}
	if errOut != nil {
		process.Stderr = errOut
	}
	err := process.Run()
	if exit, ok := err.(*exec.ExitError); ok {
		return utilexec.CodeExitError{Err: err, Code: exit.ExitCode()}
	}
	return err
}

func (node) AttachContainer(_ context.Context, _, _, _ string, in io.Reader, out, _ io.WriteCloser, _ bool, _ <-chan remotecommand.TerminalSize) error {
	_, err := io.Copy(out, in)
	return err
}

func (node) PortForward(_ context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
	connection, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	defer connection.Close()
	go func() {
		io.Copy(connection, stream)
		connection.(*net.TCPConn).CloseWrite()
	}()
	_, err = io.Copy(stream, connection)
	return err
}

func logs(w http.ResponseWriter, follow bool) {
	io.WriteString(w, "first\n\nthird\n")
	if !follow {
		return
	}
	for i := 0; i < 3; i++ {
		w.(http.Flusher).Flush()
		time.Sleep(50 * time.Millisecond)
		fmt.Fprintf(w, "later %d\n", i)
	}
}

func serve(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(r.URL.Path, "/") // "", what, namespace, pod, container
	if len(parts) < 4 {
		http.NotFound(w, r)
		return
	}
	// As kubelets, whose streams have no media type.
	if accept := r.Header.Get("Accept"); accept != "" && !strings.Contains(accept, "*/*") {
		http.Error(w, "406: Not Acceptable", http.StatusNotAcceptable)
		return
	}
	what, pod := parts[1], parts[3]
	container := parts[len(parts)-1]
	protocols := []string{remotecommand.StreamProtocolV4Name} // API servers translate version 5
	switch what {
	case "exec", "attach":
		options, err := remotecommand.NewOptions(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		} else if what == "exec" {
			remotecommand.ServeExec(w, r, node{}, pod, "", container, r.Form["command"], options, idle, creation, protocols)
		} else {
			remotecommand.ServeAttach(w, r, node{}, pod, "", container, options, idle, creation, protocols)
		}
	case "portForward":
		options, err := portforward.NewV4Options(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		portforward.ServePortForward(w, r, node{}, pod, "", options, idle, creation, []string{portforward.ProtocolV1Name})
	case "containerLogs":
		logs(w, r.FormValue("follow") == "true")
	default:
		http.NotFound(w, r)
	}
}

func certificate() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	// SPDY's upgrade is of HTTP/1.1 alone.
	config := &tls.Config{Certificates: []tls.Certificate{certificate()}, NextProtos: []string{"http/1.1"}}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	panic(http.Serve(tls.NewListener(listener, config), http.HandlerFunc(serve)))
}
