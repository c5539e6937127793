// Package rest has what Helm's engine names of client-go.
package rest

// Config of a connection: the engine has none.
type Config struct{}
