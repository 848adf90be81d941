package web_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/web"
)

func TestPreconditions(t *testing.T) {
	t.Parallel()
	const tag = `"x"`
	modified := time.Date(2026, 11, 21, 2, 3, 4, 5000, time.UTC)
	at := func(offset time.Duration) string { return modified.Add(offset).Format(http.TimeFormat) }
	const passed, failed, known = http.StatusOK, http.StatusPreconditionFailed, http.StatusNotModified
	for _, c := range []struct {
		match, unmodified, none string
		want                    int
	}{
		{want: passed},
		{match: tag, want: passed},
		{match: "*", want: passed},
		{match: `"a", "x"`, want: passed},
		{match: `"a"`, want: failed},
		{match: `W/"x"`, want: failed}, // a strong comparison
		{match: `x`, want: failed},
		{unmodified: at(0), want: passed},
		{unmodified: at(time.Hour), want: passed},
		{unmodified: at(-time.Second), want: failed},
		{unmodified: "yesterday", want: passed}, // no date is ignored
		{match: tag, unmodified: at(-time.Hour), want: passed},
		{none: tag, want: known},
		{none: `W/"x"`, want: known},
		{none: `"a", "x"`, want: known},
		{none: "*", want: known},
		{none: `"a"`, want: passed},
		{match: `"a"`, none: tag, want: failed},
		{match: tag, none: tag, want: known},
		{unmodified: at(-time.Hour), none: tag, want: failed},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		for name, value := range map[string]string{"If-Match": c.match, "If-Unmodified-Since": c.unmodified, "If-None-Match": c.none} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		has, err := web.Precondition(r, tag, modified)
		got := passed
		switch {
		case err != nil:
			require.Equal(t, fault.PreconditionFailed, fault.From(err).Code)
			got = failed
		case has:
			got = known
		}
		require.Equal(t, c.want, got, "%+v", c)
	}
}
