import { join } from "node:path";
import { BRIDGE } from "./program-bridge.ts";

/** The package of the bridge, below the module's root: no program has one of this name. */
const FOLDER = "konvergebridge";

/**
 * What a program is compiled with besides its own files, by path: a package through which its host reaches it. Connections to its
 * listeners and signals have no other way in, because the standard js port has neither. The files exist for the compiler only.
 */
export function bridgeFiles(
  module: { readonly path: string; readonly root: string },
  main: string,
): Map<string, string> {
  return new Map([
    [join(module.root, FOLDER, "bridge.go"), SOURCE],
    [join(main, "konvergebridge_js.go"), `package main\n\nimport _ "${module.path}/${FOLDER}"\n`],
  ]);
}

/** Needed by the bridge: it delivers signals by a function that package os/signal does not export, which it declares without a body. */
export const BRIDGE_LINKER_FLAGS = "-checklinkname=0";
export const bridgeCompilerFlags = (module: string) => `-gcflags=${module}/${FOLDER}=-complete=false`;

const SOURCE = `// Package konvergebridge lets the host of a program reach it: it is part of programs that are compiled for an exploration.
package konvergebridge

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"syscall/js"
	"time"
	_ "unsafe"

	_ "os/signal"
)

//go:linkname deliver os/signal.process
func deliver(os.Signal)

// clients keep their connections, as an API server does: one for each server, port and bundle.
var clients = map[[3]string]*http.Client{}

func init() {
	js.Global().Set("${BRIDGE}", map[string]any{
		"terminate": js.FuncOf(func(js.Value, []js.Value) any {
			// By its name: the port numbers signals in another way than Linux.
			deliver(syscall.SIGTERM)
			return nil
		}),
		"post": js.FuncOf(func(_ js.Value, args []js.Value) any {
			port, host, roots, path := args[0].String(), args[1].String(), args[2].String(), args[3].String()
			body := make([]byte, args[4].Length())
			js.CopyBytesToGo(body, args[4])
			timeout, answer := time.Duration(args[5].Int())*time.Millisecond, args[6]
			go func() {
				status, text, err := post(port, host, roots, path, body, timeout)
				if err != nil {
					answer.Invoke(0, err.Error())
					return
				}
				answer.Invoke(status, text)
			}()
			return nil
		}),
	})
}

func post(port, host, roots, path string, body []byte, timeout time.Duration) (int, string, error) {
	client, err := clientOf(port, host, roots)
	if err != nil {
		return 0, "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, "POST", "https://"+host+path, bytes.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

func clientOf(port, host, roots string) (*http.Client, error) {
	key := [3]string{port, host, roots}
	if client := clients[key]; client != nil {
		return client, nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(roots)) {
		return nil, errors.New("tls: failed to verify certificate: x509: certificate signed by unknown authority")
	}
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		return nil, err
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", port))
	}
	client := &http.Client{Transport: &http.Transport{
		DialContext:     dial,
		TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: name},
	}}
	clients[key] = client
	return client, nil
}
`;
