package world

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"stoa/cmd/child"
)

// gcTimeout is the time of a garbage collection.
const gcTimeout = 10 * time.Second

// Process is a child process that serves HTTP on Address.
type Process struct {
	*child.Process

	Address string
	// Operator is the address of its metrics and profiles.
	Operator string
}

// Stop stops the process. A nil Process is allowed.
func (p *Process) Stop() {
	if p != nil {
		p.Process.Stop()
	}
}

// get writes what a path of the operator listener answers to a writer.
func (p *Process) get(ctx context.Context, path string, to io.Writer) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.Operator+path, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+operatorToken)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s on the operator listener: %s", path, response.Status)
	}
	_, err = io.Copy(to, response.Body)
	return err
}

// Metrics reads figures of /metrics by their names, such as go_gc_gogc_percent. All must be there.
func (p *Process) Metrics(ctx context.Context, names ...string) (map[string]float64, error) {
	var text bytes.Buffer
	if err := p.get(ctx, "/metrics", &text); err != nil {
		return nil, err
	}
	found := make(map[string]float64, len(names))
	for line := range strings.Lines(text.String()) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		for _, wanted := range names {
			if name != wanted {
				continue
			}
			figure, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return nil, fmt.Errorf("metric %s: %w", name, err)
			}
			found[name] = figure
		}
	}
	if len(found) != len(names) {
		return nil, fmt.Errorf("%s does not have all metrics of %s", p.Operator, strings.Join(names, ", "))
	}
	return found, nil
}

// CollectGarbage runs a garbage collection of the server.
func (p *Process) CollectGarbage(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, gcTimeout)
	defer cancel()
	return p.get(ctx, "/debug/pprof/heap?gc=1", io.Discard)
}

// Profile writes a profile of the server's processor time over some seconds.
func (p *Process) Profile(ctx context.Context, seconds int, to io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Duration(seconds)*time.Second)
	defer cancel()
	return p.get(ctx, fmt.Sprintf("/debug/pprof/profile?seconds=%d", seconds), to)
}

// Allocations writes a profile of the server's allocations during some seconds.
func (p *Process) Allocations(ctx context.Context, seconds int, to io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Duration(seconds)*time.Second)
	defer cancel()
	return p.get(ctx, fmt.Sprintf("/debug/pprof/allocs?seconds=%d", seconds), to)
}
