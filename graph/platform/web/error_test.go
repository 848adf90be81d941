package web_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/web"
)

// Every answer with a 5xx status has a line with its cause at a level that the default log shows, also if the client has left or
// the time of the request is over.
func TestEveryServerErrorIsLogged(t *testing.T) {
	t.Parallel()
	late, end := context.WithTimeout(t.Context(), -time.Second)
	defer end()
	left, leave := context.WithCancel(t.Context())
	leave()
	for _, code := range fault.Codes() {
		for _, ctx := range []context.Context{t.Context(), late, left} {
			var log bytes.Buffer
			known := fault.Wrap(code, errors.New("the cause"))
			web.LogFault(ctx, slog.New(slog.NewTextHandler(&log, nil)), known, known, "request_id", "one")
			if known.Status() < http.StatusInternalServerError && code != fault.LedgerConflict {
				require.Empty(t, log.String(), code)
				continue
			}
			require.Regexp(t, "level=(WARN|ERROR) .* request_id=one error=.*the cause", log.String())
			require.Equal(t, ctx == left, bytes.Contains(log.Bytes(), []byte("client_left=true")))
		}
	}
}
