package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

type lookupFunction = func(apiVersion, kind, namespace, name string) (map[string]any, error)

// lookups answers `lookup` from what the host has read, and keeps a list of what it has not.
type lookups struct {
	known   map[string]lookupResult
	missing []lookup
}

func (l *lookups) call(apiVersion, kind, namespace, name string) (map[string]any, error) {
	asked := lookup{apiVersion, kind, namespace, name}
	if found, isKnown := l.known[strings.Join([]string{apiVersion, kind, namespace, name}, "|")]; isKnown {
		if found.Error != "" {
			return map[string]any{}, errors.New(found.Error)
		}
		if found.Object != nil {
			return found.Object, nil
		}
	} else if !slices.Contains(l.missing, asked) {
		l.missing = append(l.missing, asked)
	}
	return map[string]any{}, nil
}

func bufferOf(text string) *bufio.Reader {
	return bufio.NewReader(strings.NewReader(text + "\n"))
}

// wholeNumbers keeps integers of any length as they are written.
func wholeNumbers(decoder *json.Decoder) *json.Decoder {
	decoder.UseNumber()
	return decoder
}
