// Package konverge starts an embedded Kubernetes cluster for tests: an API server, the built-in controllers, the scheduler and
// simulated nodes in one process, ready in about a second. It needs the konverge executable and nothing else.
//
//	func TestReconcile(t *testing.T) {
//		cluster := konverge.ForTest(t)
//		config, err := clientcmd.BuildConfigFromFlags("", cluster.Kubeconfig)
//		...
//	}
//
// A cluster ends with the test, and with the process that started it, however that ends.
package konverge

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// ExecutableEnv names the executable when it is not in PATH.
const ExecutableEnv = "KONVERGE_EXECUTABLE"

// Cluster is a running cluster, and how an administrator reaches it.
type Cluster struct {
	// Host is the URL of the API server, for rest.Config.Host.
	Host string
	// Kubeconfig is the path of the administrator's kubeconfig. It is JSON, which is YAML as well.
	Kubeconfig string
	// CAData, CertData and KeyData are PEM, for rest.TLSClientConfig.
	CAData, CertData, KeyData []byte

	folder  string
	stdin   io.Closer
	process *exec.Cmd
	ended   chan error
	once    sync.Once
}

// Option changes how a cluster is started.
type Option func(*settings)

type settings struct {
	executable string
	args       []string
	log        io.Writer
}

// WithArgs adds options of `konverge up`, such as "--nodes", "1".
func WithArgs(args ...string) Option {
	return func(s *settings) { s.args = append(s.args, args...) }
}

// WithExecutable names the executable. Default: $KONVERGE_EXECUTABLE, or konverge in PATH.
func WithExecutable(path string) Option {
	return func(s *settings) { s.executable = path }
}

// WithLog writes what the cluster logs to w. Default: it is part of the error if the cluster does not start.
func WithLog(w io.Writer) Option {
	return func(s *settings) { s.log = w }
}

// ForTest starts a cluster that ends with the test, and fails the test if it does not start.
func ForTest(t testing.TB, options ...Option) *Cluster {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cluster, err := Start(ctx, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	return cluster
}

// Start starts a cluster and returns when it is ready. The context limits the start only.
func Start(ctx context.Context, options ...Option) (*Cluster, error) {
	s := settings{}
	for _, option := range options {
		option(&s)
	}
	executable, err := s.find()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "konverge-go-")
	if err != nil {
		return nil, err
	}
	c := &Cluster{folder: folder, Kubeconfig: filepath.Join(folder, "kubeconfig.json"), ended: make(chan error, 1)}
	args := append([]string{"up", "--kubeconfig", c.Kubeconfig, "--until-stdin-closes", "--output", "json"}, s.args...)
	c.process = exec.Command(executable, args...)
	// Noted in a folder that goes with it: it has nothing to do with clusters of the same name elsewhere.
	c.process.Env = append(os.Environ(), "KONVERGE_HOME="+folder)
	var said bytes.Buffer
	c.process.Stderr = &said
	if s.log != nil {
		c.process.Stderr = io.MultiWriter(&said, s.log)
	}
	if err := c.start(ctx); err != nil {
		c.kill()
		os.RemoveAll(folder)
		return nil, fmt.Errorf("the cluster does not start: %w\n%s", err, strings.TrimSpace(said.String()))
	}
	return c, nil
}

// Stop ends the cluster and returns when its process is gone. Stopping it again does nothing.
func (c *Cluster) Stop() error {
	var err error
	c.once.Do(func() {
		c.stdin.Close()
		select {
		case err = <-c.ended:
		case <-time.After(15 * time.Second):
			c.process.Process.Kill()
			<-c.ended
			err = errors.New("the cluster did not end within 15 seconds: its process was killed")
		}
		if removal := os.RemoveAll(c.folder); err == nil {
			err = removal
		}
	})
	return err
}

// TLSConfig is that of an administrator, for clients without client-go.
func (c *Cluster) TLSConfig() (*tls.Config, error) {
	pair, err := tls.X509KeyPair(c.CertData, c.KeyData)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(c.CAData) {
		return nil, errors.New("the certificate of the cluster's authority cannot be read")
	}
	return &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}}, nil
}

// EnvtestAssets returns a folder for KUBEBUILDER_ASSETS, or envtest.Environment.BinaryAssetsDirectory: suites on
// controller-runtime's envtest run on the embedded cluster, unchanged. It takes options of `konverge envtest` by WithArgs.
func EnvtestAssets(folder string, options ...Option) (string, error) {
	s := settings{}
	for _, option := range options {
		option(&s)
	}
	executable, err := s.find()
	if err != nil {
		return "", err
	}
	var said bytes.Buffer
	command := exec.Command(executable, append([]string{"envtest", "--folder", folder}, s.args...)...)
	command.Stderr = &said
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("konverge envtest: %w\n%s", err, strings.TrimSpace(said.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

func (s settings) find() (string, error) {
	if s.executable != "" {
		return s.executable, nil
	}
	if path := os.Getenv(ExecutableEnv); path != "" {
		return path, nil
	}
	path, err := exec.LookPath("konverge")
	if err != nil {
		return "", fmt.Errorf("no konverge in PATH: install the executable, or name it with $%s: %w", ExecutableEnv, err)
	}
	return path, nil
}

// start runs the process until it reports that it is ready.
func (c *Cluster) start(ctx context.Context) error {
	stdin, err := c.process.StdinPipe()
	if err != nil {
		return err
	}
	c.stdin = stdin
	stdout, err := c.process.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.process.Start(); err != nil {
		return err
	}
	lines := make(chan string, 1)
	go func() {
		reader := bufio.NewReader(stdout)
		line, _ := reader.ReadString('\n')
		lines <- line
		// A full pipe would stop the cluster: its output is always read.
		io.Copy(io.Discard, reader)
		c.ended <- c.process.Wait()
	}()
	select {
	case line := <-lines:
		return c.read(line)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Cluster) read(line string) error {
	var ready struct{ URL string }
	if err := json.Unmarshal([]byte(line), &ready); err != nil {
		return fmt.Errorf("it printed %q", line)
	}
	text, err := os.ReadFile(c.Kubeconfig)
	if err != nil {
		return err
	}
	var config struct {
		Clusters []struct {
			Cluster struct {
				CA []byte `json:"certificate-authority-data"`
			}
		}
		Users []struct {
			User struct {
				Cert []byte `json:"client-certificate-data"`
				Key  []byte `json:"client-key-data"`
			}
		}
	}
	if err := json.Unmarshal(text, &config); err != nil {
		return err
	}
	if len(config.Clusters) != 1 || len(config.Users) != 1 {
		return fmt.Errorf("%s has not one cluster and one user", c.Kubeconfig)
	}
	user := config.Users[0].User
	c.Host, c.CAData, c.CertData, c.KeyData = ready.URL, config.Clusters[0].Cluster.CA, user.Cert, user.Key
	return nil
}

func (c *Cluster) kill() {
	if c.stdin != nil {
		c.stdin.Close()
	}
	if c.process.Process != nil {
		c.process.Process.Kill()
		<-c.ended
	}
}
