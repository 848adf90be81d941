package webhooks_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/webhooks"
)

// Waits never shrink, are never shorter than the pause that the endpoint asked for, and end after ten attempts.
func TestWaits(t *testing.T) {
	t.Parallel()
	for i, wait := range waits {
		got, again := webhooks.NextWait(i+1, 0)
		require.True(t, again)
		require.Equal(t, wait, got)
	}
	rapid.Check(t, func(t *rapid.T) {
		attempts := rapid.IntRange(1, 12).Draw(t, "attempts")
		asked := time.Duration(rapid.Int64Range(0, int64(webhooks.MaxRetryAfter)).Draw(t, "asked"))
		wait, again := webhooks.NextWait(attempts, asked)
		require.Equal(t, attempts < 10, again)
		if again {
			require.GreaterOrEqual(t, wait, max(asked, waits[attempts-1]))
		}
	})
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "0": 0, "1": time.Second, " 120 ": 2 * time.Minute, "86400": 24 * time.Hour, "86401": 24 * time.Hour,
		"99999999999999999999999": 24 * time.Hour, "-5": 0, "1.5": 0, "soon": 0, "0x10": 0,
		now.Add(time.Hour).Format(http.TimeFormat):       time.Hour,
		now.Add(-time.Hour).Format(http.TimeFormat):      0,
		now.Add(100 * time.Hour).Format(http.TimeFormat): 24 * time.Hour,
	} {
		require.Equal(t, want, webhooks.ParseRetryAfter(value, now), "%q", value)
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{"", "5", "Mon, 23 Nov 2026 12:00:00 GMT", "-1", "9e9"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		got := webhooks.ParseRetryAfter(value, time.Now())
		require.GreaterOrEqual(t, got, time.Duration(0))
		require.LessOrEqual(t, got, webhooks.MaxRetryAfter)
	})
}

// An address that is accepted is one that net/http understands, over https unless it is the loopback.
func FuzzURL(f *testing.F) {
	for _, seed := range []string{"https://agent.example/x?y", "http://127.0.0.1/", "https://a@b/", "http://[::1]:8/", "https://\\evil/", "https:/x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		host, err := webhooks.CheckURL(address, true)
		if err != nil {
			return
		}
		parsed, err := url.Parse(address)
		require.NoError(t, err)
		require.Equal(t, host, parsed.Host)
		require.NotEmpty(t, parsed.Hostname())
		require.Nil(t, parsed.User)
		_, err = http.NewRequest(http.MethodPost, address, http.NoBody)
		require.NoError(t, err)
		if _, err := webhooks.CheckURL(address, false); err != nil {
			require.Equal(t, "http", parsed.Scheme)
		}
	})
}
