package world

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// ask reads a path of the server's operator listener into to.
func (p *Process) ask(ctx context.Context, path string, to io.Writer) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.Operator+path, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+OperatorToken)
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

// collection is how long a garbage collection may take.
const collection = 10 * time.Second

// Collect has the server collect its garbage.
func (p *Process) Collect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, collection)
	defer cancel()
	return p.ask(ctx, "/debug/pprof/heap?gc=1", io.Discard)
}

// Profile writes a profile of the server's processor time, taken for so many seconds.
func (p *Process) Profile(ctx context.Context, seconds int, to io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Duration(seconds)*time.Second)
	defer cancel()
	return p.ask(ctx, fmt.Sprintf("/debug/pprof/profile?seconds=%d", seconds), to)
}
