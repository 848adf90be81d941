package web_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/web"
)

// If the server fails, the default log has a line with the cause, also if the request's time was over. There is no line for a
// client that has left or a feature that is not set up: anyone could fill the log with such lines.
func TestServerErrorsAreLogged(t *testing.T) {
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
			want := map[fault.Code]string{
				fault.InternalError: "ERROR", fault.LedgerConflict: "ERROR", fault.ServiceUnavailable: "WARN", fault.RegistrationUnavailable: "WARN",
			}[code]
			if want == "" || want == "WARN" && ctx == left {
				require.Empty(t, log.String(), code)
				continue
			}
			require.Regexp(t, "level="+want+" .* request_id=one error=.*the cause", log.String())
		}
	}
}
