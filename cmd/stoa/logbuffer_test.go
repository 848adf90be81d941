package main

import (
	"bytes"
	"encoding/json"
	"sync"
)

// logBuffer collects the lines of a JSON log.
type logBuffer struct {
	mu    sync.Mutex
	text  []byte
	grown chan struct{}
}

func newLogBuffer() *logBuffer { return &logBuffer{grown: make(chan struct{})} }

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p...)
	close(b.grown)
	b.grown = make(chan struct{})
	return len(p), nil
}

// String returns all that was logged.
func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.text)
}

// find returns the first line with that message and attributes, or a channel that is closed when more is logged.
func (b *logBuffer) find(message string, attributes []string) (map[string]any, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for line := range bytes.Lines(b.text) {
		var fields map[string]any
		if json.Unmarshal(line, &fields) != nil || fields["msg"] != message {
			continue
		}
		matches := true
		for i := 0; i+1 < len(attributes); i += 2 {
			matches = matches && fields[attributes[i]] == attributes[i+1]
		}
		if matches {
			return fields, nil
		}
	}
	return nil, b.grown
}
